//! The window as a file of kind 9.
//!
//! Recipe number: that of the shape. Parameters: the blocks of a generation, the length of the window, its number of
//! slots g, and the keys that a slot was planned for. The count of insertions is there if the window goes by it, and
//! says so. g + 1 sections, newest first, whose parameters are the number of the slot and how many slots it is older
//! than the newest. (A slot before number 0 has the number 0, and no keys.)

use alloc::vec;
use alloc::vec::Vec;

use super::clock::{Clock, Hand};
use super::{Generation, WindowBloom};
#[cfg(feature = "std")]
use crate::bits::Mapped;
use crate::bits::{Blocks, Owned, View};
use crate::bloom::{BloomFilter, Shape};
use crate::codec::{FormatError, Header, Kind, Section};
use crate::file::{self, Stored, file_methods};
use crate::hash::KeyHasher;
use crate::plan::Plan;
use crate::sizing::window::{check_generations, generation_rate};

/// All of a window but its blocks and its hasher.
#[derive(Clone, Copy)]
pub(crate) struct Recipe {
    shape: Shape,
    clock: Clock,
    plan: Plan,
    slot_keys: u64,
}

impl Stored for WindowBloom {
    type Recipe = Recipe;
    const KIND: Kind = Kind::WINDOW_BLOOM;

    fn recipe(header: &Header) -> Result<(Recipe, Vec<Section>), FormatError> {
        let number = u64::from(header.recipe);
        let shape =
            Shape::from_id(header.recipe).ok_or(FormatError::Unknown { what: "shape of a block", number })?;
        let [blocks, window, slots, slot_keys] = header.parameters;
        if blocks == 0 || !blocks.is_multiple_of(shape.lines()) {
            return bad("blocks", blocks, "above 0, and even for the shape of two lines");
        }
        let plan = Plan { keys: header.planned_keys, rate: header.planned_rate };
        let count = match u32::try_from(slots) {
            Ok(count) if check_generations(count, window).is_ok() => count,
            _ => return bad("slots of a window", slots, "1 to 64, and no more than the window is long"),
        };
        let share = plan.keys.div_ceil(slots);
        if !(share..=plan.keys).contains(&slot_keys) {
            return bad(
                "keys of a slot",
                slot_keys,
                "from the even share of the planned keys to all of them",
            );
        }
        let slot = header.sections.first().map_or(0, |newest| newest.parameters[0]);
        let hand = header.inserted.map_or(Hand::Time, Hand::Insertions);
        let clock = Clock::new(window, count, hand);
        // The last instant that the clock may have seen.
        let latest = match hand {
            Hand::Time => u64::MAX,
            Hand::Insertions(inserted) => {
                if window != plan.keys || slot_keys != share {
                    return bad("window", window, "the planned keys, in even slots, if it goes by count");
                }
                if clock.slot_of(inserted.saturating_sub(1)) != slot {
                    return bad("slot number", slot, "that of the last insertion");
                }
                inserted
            }
        };
        if slot > clock.slot_of(latest) {
            return bad("slot number", slot, "that of an instant below 2^64");
        }
        let sections = (0..=slots).map(|age| generation(slot, age, blocks)).collect::<Result<_, _>>()?;
        Ok((Recipe { shape, clock: clock.at(slot), plan, slot_keys }, sections))
    }

    fn after_reading(&mut self) -> Result<(), FormatError> {
        for generation in &mut self.ring {
            generation.used = generation.filter.fill_ratio() > 0.0;
        }
        self.check_oldest()
    }
}

fn bad<T>(field: &'static str, value: u64, must_be: &'static str) -> Result<T, FormatError> {
    Err(FormatError::BadField { field, value, must_be })
}

/// The section of the generation that is `age` slots older than the newest one.
fn generation(slot: u64, age: u64, blocks: u64) -> Result<Section, FormatError> {
    Ok(Section { parameters: [slot.saturating_sub(age), age, 0, 0, 0], ..file::section(blocks)? })
}

impl<S: Blocks> WindowBloom<S> {
    /// Before instant 0 there were no keys.
    pub(super) fn check_oldest(&self) -> Result<(), FormatError> {
        let older = (0..).zip(self.by_age()).filter(|(age, _)| *age > self.clock.slot());
        for (age, generation) in older {
            if generation.used && generation.filter.fill_ratio() > 0.0 {
                return bad("generation", age, "empty, because it is older than instant 0");
            }
        }
        Ok(())
    }

    fn file_header(&self) -> Result<Header, FormatError> {
        let (newest, slots) = (self.newest(), u64::from(self.generations()));
        let section = |age| generation(self.clock.slot(), age, newest.block_count());
        Ok(Header {
            recipe: newest.shape().id(),
            parameters: [newest.block_count(), self.window(), slots, self.planned_slot_keys()],
            inserted: self.inserted(),
            sections: (0..=slots).map(section).collect::<Result<_, _>>()?,
            ..file::header(Kind::WINDOW_BLOOM, self.hasher(), self.plan.keys, self.plan.rate)?
        })
    }

    fn bodies(&self) -> impl Iterator<Item = &S> {
        self.by_age().map(|generation| generation.filter.storage())
    }

    #[allow(clippy::needless_pass_by_value)] // `file_methods!` hands over what it has.
    fn from_file(recipe: Recipe, hasher: KeyHasher, bodies: Vec<S>) -> Result<Self, FormatError> {
        let Recipe { shape, clock, plan, slot_keys } = recipe;
        let each = Plan { keys: slot_keys, rate: generation_rate(plan.rate, plan.keys, slot_keys) };
        let mut ring = vec![];
        // Newest first in the file, oldest first in the ring.
        for blocks in bodies.into_iter().rev() {
            let filter = BloomFilter::of_blocks(blocks, hasher.clone(), shape, each);
            ring.push(Generation { filter, used: true });
        }
        match ring.len().checked_sub(1) {
            Some(newest) => Ok(Self { ring, newest, clock, plan }),
            None => bad("sections", 0, "above 0"),
        }
    }
}

file_methods!(WindowBloom<Owned>, WindowBloom<S>, WindowBloom<View<'a>>, WindowBloom<Mapped>);
