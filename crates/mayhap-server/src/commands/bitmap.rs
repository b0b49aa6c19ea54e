//! `SETBIT` and its kin: bitmaps.
//!
//! In Redis these are strings. Here they are sparse sets of integers, which take memory for the bits that are set and
//! not for the zeros before them; and a length, because counting from the end and looking for a 0 depend on it.

use std::sync::{PoisonError, RwLock};

use mayhap::Bitmap;
use mayhap_commands::errors::WRONG_TYPE;
use mayhap_commands::spec::{Argument, ArgumentKind, Keys};
use mayhap_commands::words::integer;
use mayhap_commands::{Bits, Created, Outcome, Reply, Value};

use super::bit_range::{BitRange, Span};
use super::definition::{Group, KEY, number, one_of, word};
use super::{Command, errors};
use crate::context::Context;
use crate::keyspace::Entry;

const BITMAP: Group =
    Group { name: "bitmap", categories: &["bitmap"], flags: &["readonly"], keys: Keys::ONE };

/// Offsets are below this: the longest string of Redis has 512 MiB.
const MAX_BITS: u64 = 1 << 32;

/// A new bit may need a new container of the set, and more room in the list of containers.
const MOST_A_BIT_TAKES: u64 = 16 << 10;

/// The bytes of a set are counted after at most so many new bits: counting looks at all its containers.
const WEIGH_AFTER: u64 = 256;

/// The spare bytes that a set is left with, however few bits it has.
const ALWAYS_KEPT: u64 = 1 << 10;

const BAD_OFFSET: &str = "ERR bit offset is not an integer or out of range";
const BAD_VALUE: &str = "ERR bit is not an integer or out of range";

const OFFSET: Argument = number("offset");
const UNIT: Argument = one_of("unit", &[word("byte", "BYTE"), word("bit", "BIT")]).optional();
const UP_TO: Argument =
    Argument::new("end-unit-block", ArgumentKind::Block(&[number("end"), UNIT])).optional();

pub(super) const COMMANDS: &[Command] = &[
    BITMAP.flags(&["write", "denyoom"]).command(
        ("SETBIT", 4),
        ("2.2.0", "Sets a bit to 0 or 1. Tells what it was.", "O(log N) for N bits that are 1"),
        &[KEY, OFFSET, number("value")],
        set_bit,
    ),
    BITMAP.flags(&["readonly", "fast"]).command(
        ("GETBIT", 3),
        ("2.2.0", "Tells a bit.", "O(log N) for N bits that are 1"),
        &[KEY, OFFSET],
        get_bit,
    ),
    BITMAP.command(
        ("BITCOUNT", -2),
        ("2.6.0", "Counts the bits that are 1, of all or of a range.", "O(N) for N bits that are 1"),
        &[
            KEY,
            Argument::new("range", ArgumentKind::Block(&[number("start"), number("end"), UNIT])).optional(),
        ],
        bit_count,
    ),
    BITMAP.command(
        ("BITPOS", -3),
        ("2.8.7", "Finds the first bit that is 0, or 1.", "O(N) for N bits that are 1"),
        &[
            KEY,
            number("bit"),
            Argument::new("range", ArgumentKind::Block(&[number("start"), UP_TO])).optional(),
        ],
        bit_pos,
    ),
];

fn set_bit(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let [_, key, offset, value] = words else { return Reply::error(errors::SYNTAX).into() };
    let Some(offset) = offset_of(offset) else { return Reply::error(BAD_OFFSET).into() };
    let value = match integer(value) {
        Some(0) => false,
        Some(1) => true,
        _ => return Reply::error(BAD_VALUE).into(),
    };
    match set(context, key, offset, value) {
        Ok(outcome) => outcome,
        Err(error) => Reply::error(error).into(),
    }
}

fn set(context: &Context<'_>, key: &[u8], offset: u64, value: bool) -> Result<Outcome, &'static str> {
    let keyspace = &context.shared.keyspace;
    let has_room = || keyspace.room() >= MOST_A_BIT_TAKES;
    let (entry, is_new) = match keyspace.find(key, context.now) {
        Some(entry) => (entry, false),
        None if value && !has_room() => return Err(errors::OUT_OF_MEMORY),
        None => {
            let empty = Value::Bitmap(RwLock::new(Bits { set: Bitmap::sparse(), bytes: 0 }));
            match keyspace.create(key, empty, None, context.now).map_err(|_| errors::OUT_OF_MEMORY)? {
                Created::New(entry) => (entry, true),
                Created::Found(entry) => (entry, false),
            }
        }
    };
    context.touch(&entry);
    let mut bits = bits_of(&entry)?.write().unwrap_or_else(PoisonError::into_inner);
    let before = bits.set.contains(offset);
    if value && !before {
        if !is_new && !has_room() {
            return Err(errors::OUT_OF_MEMORY);
        }
        // Never outside: the set takes every number.
        bits.set.insert(offset).map_err(|_| BAD_OFFSET)?;
    } else if !value {
        bits.set.remove(offset);
    }
    let length = bits.bytes.max(offset / 8 + 1);
    let is_changed = before != value || length > bits.bytes;
    bits.bytes = length;
    let is_to_be_weighed = before != value && is_due(bits.set.len());
    if !value && before && bits.set.len().is_multiple_of(step(bits.set.len())) {
        give_back_room(&mut bits.set);
    }
    drop(bits);
    if is_changed {
        keyspace.note_change(key);
    }
    if is_to_be_weighed {
        keyspace.weigh(&entry);
    }
    let reply = Reply::Integer(before.into());
    Ok(if is_new { Outcome::created(reply) } else { Outcome::changed(reply, is_changed) })
}

/// Whether the bytes of a set that has come to so many bits are to be counted. Each of a few bits may have a container of
/// its own, and there may be many such sets: so those are counted more often, and never a quarter of their bits behind.
const fn is_due(bits: u64) -> bool {
    let step = step(bits);
    bits.is_multiple_of(if step < WEIGH_AFTER { step } else { WEIGH_AFTER })
}

/// An eighth of the bits, or up to a quarter.
const fn step(bits: u64) -> u64 {
    (bits / 8).next_power_of_two()
}

/// Lets go of the room that cleared bits leave behind, once it is more than twice what the others need. Setting bits one by
/// one leaves up to as much room as they need, so a set that is cleared and set in turns isn't copied each time. To be
/// called now and then: it looks at all containers.
fn give_back_room(set: &mut Bitmap) {
    if set.memory_bytes() > ALWAYS_KEPT + 3 * set.len_bytes() {
        // A copy has no spare room.
        *set = set.clone();
    }
}

fn get_bit(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let [_, key, offset] = words else { return Reply::error(errors::SYNTAX).into() };
    let Some(offset) = offset_of(offset) else { return Reply::error(BAD_OFFSET).into() };
    read(context, key, 0, |bits| bits.set.contains(offset).into())
}

fn bit_count(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let [_, key, range @ ..] = words else { return Reply::error(errors::SYNTAX).into() };
    let range = match range {
        [] => Ok(BitRange::ALL),
        // A start alone means nothing here.
        [_] => Err(errors::SYNTAX),
        range => BitRange::new(range),
    };
    match range {
        Ok(range) => read(context, key, 0, |bits| {
            let count =
                range.of_count(bits.bytes).map_or(0, |Span { first, last }| bits.set.range_len(first..=last));
            i64::try_from(count).unwrap_or(i64::MAX)
        }),
        Err(error) => Reply::error(error).into(),
    }
}

fn bit_pos(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let [_, key, bit, range @ ..] = words else { return Reply::error(errors::SYNTAX).into() };
    let bit = match integer(bit) {
        Some(0) => false,
        Some(1) => true,
        Some(_) => return Reply::error("ERR The bit argument must be 1 or 0.").into(),
        None => return Reply::error(errors::NOT_AN_INTEGER).into(),
    };
    match BitRange::new(range) {
        Ok(range) => read(context, key, if bit { -1 } else { 0 }, |bits| {
            let Some(span) = range.of(bits.bytes) else { return -1 };
            match first(&bits.set, span, bit) {
                Some(place) => i64::try_from(place).unwrap_or(i64::MAX),
                // After the end there are only zeros; but not for those who said where it is.
                None if !bit && !range.has_end() => i64::try_from(bits.bytes * 8).unwrap_or(i64::MAX),
                None => -1,
            }
        }),
        Err(error) => Reply::error(error).into(),
    }
}

/// The first place of a span where the bit is this one. By halves: counting a range looks at whole containers, and going
/// from bit to bit would look at each.
fn first(set: &Bitmap, span: Span, bit: bool) -> Option<u64> {
    let has = |first: u64, last: u64| {
        let ones = set.range_len(first..=last);
        if bit { ones > 0 } else { ones < last - first + 1 }
    };
    let Span { mut first, mut last } = span;
    if !has(first, last) {
        return None;
    }
    while first < last {
        let middle = first + (last - first) / 2;
        if has(first, middle) { last = middle } else { first = middle + 1 }
    }
    Some(first)
}

/// What a bitmap is asked, or the answer for none.
fn read(context: &Context<'_>, key: &[u8], none: i64, ask: impl FnOnce(&Bits) -> i64) -> Outcome {
    match context.read(key) {
        None => Reply::Integer(none),
        Some(entry) => {
            context.touch(&entry);
            match bits_of(&entry) {
                Ok(bits) => Reply::Integer(ask(&bits.read().unwrap_or_else(PoisonError::into_inner))),
                Err(error) => Reply::error(error),
            }
        }
    }
    .into()
}

fn bits_of(entry: &Entry) -> Result<&RwLock<Bits>, &'static str> {
    match &entry.value {
        Value::Bitmap(bits) => Ok(bits),
        _ => Err(WRONG_TYPE),
    }
}

fn offset_of(word: &[u8]) -> Option<u64> {
    integer(word).and_then(|offset| u64::try_from(offset).ok()).filter(|offset| *offset < MAX_BITS)
}
