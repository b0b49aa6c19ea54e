//! What a connection keeps between `MULTI` and `EXEC`, and what it watches.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::keyspace::{Flag, Keyspace};

/// What a command, a word of it, and a watched key take beside their bytes: pointers to them, and what an allocator adds.
const COMMAND_BYTES: usize = 48;
const WORD_BYTES: usize = 40;
const WATCHED_BYTES: usize = 192;

/// Commands that wait for `EXEC`.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    commands: Vec<Words>,
    /// Commands that were answered with `QUEUED`: also after one was refused, when they are not kept.
    queued: usize,
    bytes: usize,
    /// A command was refused: there is nothing that could be executed as a whole.
    is_spoiled: bool,
}

/// A command of its own memory.
pub(crate) type Words = Box<[Box<[u8]>]>;

/// More than a connection may keep: the most bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge(pub(crate) usize);

impl Transaction {
    /// Keeps a command.
    ///
    /// # Errors
    /// When it would be too much. Then the transaction is spoiled.
    pub(crate) fn push(&mut self, words: &[&[u8]], limit: usize) -> Result<(), TooLarge> {
        let bytes: usize = words.iter().map(|word| word.len() + WORD_BYTES).sum();
        if self.bytes + bytes + COMMAND_BYTES > limit {
            self.spoil();
            return Err(TooLarge(limit));
        }
        self.queued += 1;
        if !self.is_spoiled {
            self.bytes += bytes + COMMAND_BYTES;
            self.commands.push(words.iter().map(|word| Box::from(*word)).collect());
        }
        Ok(())
    }

    /// It will not be executed, whatever follows.
    pub(crate) fn spoil(&mut self) {
        self.is_spoiled = true;
        self.commands = Vec::new();
        self.bytes = 0;
    }

    pub(crate) fn is_spoiled(&self) -> bool {
        self.is_spoiled
    }

    pub(crate) fn len(&self) -> usize {
        self.queued
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn into_commands(self) -> Vec<Words> {
        self.commands
    }
}

/// Keys whose changes make an `EXEC` do nothing.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// And whether they were there.
    keys: HashMap<Box<[u8]>, bool>,
    bytes: usize,
    changed: Flag,
}

impl Watch {
    /// Watches a key from now on, unless it does already. To be called while nobody else executes a command.
    ///
    /// # Errors
    /// When it would be too much.
    pub(crate) fn add(
        &mut self,
        keyspace: &Keyspace,
        key: &[u8],
        now: u64,
        limit: usize,
    ) -> Result<(), TooLarge> {
        if self.keys.contains_key(key) {
            return Ok(());
        }
        let bytes = self.bytes + key.len() + WATCHED_BYTES;
        if bytes > limit {
            return Err(TooLarge(limit));
        }
        self.bytes = bytes;
        // Finding it removes it if it has expired: what changes after this is a change.
        let is_there = keyspace.find(key, now).is_some();
        keyspace.watch(key, &self.changed);
        self.keys.insert(key.into(), is_there);
        Ok(())
    }

    /// Whether any of the keys has changed, or come to its end.
    pub(crate) fn has_changed(&self, keyspace: &Keyspace, now: u64) -> bool {
        AtomicBool::load(&self.changed, Ordering::Relaxed)
            || self.keys.iter().any(|(key, was_there)| keyspace.find(key, now).is_some() != *was_there)
    }

    /// Watches nothing any more.
    pub(crate) fn end(self, keyspace: &Keyspace) {
        for key in self.keys.keys() {
            keyspace.unwatch(key, &self.changed);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_counted_and_bounded() {
        let mut transaction = Transaction::default();
        let command: &[&[u8]] = &[b"BF.ADD", b"key", b"item"];
        assert_eq!(transaction.push(command, 1_000), Ok(()));
        assert_eq!(transaction.bytes(), 6 + 3 + 4 + 3 * WORD_BYTES + COMMAND_BYTES);
        assert_eq!(transaction.push(&[&[0; 1_000]], 1_000), Err(TooLarge(1_000)));
        assert_eq!((transaction.is_spoiled(), transaction.bytes()), (true, 0));
        // Others are answered as before, and not kept.
        assert_eq!(transaction.push(command, 1_000), Ok(()));
        assert_eq!((transaction.len(), transaction.bytes()), (2, 0));
        assert!(transaction.into_commands().is_empty());
    }

    #[test]
    fn keys_are_watched_once_and_bounded() {
        let keyspace = Keyspace::new(0);
        let mut watch = Watch::default();
        assert_eq!(watch.add(&keyspace, b"a", 0, 500), Ok(()));
        assert_eq!(watch.add(&keyspace, b"a", 0, 500), Ok(()));
        assert_eq!((watch.len(), watch.bytes()), (1, 1 + WATCHED_BYTES));
        assert_eq!(watch.add(&keyspace, &[b'b'; 400], 0, 500), Err(TooLarge(500)));
        assert!(!watch.has_changed(&keyspace, 0));
        keyspace.note_change(b"a");
        assert!(watch.has_changed(&keyspace, 0));
        watch.end(&keyspace);
    }
}
