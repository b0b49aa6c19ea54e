//! Keys that a change left alone: how many, and the first of them by name.

use crate::numbers::group_digits;

/// So many of them are named.
const NAMED: usize = 10;
/// And so much of each.
const NAMED_CHARACTERS: usize = 60;

/// Keys, as they stand in the input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named {
    count: u64,
    first: Vec<String>,
}

impl Named {
    /// One more.
    pub(crate) fn add(&mut self, record: &[u8]) {
        self.count += 1;
        if self.first.len() < NAMED {
            let record = String::from_utf8_lossy(record);
            self.first
                .push(record.trim_end_matches(['\n', '\r', '\0']).chars().take(NAMED_CHARACTERS).collect());
        }
    }

    /// Those of another part of the input.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.count += other.count;
        self.first.append(&mut other.first);
        self.first.truncate(NAMED);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The first of them.
    pub(crate) fn first(&self) -> &[String] {
        &self.first
    }

    /// A line for each that is named, and one for the rest.
    pub(crate) fn lines(&self, what: &str) -> String {
        let mut text = String::new();
        for name in &self.first {
            text += &format!("mayhap: {what}: {name}\n");
        }
        match self.count - self.first.len() as u64 {
            0 => text,
            more => text + &format!("mayhap: {what}: {} more\n", group_digits(more)),
        }
    }
}
