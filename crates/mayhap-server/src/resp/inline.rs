//! Inline commands: a line of words, for people who type into a raw connection.

/// The words of a line, split as Redis does: at white space; `"…"` may have escapes, `'…'` only that of the quote.
/// Nothing if a quote doesn't end, or something follows it at once.
pub(super) fn split(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut rest = line.trim_ascii_start();
    while !rest.is_empty() {
        let (word, after) = word(rest)?;
        words.push(word);
        rest = after.trim_ascii_start();
    }
    Some(words)
}

fn word(mut rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut word = Vec::new();
    loop {
        match rest {
            [b'"', inside @ ..] => return double_quoted(word, inside),
            [b'\'', inside @ ..] => return single_quoted(word, inside),
            [byte, after @ ..] if !is_space(*byte) && *byte != 0 => {
                word.push(*byte);
                rest = after;
            }
            // A NUL ends the line, as it would a text of C.
            [0, ..] => return Some((word, &[])),
            _ => return Some((word, rest)),
        }
    }
}

fn double_quoted(mut word: Vec<u8>, mut rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    loop {
        match rest {
            [b'\\', b'x', high, low, after @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                word.push(hex(*high) << 4 | hex(*low));
                rest = after;
            }
            [b'\\', escaped, after @ ..] => {
                word.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 0x08,
                    b'a' => 0x07,
                    other => *other,
                });
                rest = after;
            }
            [b'"', after @ ..] => return ends_word(word, after),
            [byte, after @ ..] => {
                word.push(*byte);
                rest = after;
            }
            [] => return None,
        }
    }
}

fn single_quoted(mut word: Vec<u8>, mut rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    loop {
        match rest {
            [b'\\', b'\'', after @ ..] => {
                word.push(b'\'');
                rest = after;
            }
            [b'\'', after @ ..] => return ends_word(word, after),
            [byte, after @ ..] => {
                word.push(*byte);
                rest = after;
            }
            [] => return None,
        }
    }
}

/// After a quote that ends there must be a space, or nothing.
fn ends_word(word: Vec<u8>, after: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    after.first().is_none_or(|byte| is_space(*byte)).then_some((word, after))
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit - b'A' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Option<Vec<String>> {
        let text = |word: Vec<u8>| word.escape_ascii().to_string();
        split(line.as_bytes()).map(|words| words.into_iter().map(text).collect())
    }

    #[test]
    fn words_are_split_as_redis_does() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("  \t ", &[]),
            ("PING", &["PING"]),
            ("  SET  a\tb ", &["SET", "a", "b"]),
            (r#"a "b c" d"#, &["a", "b c", "d"]),
            (r#"a "" b"#, &["a", "", "b"]),
            (r#""\x41\x7a\xZZ""#, &["AzxZZ"]),
            (r#""\a\q\\\"""#, &["\\x07q\\\\\\\""]),
            (r"'it\'s' '\n'", &["it\\'s", "\\\\n"]),
            ("a\"b c\"", &["ab c"]),
        ];
        for (line, expected) in cases {
            assert_eq!(words(line).unwrap(), *expected, "{line}");
        }
        for line in ["\"a", "'a", "\"a\"b", "'a'b", "\"a\\\"", "\"\\"] {
            assert_eq!(words(line), None, "{line}");
        }
    }
}
