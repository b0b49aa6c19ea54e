//! `MULTI` and its kin: commands that are executed together.
//!
//! Here is what begins and ends a transaction. Commands are queued, and executed, where all commands are: in
//! [`execute`](crate::execute).

use mayhap_commands::spec::Keys;
use mayhap_commands::{Outcome, Reply, Spec};

use super::Command;
use super::definition::{ALL_KEYS, Group, KEYS};
use crate::context::Context;
use crate::session::Due;

const TRANSACTIONS: Group = Group {
    name: "transactions",
    categories: &["transaction"],
    flags: &["noscript", "loading", "stale", "fast", "allow_busy"],
    keys: Keys::NONE,
};

const ABORTED: &str = "EXECABORT Transaction discarded because of previous errors.";

/// What may not wait for `EXEC`.
pub(crate) const NOT_IN_TRANSACTIONS: &str = "ERR Command not allowed inside a transaction";

pub(super) const COMMANDS: &[Command] = &[
    TRANSACTIONS.command(
        ("MULTI", 1),
        ("1.2.0", "Lets the commands that follow wait for EXEC.", "O(1)"),
        &[],
        multi,
    ),
    TRANSACTIONS.flags(&["noscript", "loading", "stale"]).command(
        ("EXEC", 1),
        (
            "1.2.0",
            "Executes the commands that were queued, with nobody else's in between. Tells their replies, or nothing if a \
             watched key has changed.",
            "Depends on the commands",
        ),
        &[],
        execute,
    ),
    TRANSACTIONS.command(("DISCARD", 1), ("2.0.0", "Forgets the commands that were queued.", "O(N) for N commands"), &[], discard),
    TRANSACTIONS.keys(ALL_KEYS).command(
        ("WATCH", -2),
        ("2.2.0", "Lets the next EXEC do nothing if one of the keys changes before it.", "O(1) for every key"),
        &[KEYS],
        watch,
    ),
    TRANSACTIONS.command(("UNWATCH", 1), ("2.2.0", "Watches no key any more.", "O(N) for N keys"), &[], unwatch),
];

/// Whether a command is executed at once even if others are queued.
pub(crate) fn is_never_queued(spec: &Spec) -> bool {
    matches!(spec.name, "MULTI" | "EXEC" | "DISCARD" | "WATCH" | "QUIT" | "RESET")
}

fn multi(context: &mut Context<'_>, _: &[&[u8]]) -> Outcome {
    if context.session.transaction.is_some() {
        return Reply::error("ERR MULTI calls can not be nested").into();
    }
    context.session.transaction = Some(Box::default());
    Reply::OK.into()
}

fn execute(context: &mut Context<'_>, _: &[&[u8]]) -> Outcome {
    match &context.session.transaction {
        None => Reply::error("ERR EXEC without MULTI").into(),
        Some(transaction) if transaction.is_spoiled() => {
            context.session.discard(&context.shared.keyspace);
            Reply::error(ABORTED).into()
        }
        Some(_) => {
            context.session.due = Some(Due::Execute);
            Reply::Null.into()
        }
    }
}

fn discard(context: &mut Context<'_>, _: &[&[u8]]) -> Outcome {
    if context.session.transaction.is_none() {
        return Reply::error("ERR DISCARD without MULTI").into();
    }
    context.session.discard(&context.shared.keyspace);
    Reply::OK.into()
}

fn watch(context: &mut Context<'_>, _: &[&[u8]]) -> Outcome {
    if context.session.transaction.is_some() {
        return Reply::error("ERR WATCH inside MULTI is not allowed").into();
    }
    context.session.due = Some(Due::Watch);
    Reply::OK.into()
}

fn unwatch(context: &mut Context<'_>, _: &[&[u8]]) -> Outcome {
    context.session.unwatch(&context.shared.keyspace);
    Reply::OK.into()
}
