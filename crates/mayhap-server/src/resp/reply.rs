//! Replies, as RESP2 or RESP3.

use std::io::Write as _;

use mayhap_commands::Reply;

use crate::session::Protocol;

/// Writes a reply.
pub fn write_reply(reply: &Reply, protocol: Protocol, output: &mut Vec<u8>) {
    let is_resp3 = protocol == Protocol::Three;
    match reply {
        Reply::Simple(text) => line(b'+', text.as_bytes(), output),
        Reply::Error(text) => line(b'-', text.as_bytes(), output),
        Reply::Integer(number) => integer(b':', *number, output),
        Reply::Flag(flag) => write_flag(*flag, protocol, output),
        Reply::Flags(flags) => {
            header(b'*', flags.len(), output);
            for flag in flags {
                write_flag(*flag, protocol, output);
            }
        }
        Reply::Added(all) => {
            header(b'*', all.len(), output);
            for added in all {
                match added {
                    false if !is_resp3 => output.extend_from_slice(b":-1\r\n"),
                    _ => write_flag(*added, protocol, output),
                }
            }
        }
        Reply::Double(number) => double(*number, is_resp3, output),
        Reply::Bulk(bytes) => bulk(bytes, output),
        Reply::Null => output.extend_from_slice(if is_resp3 { b"_\r\n" } else { b"$-1\r\n" }),
        Reply::Array(items) => list(b'*', items, protocol, output),
        Reply::Set(items) => list(if is_resp3 { b'~' } else { b'*' }, items, protocol, output),
        Reply::Field(field) => {
            let (name, value) = &**field;
            if is_resp3 {
                header(b'%', 1, output);
                write_reply(name, protocol, output);
            } else {
                header(b'*', 1, output);
            }
            write_reply(value, protocol, output);
        }
        Reply::Map(pairs) => {
            if is_resp3 {
                header(b'%', pairs.len(), output);
            } else {
                header(b'*', pairs.len() * 2, output);
            }
            for (name, value) in pairs {
                write_reply(name, protocol, output);
                write_reply(value, protocol, output);
            }
        }
    }
}

/// Writes the beginning of an array, whose items follow.
pub(crate) fn write_array_header(len: usize, output: &mut Vec<u8>) {
    header(b'*', len, output);
}

/// Writes that there is no array.
pub(crate) fn write_null_array(protocol: Protocol, output: &mut Vec<u8>) {
    output.extend_from_slice(if protocol == Protocol::Three { b"_\r\n" } else { b"*-1\r\n" });
}

/// Writes an error that is about the protocol itself.
pub(crate) fn write_error(text: &dyn std::fmt::Display, output: &mut Vec<u8>) {
    let _ = write!(output, "-ERR {text}\r\n");
}

#[inline]
fn write_flag(flag: bool, protocol: Protocol, output: &mut Vec<u8>) {
    output.extend_from_slice(match (protocol, flag) {
        (Protocol::Two, true) => b":1\r\n",
        (Protocol::Two, false) => b":0\r\n",
        (Protocol::Three, true) => b"#t\r\n",
        (Protocol::Three, false) => b"#f\r\n",
    });
}

fn list(kind: u8, items: &[Reply], protocol: Protocol, output: &mut Vec<u8>) {
    header(kind, items.len(), output);
    for item in items {
        write_reply(item, protocol, output);
    }
}

fn bulk(bytes: &[u8], output: &mut Vec<u8>) {
    header(b'$', bytes.len(), output);
    output.extend_from_slice(bytes);
    output.extend_from_slice(b"\r\n");
}

/// As short as it can be read back; very small and very large ones with an exponent, as Redis writes them.
fn double(number: f64, is_resp3: bool, output: &mut Vec<u8>) {
    let text = match number.abs() {
        _ if number.is_nan() => "nan".to_owned(),
        size if size > 0.0 && size < 1e-4 || size >= 1e17 && size.is_finite() => format!("{number:e}"),
        _ => number.to_string(),
    };
    if is_resp3 { line(b',', text.as_bytes(), output) } else { bulk(text.as_bytes(), output) }
}

fn line(kind: u8, text: &[u8], output: &mut Vec<u8>) {
    output.reserve(text.len() + 3);
    output.push(kind);
    output.extend_from_slice(text);
    output.extend_from_slice(b"\r\n");
}

fn header(kind: u8, len: usize, output: &mut Vec<u8>) {
    integer(kind, i64::try_from(len).unwrap_or(i64::MAX), output);
}

/// A number on a line of its own. Written from its end into a small array: `write!` would take ten times as long.
fn integer(kind: u8, number: i64, output: &mut Vec<u8>) {
    // A kind, a sign, nineteen digits, a line end.
    let mut text = [0_u8; 24];
    let mut start = text.len() - 2;
    text[start..].copy_from_slice(b"\r\n");
    let mut rest = number.unsigned_abs();
    loop {
        start -= 1;
        // A digit.
        #[allow(clippy::cast_possible_truncation, reason = "below 10")]
        let digit = (rest % 10) as u8;
        text[start] = b'0' + digit;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        start -= 1;
        text[start] = b'-';
    }
    start -= 1;
    text[start] = kind;
    output.extend_from_slice(&text[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(reply: &Reply) -> [String; 2] {
        [Protocol::Two, Protocol::Three].map(|protocol| {
            let mut output = Vec::new();
            write_reply(reply, protocol, &mut output);
            String::from_utf8(output).unwrap()
        })
    }

    #[test]
    fn each_reply_in_both_protocols() {
        let same = |reply: Reply, text: &str| assert_eq!(written(&reply), [text, text]);
        same(Reply::OK, "+OK\r\n");
        same(Reply::error("ERR no"), "-ERR no\r\n");
        for number in [0, 1, -1, 10, 123_456_789, i64::MAX, i64::MIN] {
            same(Reply::Integer(number), &format!(":{number}\r\n"));
        }
        same(Reply::text("a\r\nb"), "$4\r\na\r\nb\r\n");
        same(Reply::Bulk(vec![]), "$0\r\n\r\n");
        same(Reply::Array(vec![Reply::Integer(1), Reply::OK]), "*2\r\n:1\r\n+OK\r\n");
        assert_eq!(written(&Reply::Flag(true)), [":1\r\n", "#t\r\n"]);
        assert_eq!(written(&Reply::Flags(vec![true, false])), ["*2\r\n:1\r\n:0\r\n", "*2\r\n#t\r\n#f\r\n"]);
        assert_eq!(written(&Reply::Null), ["$-1\r\n", "_\r\n"]);
        assert_eq!(written(&Reply::Double(0.5)), ["$3\r\n0.5\r\n", ",0.5\r\n"]);
        assert_eq!(written(&Reply::Double(f64::INFINITY))[1], ",inf\r\n");
        assert_eq!(written(&Reply::Double(0.0))[1], ",0\r\n");
        assert_eq!(written(&Reply::Double(1.25e-15))[1], ",1.25e-15\r\n");
        assert_eq!(written(&Reply::Double(-3e20))[1], ",-3e20\r\n");
        assert_eq!(written(&Reply::Double(f64::NAN))[1], ",nan\r\n");
        let map = Reply::Map(vec![(Reply::Simple("a"), Reply::Null)]);
        assert_eq!(written(&map), ["*2\r\n+a\r\n$-1\r\n", "%1\r\n+a\r\n_\r\n"]);
        let field = Reply::Field(Box::new((Reply::Simple("a"), Reply::Integer(2))));
        assert_eq!(written(&field), ["*1\r\n:2\r\n", "%1\r\n+a\r\n:2\r\n"]);
        assert_eq!(written(&Reply::Added(vec![true, false])), ["*2\r\n:1\r\n:-1\r\n", "*2\r\n#t\r\n#f\r\n"]);
        assert_eq!(written(&Reply::Set(vec![Reply::OK])), ["*1\r\n+OK\r\n", "~1\r\n+OK\r\n"]);
    }
}
