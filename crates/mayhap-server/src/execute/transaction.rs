//! `MULTI` to `EXEC`: commands that wait, and are executed with nobody else's in between.

use mayhap_commands::{Reply, Spec};

use super::{Batch, Station};
use crate::commands::{NOT_IN_TRANSACTIONS, is_never_queued, remove_all, unknown_command};
use crate::resp::{write_array_header, write_null_array};
use crate::session::{Due, Replies};
use crate::transaction::{TooLarge, Words};

/// Whether a command may wait for `EXEC`.
const NO_MULTI: &str = "no_multi";

impl Batch<'_, '_> {
    /// Whether a command waits for `EXEC`, or is refused because it can't.
    pub(super) fn is_to_be_queued(&self, place: Option<usize>, words: &[&[u8]]) -> bool {
        let is_never = |spec: &Spec| is_never_queued(spec) && spec.takes(words.len());
        self.session.transaction.is_some()
            && !place.and_then(|place| self.table.spec(place)).is_some_and(is_never)
    }

    /// Keeps a command for `EXEC`. What is wrong with it is said now, and then none will be executed.
    pub(super) fn queue(&mut self, place: Option<usize>, words: &[&[u8]]) {
        let checked = self.check(place, words);
        let limit = self.shared.settings.max_request_bytes();
        let Some(transaction) = &mut self.session.transaction else { return };
        let reply = match checked {
            Ok(()) => transaction.push(words, limit).map_or_else(too_large, |()| Reply::Simple("QUEUED")),
            Err(error) => {
                transaction.spoil();
                error
            }
        };
        self.answer(Some(&reply));
        self.last_place = place;
        self.count_errors(u64::from(reply.is_error()));
    }

    /// Whether there is such a command, with so many words.
    fn check(&self, place: Option<usize>, words: &[&[u8]]) -> Result<(), Reply> {
        let Some(row) = place.and_then(|place| self.table.row(place)) else {
            return Err(unknown_command(words));
        };
        if !row.spec.takes(words.len()) {
            return Err(row.spec.wrong_arity());
        }
        let spec = match row.command {
            Some(command) => &command.resolve(words)?.spec,
            None => row.spec,
        };
        if spec.flags.contains(&NO_MULTI) {
            return Err(Reply::error(NOT_IN_TRANSACTIONS));
        }
        Ok(())
    }

    /// Does what has to be done while nobody else executes a command. The reply, unless it has been written.
    pub(super) fn do_alone(&mut self, due: &Due, words: &[&[u8]]) -> Option<Reply> {
        let shared = self.shared;
        // Not inside: then this is part of an `EXEC`, which is alone already.
        let alone = self.inside.take().map(|inside| {
            drop(inside);
            let alone = shared.gate.enter_alone();
            self.now = shared.now();
            alone
        });
        let reply = match due {
            Due::Flush => Some(remove_all(shared)),
            Due::Watch => Some(self.watch(words.get(1..).unwrap_or_default())),
            Due::Execute => {
                self.execute_queued();
                None
            }
        };
        if alone.is_some() {
            drop(alone);
            self.inside = shared.gate.enter(self.worker);
        }
        reply
    }

    fn watch(&mut self, keys: &[&[u8]]) -> Reply {
        let (keyspace, limit) = (&self.shared.keyspace, self.shared.settings.max_request_bytes());
        let watch = self.session.watch.get_or_insert_default();
        let all = keys.iter().try_for_each(|key| watch.add(keyspace, key, self.now, limit));
        all.map_or_else(too_large, |()| Reply::OK)
    }

    fn execute_queued(&mut self) {
        let Some(transaction) = self.session.transaction.take() else { return };
        let keyspace = &self.shared.keyspace;
        let has_changed =
            self.session.watch.as_ref().is_some_and(|watch| watch.has_changed(keyspace, self.now));
        self.session.unwatch(keyspace);
        let is_answered = self.session.replies == Replies::On;
        if has_changed {
            if is_answered {
                write_null_array(self.session.protocol, self.output);
            }
            return;
        }
        let commands = transaction.into_commands();
        if is_answered {
            write_array_header(commands.len(), self.output);
            self.execute_each(&commands);
        } else {
            // Nor is any of them answered: they are part of a reply that isn't wanted.
            let before = std::mem::replace(&mut self.session.replies, Replies::Off);
            self.execute_each(&commands);
            self.session.replies = before;
        }
    }

    /// Executes commands as a batch of their own.
    fn execute_each(&mut self, commands: &[Words]) {
        let most = self.shared.settings.client_output_limit();
        let Self { shared, table, worker, cache, now, .. } = *self;
        let station = Station { shared, table, worker, cache, now };
        let mut batch = Batch::new(station, None, self.session, self.replies, self.output);
        let mut words = Vec::new();
        for command in commands {
            words.clear();
            words.extend(command.iter().map(|word| &**word));
            batch.take(&words);
            // It can't be sent in between, so more than may wait is lost. The commands are executed all the same.
            if batch.output.len() > most {
                batch.output.clear();
                batch.session.has_lost_replies = true;
            }
        }
        batch.finish();
        if self.session.has_lost_replies {
            // The rest of a reply without its beginning is no reply.
            self.output.clear();
        }
    }
}

fn too_large(TooLarge(limit): TooLarge) -> Reply {
    Reply::error_of(format!(
        "ERR a transaction may take {limit} bytes, and this is more: max-request-bytes is the limit"
    ))
}
