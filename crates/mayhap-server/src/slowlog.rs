//! Commands that took long: what `SLOWLOG` shows.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Words beyond so many are only counted.
const WORDS: usize = 32;

/// Bytes of a word beyond so many are only counted.
const WORD_BYTES: usize = 128;

/// The last slow commands.
#[derive(Debug, Default)]
pub struct Slowlog {
    /// The newest first.
    entries: Mutex<VecDeque<SlowCommand>>,
    last_id: AtomicU64,
}

/// A command that took long.
#[derive(Clone, Debug)]
pub struct SlowCommand {
    /// Its number.
    pub id: u64,
    /// When it began: seconds since 1970.
    pub at: u64,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// Its words, cut where they are long.
    pub words: Vec<Vec<u8>>,
    /// Who sent it.
    pub peer: String,
    /// The name of who sent it.
    pub name: String,
}

impl Slowlog {
    /// Adds a command, and forgets the oldest beyond `most`.
    pub(crate) fn add(&self, command: SlowCommand, most: usize) {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed);
        let mut entries = self.lock();
        entries.push_front(SlowCommand { id, ..command });
        entries.truncate(most);
    }

    /// The newest `count`.
    #[must_use]
    pub fn newest(&self, count: usize) -> Vec<SlowCommand> {
        self.lock().iter().take(count).cloned().collect()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Forgets all.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<SlowCommand>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A command's words as the slow log keeps them: a few, and not all of each.
pub(crate) fn shortened(words: &[&[u8]]) -> Vec<Vec<u8>> {
    let shown = if words.len() > WORDS { WORDS - 1 } else { words.len() };
    let mut short: Vec<Vec<u8>> = words.iter().take(shown).map(|word| short_word(word)).collect();
    if words.len() > shown {
        short.push(format!("... ({} more arguments)", words.len() - shown).into_bytes());
    }
    short
}

fn short_word(word: &[u8]) -> Vec<u8> {
    match word.get(..WORD_BYTES) {
        Some(start) if word.len() > WORD_BYTES => {
            let mut short = start.to_vec();
            short.extend_from_slice(format!("... ({} more bytes)", word.len() - WORD_BYTES).as_bytes());
            short
        }
        _ => word.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_commands_are_cut() {
        let long = [b'x'; 200];
        let words = vec![&long[..]; 40];
        let short = shortened(&words);
        assert_eq!(short.len(), 32);
        assert!(short[0].ends_with(b"... (72 more bytes)"));
        assert_eq!(short[31], b"... (9 more arguments)");
        assert_eq!(shortened(&[b"PING"]), [b"PING"]);
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let log = Slowlog::default();
        let command =
            SlowCommand { id: 0, at: 1, micros: 2, words: vec![], peer: String::new(), name: String::new() };
        for _ in 0..5 {
            log.add(command.clone(), 3);
        }
        assert_eq!(log.newest(10).iter().map(|slow| slow.id).collect::<Vec<_>>(), [4, 3, 2]);
        log.clear();
        assert!(log.is_empty());
    }
}
