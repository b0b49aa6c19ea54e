//! A connection as `CLIENT LIST` and `CLIENT INFO` write it.

use std::fmt::Write as _;

use crate::clients::Client;
use crate::commands::table;

/// Everything there is to say about a connection, on a line. `command` is the one that runs, if it is this connection
/// that asks: what it noted is the one before.
///
/// Fields of Redis's that there is no figure for here are left out.
pub(super) fn line(client: &Client, now: u64, command: Option<&str>) -> String {
    let names = client.names();
    let last = client.last_command().and_then(|place| table().spec(place));
    let last = last.map_or_else(|| "NULL".to_owned(), |spec| spec.name.to_ascii_lowercase());
    let seconds_since = |moment: u64| now.saturating_sub(moment) / 1000;
    let (input, output, kept) = (client.input_bytes(), client.output_bytes(), client.transaction_bytes());
    let mut line =
        format!("id={} addr={} laddr={} name={}", client.id, client.peer, client.local, names.name);
    // A string takes everything that is written to it.
    let _ = writeln!(
        line,
        " age={} idle={} flags={} db=0 sub=0 psub=0 ssub=0 multi={} watch={} qbuf={input} multi-mem={kept} \
         obl={output} omem={output} tot-mem={} cmd={} user=default redir=-1 resp={} lib-name={} lib-ver={} tot-cmds={}",
        seconds_since(client.connected_at),
        seconds_since(client.last_active()),
        flags(client),
        client.queued(),
        client.watched(),
        input + output + kept,
        command.unwrap_or(&last),
        client.protocol_version(),
        names.library,
        names.library_version,
        client.commands(),
    );
    line
}

fn flags(client: &Client) -> String {
    let known = [("x", client.queued() >= 0), ("e", client.no_evict()), ("T", client.no_touch())];
    let flags: String = known.iter().filter(|(_, is_on)| *is_on).map(|(flag, _)| *flag).collect();
    if flags.is_empty() { "N".to_owned() } else { flags }
}

/// Whether connections are of this type: all are normal ones.
///
/// # Errors
/// When there is no such type.
pub(super) fn has_type(word: &[u8]) -> Result<bool, String> {
    match word.to_ascii_lowercase().as_slice() {
        b"normal" => Ok(true),
        b"master" | b"replica" | b"slave" | b"pubsub" => Ok(false),
        _ => Err(format!("ERR Unknown client type '{}'", String::from_utf8_lossy(word))),
    }
}
