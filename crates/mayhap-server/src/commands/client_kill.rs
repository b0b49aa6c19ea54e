//! `CLIENT KILL`, in its old form (an address) and its new one (filters).

use mayhap_commands::spec::{Argument, ArgumentKind};
use mayhap_commands::words::{integer, is};
use mayhap_commands::{Outcome, Reply};

use super::definition::{number, one_of, text, word};
use super::{client_list, errors};
use crate::clients::Client;
use crate::context::Context;

/// The old form.
pub(super) const ADDRESS: Argument = text("ip:port");

/// The new form.
pub(super) const FILTERS: Argument = Argument::new(
    "new-format",
    ArgumentKind::OneOf(&[
        number("client-id").token("ID").optional(),
        text("ip:port").token("ADDR").optional(),
        text("ip:port").token("LADDR").optional(),
        text("client-type").token("TYPE").optional(),
        text("username").token("USER").optional(),
        number("maxage").token("MAXAGE").optional(),
        one_of("skipme", &[word("yes", "YES"), word("no", "NO")]).token("SKIPME").optional(),
    ]),
)
.multiple();

pub(super) fn kill(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    match words {
        [_, _, address] => kill_address(context, address),
        [_, _, filters @ ..] => match Filters::new(filters) {
            Ok(filters) => kill_all(context, &filters),
            Err(error) => Reply::error_of(error),
        },
        _ => Reply::error(errors::SYNTAX),
    }
    .into()
}

fn kill_address(context: &Context<'_>, address: &[u8]) -> Reply {
    let all = context.shared.clients.all();
    match all.iter().find(|client| is_address(address, &client.peer)) {
        Some(client) => {
            context.shared.kill(client);
            Reply::OK
        }
        None => Reply::error("ERR No such client"),
    }
}

fn kill_all(context: &Context<'_>, filters: &Filters<'_>) -> Reply {
    let own = context.session.client.id;
    let mut killed = 0;
    for client in context.shared.clients.all() {
        if filters.want(&client, own, context.now) {
            context.shared.kill(&client);
            killed += 1;
        }
    }
    Reply::Integer(killed)
}

struct Filters<'w> {
    id: Option<u64>,
    peer: Option<&'w [u8]>,
    local: Option<&'w [u8]>,
    /// Seconds.
    age: Option<u64>,
    has_type: bool,
    skip_me: bool,
}

impl<'w> Filters<'w> {
    fn new(mut words: &[&'w [u8]]) -> Result<Self, String> {
        let mut filters =
            Self { id: None, peer: None, local: None, age: None, has_type: true, skip_me: true };
        while let [name, value, rest @ ..] = words {
            let positive =
                || integer(value).and_then(|value| u64::try_from(value).ok()).filter(|value| *value > 0);
            if is(name, "ID") {
                filters.id = Some(positive().ok_or("ERR client-id should be greater than 0")?);
            } else if is(name, "ADDR") {
                filters.peer = Some(value);
            } else if is(name, "LADDR") {
                filters.local = Some(value);
            } else if is(name, "MAXAGE") {
                filters.age = Some(positive().ok_or("ERR maxage is not an integer or out of range")?);
            } else if is(name, "TYPE") {
                filters.has_type = client_list::has_type(value)?;
            } else if is(name, "USER") {
                if *value != b"default" {
                    return Err(format!("ERR No such user '{}'", String::from_utf8_lossy(value)));
                }
            } else if is(name, "SKIPME") {
                filters.skip_me = match value {
                    value if is(value, "YES") => true,
                    value if is(value, "NO") => false,
                    _ => return Err(errors::SYNTAX.to_owned()),
                };
            } else {
                return Err(errors::SYNTAX.to_owned());
            }
            words = rest;
        }
        if words.is_empty() { Ok(filters) } else { Err(errors::SYNTAX.to_owned()) }
    }

    fn want(&self, client: &Client, own: u64, now: u64) -> bool {
        let age = now.saturating_sub(client.connected_at) / 1000;
        self.has_type
            && self.id.is_none_or(|id| client.id == id)
            && self.peer.is_none_or(|address| is_address(address, &client.peer))
            && self.local.is_none_or(|address| is_address(address, &client.local))
            && self.age.is_none_or(|least| age >= least)
            && !(self.skip_me && client.id == own)
    }
}

fn is_address(word: &[u8], address: &std::net::SocketAddr) -> bool {
    word == address.to_string().as_bytes()
}
