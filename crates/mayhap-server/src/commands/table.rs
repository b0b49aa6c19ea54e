//! All commands, found by their names.

use std::sync::LazyLock;

use mayhap_commands::{Spec, spec};

use super::{Command, GROUPS};

/// A power of two, and several times the number of commands: most have a slot of their own.
const SLOTS: usize = 1024;

const FREE: u16 = u16::MAX;

/// The table of commands: those of filters, and the server's own.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Row>,
    /// Where the row is whose name has this hash, or the next place after it.
    slots: Box<[u16; SLOTS]>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) spec: &'static Spec,
    /// None: a command of filters, executed by [`mayhap_commands`].
    pub(crate) command: Option<&'static Command>,
    /// Whether it reads a key and changes nothing.
    pub(crate) is_read: bool,
}

/// The table.
pub fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(Table::new);
    &TABLE
}

impl Table {
    fn new() -> Self {
        let is_read = |spec: &Spec| spec.flags.contains(&"readonly");
        let filters = spec::all().map(|spec| Row { spec, command: None, is_read: is_read(spec) });
        let own = GROUPS.iter().copied().flatten().map(|command| Row {
            spec: &command.spec,
            command: Some(command),
            is_read: is_read(&command.spec),
        });
        let rows: Vec<Row> = filters.chain(own).collect();
        let mut slots = Box::new([FREE; SLOTS]);
        for (place, row) in rows.iter().enumerate() {
            let mut slot = hash(row.spec.name.as_bytes());
            while slots[slot] != FREE {
                slot = (slot + 1) % SLOTS;
            }
            slots[slot] = u16::try_from(place).unwrap_or(FREE);
        }
        Self { rows, slots }
    }

    /// The place of a command, by its name in capitals or not.
    #[must_use]
    #[inline]
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        let mut slot = hash(name);
        loop {
            let place = usize::from(self.slots[slot]);
            let row = self.rows.get(place)?;
            if row.spec.name.as_bytes().eq_ignore_ascii_case(name) {
                return Some(place);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// How many commands there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none; there are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The command at a place, if there are so many.
    #[must_use]
    pub fn spec(&self, place: usize) -> Option<&'static Spec> {
        self.rows.get(place).map(|row| row.spec)
    }

    /// All of them, in their places.
    pub fn specs(&self) -> impl Iterator<Item = &'static Spec> {
        self.rows.iter().map(|row| row.spec)
    }

    /// The subcommands of the command at a place.
    #[must_use]
    pub fn subcommands(&self, place: usize) -> &'static [Command] {
        self.rows.get(place).and_then(|row| row.command).map_or(&[], |command| command.subcommands)
    }

    pub(crate) fn row(&self, place: usize) -> Option<Row> {
        self.rows.get(place).copied()
    }
}

/// Of the name's length, its first eight bytes and its last: all of it, as names are not longer than sixteen. The bit
/// that small letters differ in is left out.
#[inline]
fn hash(name: &[u8]) -> usize {
    const CAPITALS: u64 = u64::from_ne_bytes([0xdf; 8]);
    let (first, last) = match (name.first_chunk(), name.last_chunk()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => match (name.first_chunk(), name.last_chunk()) {
            (Some(first), Some(last)) => {
                (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
            }
            _ => name.iter().fold((0, 0), |(all, _), byte| (all << 8 | u64::from(*byte), 0)),
        },
    };
    let mixed = ((first & CAPITALS) ^ (last & CAPITALS).rotate_left(29) ^ name.len() as u64)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    #[allow(clippy::cast_possible_truncation, reason = "ten bits")]
    let slot = (mixed >> (u64::BITS - SLOTS.trailing_zeros())) as usize;
    slot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_found_in_any_case() {
        let table = table();
        assert!(!table.is_empty());
        for (place, spec) in table.specs().enumerate() {
            assert_eq!(table.find(spec.name.as_bytes()), Some(place), "{} has a double", spec.name);
            assert_eq!(table.find(spec.name.to_ascii_lowercase().as_bytes()), Some(place));
            assert_eq!(spec.name, spec.name.to_ascii_uppercase());
        }
        for name in ["", "P", "PIN", "PINGG", "NO.SUCH.COMMAND.AT.ALL", "\0\0\0\0"] {
            assert_eq!(table.find(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn most_commands_have_a_slot_of_their_own() {
        let table = table();
        let alone = table
            .specs()
            .enumerate()
            .filter(|(place, spec)| usize::from(table.slots[hash(spec.name.as_bytes())]) == *place);
        assert!(alone.count() * 10 >= table.len() * 9);
    }

    #[test]
    fn subcommands_are_named_after_their_command() {
        for command in GROUPS.iter().copied().flatten() {
            for sub in command.subcommands {
                let (container, _) = sub.spec.name.split_once('|').unwrap();
                assert_eq!(container, command.spec.name);
            }
        }
    }
}
