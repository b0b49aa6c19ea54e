//! Replies as they stand on the wire. The server has its own writer; here the commands are tested without it.

use mayhap_commands::Reply;

/// Writes a reply in RESP3, or in RESP2.
pub(crate) fn write(reply: &Reply, resp3: bool, out: &mut Vec<u8>) {
    let line = |text: String, out: &mut Vec<u8>| out.extend(text.bytes().chain(*b"\r\n"));
    match reply {
        Reply::Simple(text) => line(format!("+{text}"), out),
        Reply::Error(text) => line(format!("-{text}"), out),
        Reply::Integer(number) => line(format!(":{number}"), out),
        Reply::Flag(flag) if resp3 => line(format!("#{}", if *flag { 't' } else { 'f' }), out),
        Reply::Flag(flag) => line(format!(":{}", i32::from(*flag)), out),
        Reply::Flags(flags) => {
            line(format!("*{}", flags.len()), out);
            flags.iter().for_each(|flag| write(&Reply::Flag(*flag), resp3, out));
        }
        Reply::Added(flags) => {
            line(format!("*{}", flags.len()), out);
            for flag in flags {
                let refused = if resp3 { Reply::Flag(false) } else { Reply::Integer(-1) };
                write(if *flag { &Reply::Flag(true) } else { &refused }, resp3, out);
            }
        }
        Reply::Double(number) if resp3 => line(format!(",{number}"), out),
        Reply::Double(number) => write(&Reply::text(&number.to_string()), resp3, out),
        Reply::Bulk(bytes) => {
            line(format!("${}", bytes.len()), out);
            out.extend(bytes.iter().chain(b"\r\n"));
        }
        Reply::Null => line(if resp3 { "_" } else { "$-1" }.to_owned(), out),
        Reply::Array(items) => {
            line(format!("*{}", items.len()), out);
            items.iter().for_each(|item| write(item, resp3, out));
        }
        Reply::Set(items) => {
            line(format!("{}{}", if resp3 { '~' } else { '*' }, items.len()), out);
            items.iter().for_each(|item| write(item, resp3, out));
        }
        Reply::Map(pairs) => {
            line(if resp3 { format!("%{}", pairs.len()) } else { format!("*{}", pairs.len() * 2) }, out);
            for (name, value) in pairs {
                write(name, resp3, out);
                write(value, resp3, out);
            }
        }
        Reply::Field(field) => {
            line(if resp3 { "%1" } else { "*1" }.to_owned(), out);
            if resp3 {
                write(&field.0, resp3, out);
            }
            write(&field.1, resp3, out);
        }
    }
}
