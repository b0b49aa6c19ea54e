//! Patterns of names, as `KEYS`, `SCAN` and `CONFIG GET` take them.

/// Whether a text is one of those that a pattern means: `*` any bytes, `?` any one, `[a-z]` and `[^a-z]` one of some or
/// none of them, `\` before a byte that is meant as it is.
///
/// Only the last `*` is ever gone back to: what came before it has matched as early as it can, and matching it later
/// could not help. So the time is at most the product of the two lengths, whatever a client asks for.
pub(super) fn matches(pattern: &[u8], text: &[u8], case: Case) -> bool {
    let (mut pattern_at, mut text_at) = (0, 0);
    // Where to go on if what follows the last star doesn't match: after the star, and with one byte more for it.
    let mut last_star = None;
    while let Some(byte) = text.get(text_at) {
        let rest = pattern.get(pattern_at..).unwrap_or_default();
        if rest.first() == Some(&b'*') {
            pattern_at += 1;
            last_star = Some((pattern_at, text_at));
            continue;
        }
        match one(rest, *byte, case) {
            Some(len) => {
                pattern_at += len;
                text_at += 1;
            }
            None => match &mut last_star {
                Some((after_star, from)) => {
                    *from += 1;
                    (pattern_at, text_at) = (*after_star, *from);
                }
                None => return false,
            },
        }
    }
    pattern.get(pattern_at..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

/// Whether capitals matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Matters,
    Ignored,
}

/// How many bytes of the pattern mean this one byte; none if they don't.
fn one(pattern: &[u8], byte: u8, case: Case) -> Option<usize> {
    match pattern {
        [] => None,
        [b'?', ..] => Some(1),
        [b'[', set @ ..] => one_of(set, byte, case).map(|len| len + 1),
        [b'\\', literal, ..] => equal(*literal, byte, case).then_some(2),
        [literal, ..] => equal(*literal, byte, case).then_some(1),
    }
}

/// The same for what follows a `[`. A set that isn't closed ends with the pattern.
fn one_of(set: &[u8], byte: u8, case: Case) -> Option<usize> {
    let is_negated = set.first() == Some(&b'^');
    let mut at = usize::from(is_negated);
    let mut found = false;
    loop {
        match set.get(at..).unwrap_or_default() {
            [] => break,
            [b']', ..] => {
                at += 1;
                break;
            }
            [b'\\', literal, ..] => {
                found |= equal(*literal, byte, case);
                at += 2;
            }
            [from, b'-', to, ..] => {
                let (from, to, byte) = (case.of(*from), case.of(*to), case.of(byte));
                found |= (from.min(to)..=from.max(to)).contains(&byte);
                at += 3;
            }
            [literal, ..] => {
                found |= equal(*literal, byte, case);
                at += 1;
            }
        }
    }
    (found != is_negated).then_some(at)
}

fn equal(one: u8, other: u8, case: Case) -> bool {
    case.of(one) == case.of(other)
}

impl Case {
    fn of(self, byte: u8) -> u8 {
        if self == Self::Ignored { byte.to_ascii_lowercase() } else { byte }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_they_mean_in_redis() {
        // Each was asked of a Redis 7.0.15 by KEYS.
        let cases: &[(&str, &str, bool)] = &[
            ("*", "", true),
            ("*", "abc", true),
            ("", "", true),
            ("", "a", false),
            ("abc", "abc", true),
            ("abc", "ab", false),
            ("ab", "abc", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("a*c", "abbbc", true),
            ("a*c", "abbbd", false),
            ("a*b*c", "aXbYbZc", true),
            ("**a**", "bab", true),
            ("[abc]", "b", true),
            ("[^abc]", "b", false),
            ("[^abc]", "d", true),
            ("[a-c]x", "bx", true),
            ("[c-a]x", "bx", true),
            ("[a-c]x", "dx", false),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("[\\]]", "]", true),
            ("[abc", "c", true),
            ("[abc", "d", false),
            ("h[", "h", false),
            ("ABC", "abc", false),
            ("a\\", "a\\", true),
        ];
        for (pattern, text, expected) in cases {
            let got = matches(pattern.as_bytes(), text.as_bytes(), Case::Matters);
            assert_eq!(got, *expected, "{pattern:?} {text:?}");
        }
        assert!(matches(b"MAX*", b"maxmemory", Case::Ignored));
        assert!(matches(b"[M-N]ax*", b"maxmemory", Case::Ignored));
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_longer() {
        let (pattern, text) = (b"*a".repeat(200), [b'a'; 5000]);
        assert!(!matches(&[&pattern[..], b"b"].concat(), &text, Case::Matters));
    }
}
