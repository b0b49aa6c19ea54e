//! "Seen in the last T": a filter that forgets by age.
//!
//! # The idea
//!
//! A Bloom filter can't forget one key, but it can be emptied. So time is cut into slots, each with a filter of its own,
//! a *generation*; a key goes into the generation of the current slot, and a question asks them all. When a slot ends,
//! the oldest generation is emptied and becomes the newest. A window of length T has g slots of T/g and g + 1
//! generations: the slot that has just begun and the one that is partly too old exist at once.
//!
//! ```text
//!   T = 24 hours, g = 4: slots of 6 hours, 5 generations in a ring
//!
//!        Mon 12h      18h      Tue 0h       6h       12h   now
//!   ────────┼──────────┼──────────┼──────────┼──────────┼───●──────┼────
//!           │ ▮▮▮▮▮▮▮▮ │ ▮▮▮▮▮▮▮▮ │ ▮▮▮▮▮▮▮▮ │ ▮▮▮▮▮▮▮▮ │ ▮▮▮·····      each a BloomFilter; one hash for all
//!           │  oldest  │                                │  newest: insertions go here
//!           └── asked until Tue 18h: then it is emptied and becomes the newest
//!
//!   seen Mon 17:59 ── asked until Tue 18h: remembered for 24 hours and a minute
//!   seen Mon 12:00 ── asked until Tue 18h: remembered for 30 hours, the longest there is
//! ```
//!
//! **A key is remembered for at least T after it was last seen, and forgotten by T + T/g.** Exactly so, in whole
//! numbers, whether or not g divides T:
//! slot s holds the instants t with ⌊t·g / T⌋ = s and is asked while the slot of now is at most s + g. If now − t ≤ T
//! then now·g/T ≤ t·g/T + g, so its slot is asked; if now − t ≥ T + T/g then now·g/T ≥ t·g/T + g + 1, so it isn't.
//!
//! # Time is yours
//!
//! The library has no clock. Give the time with every call, in any unit: seconds, blocks of a chain, log positions.
//! **Time never goes back: an instant before the newest one seen counts as the newest.** A question doesn't move the
//! clock, but goes by its own `now`: a generation that is too old by then isn't asked, though it wasn't emptied yet.
//! Calls without a time go by the newest instant that an insertion or [`advance`](WindowBloom::advance) has seen.
//!
//! A window *by count* ([`with_rate`](WindowBloom::with_rate), [`by_count`](WindowBloom::by_count)) needs no time at all:
//! every insertion is an instant. A key is remembered through the next T insertions, and forgotten after T + T/g of them.
//!
//! # The rate
//!
//! All generations together answer "mayhap" for at most the promised part of the keys that they haven't seen: each gets
//! a part p / (g + 1) of it (more if planned for bursts, see [`WindowPlan`](crate::sizing::WindowPlan)), and room for
//! the keys of one slot. A key that is seen in three slots takes room in three generations. [docs/maths.md] has the
//! derivation.
//!
//! For a hundred million keys in a window:
//!
//! | slots g | forgets by | lines asked for an absent key | bits per key at 10 % | 1 % | 0.1 % | 0.01 % |
//! |---|---|---|---|---|---|---|
//! | 1 | 2 T | 2 | 12.70 | 23.22 | 35.66 | 43.35 |
//! | 2 | 1.5 T | 3 | 10.99 | 18.89 | 28.72 | 33.91 |
//! | **4** (default) | 1.25 T | 5 | 10.84 | 17.42 | 26.19 | 29.68 |
//! | 8 | 1.125 T | 9 | 11.13 | 17.42 | 22.49 | 28.27 |
//! | 16 | 1.0625 T | 17 | 11.97 | 18.39 | 22.69 | 28.39 |
//!
//! (Two lines for each generation at 0.1 % from 6 slots on, and at 0.01 %.) Four is the least number
//! of slots within 2 % of the least memory at both 10 % and 1 %; at 0.1 % the lines of more slots save a seventh of it.
//!
//! # When to choose it, and how it fails
//!
//! For "seen in the last day": repeated requests, tokens that were used, alerts that were sent. A slot that gets more
//! keys than planned keeps working at a higher rate until it is forgotten; [`is_over_plan`](WindowBloom::is_over_plan)
//! and [`expected_rate`](WindowBloom::expected_rate) tell. If every key has its own deadline, this is the wrong filter.
//! The end of a slot empties one generation, at the speed of memory: less than 0.1 ms for each MiB, once in T/g. Nothing
//! is allocated.
//!
//! **A wrong instant is believed.** Time never goes back, so one insertion with milliseconds for seconds, or from a clock
//! that was years ahead, forgets everything at once, and from then on every true instant is before the newest one seen:
//! no slot ends any more, nothing is forgotten, and the newest generation fills up until it answers "mayhap" to
//! everything. [`slot_end`](WindowBloom::slot_end) shows it, files and merging keep it. The remedy is
//! [`clear`](WindowBloom::clear), which forgets the time too, or a new filter; to be safe, compare instants with the time
//! before you give them. A question with a wrong instant does no harm.
//!
//! [docs/maths.md]: https://github.com/mayhap/mayhap/blob/main/docs/maths.md#21-a-window

mod builder;
mod clock;
mod combine;
mod estimate;
mod file;
mod insert;
mod questions;
#[cfg(test)]
mod tests;

pub use builder::WindowBuilder;

use alloc::vec::Vec;
use core::fmt;

use super::BloomFilter;
use crate::bits::{Blocks, Owned};
use crate::error::Error;
use crate::hash::{Digest, Key, KeyHasher};
use crate::plan::Plan;
use clock::{Clock, Hand};

/// A filter of what was seen lately: in the last T of a time that you give, or among the last T insertions. [Its
/// page](self) tells how it works.
///
/// ```
/// use mayhap::WindowBloom;
///
/// // Up to a million requests in an hour; time in seconds.
/// let mut seen = WindowBloom::by_time(3_600, 4, 1_000_000, 0.001)?;
/// assert!(seen.insert_at("request 7731", 1_000), "new");
/// assert!(!seen.insert_at("request 7731", 2_000), "seen, and seen again now");
/// assert!(seen.contains_at("request 7731", 2_000 + 3_600), "remembered for an hour");
/// assert!(!seen.contains_at("request 7731", 2_000 + 3_600 + 900), "forgotten a slot later");
/// # Ok::<(), mayhap::Error>(())
/// ```
///
/// By count, without a time:
///
/// ```
/// use mayhap::WindowBloom;
///
/// let mut recent = WindowBloom::by_count(1_000, 4, 0.001)?;
/// recent.insert("first");
/// recent.extend(0..1_000u32);
/// assert!(recent.contains("first"), "a thousand came after it");
/// recent.extend(1_000..1_250u32);
/// assert!(!recent.contains("first"), "and 250 more");
/// # Ok::<(), mayhap::Error>(())
/// ```
pub struct WindowBloom<S = Owned> {
    /// One more than the window has slots, all alike, as a ring: backwards from `newest`, each is a slot older.
    ring: Vec<Generation<S>>,
    newest: usize,
    clock: Clock,
    plan: Plan,
}

/// A [`WindowBloom`] in a mapped file: asked without being read, as of any time after it was saved.
#[cfg(feature = "std")]
pub type MappedWindowBloom = WindowBloom<crate::bits::Mapped>;

/// The keys of one slot.
struct Generation<S> {
    filter: BloomFilter<S>,
    /// Whether there may be keys in it. What has none needn't be emptied, which would touch all of its memory.
    used: bool,
}

impl WindowBloom {
    /// A window of the last `keys` insertions, in the default number of slots, or in `keys` slots if that is less.
    ///
    /// # Errors
    /// As [`by_count`](Self::by_count).
    pub fn with_rate(keys: u64, rate: f64) -> Result<Self, Error> {
        Self::builder().keys(keys).rate(rate).build()
    }

    /// A window of the last `keys` insertions, in so many slots, that answers "mayhap" for at most `rate` of the keys
    /// that are not among them (or forgotten only a slot ago).
    ///
    /// # Errors
    /// When there are 0 slots, more than [`MAX_GENERATIONS`](crate::sizing::window::MAX_GENERATIONS) or more than
    /// `keys`; when `rate` isn't between 0 and 1, or the memory can't be had.
    pub fn by_count(keys: u64, generations: u32, rate: f64) -> Result<Self, Error> {
        Self::builder().keys(keys).generations(generations).rate(rate).build()
    }

    /// A window of length `window` (in your unit of time), in so many slots, that sees up to `keys` keys, evenly over
    /// the slots, and answers "mayhap" for at most `rate` of the keys that it hasn't seen.
    ///
    /// # Errors
    /// When there are 0 slots, more than [`MAX_GENERATIONS`](crate::sizing::window::MAX_GENERATIONS) or more than
    /// `window`; when `keys` is 0, `rate` isn't between 0 and 1, or the memory can't be had.
    pub fn by_time(window: u64, generations: u32, keys: u64, rate: f64) -> Result<Self, Error> {
        Self::builder().window(window).generations(generations).keys(keys).rate(rate).build()
    }

    /// Every choice there is: bursts, hash, seed or secret key, limits.
    pub fn builder() -> WindowBuilder {
        WindowBuilder::default()
    }
}

impl<S: Blocks> WindowBloom<S> {
    /// The digest of a key, for the `*_hash` methods of this filter and of others with an equal hasher.
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> Digest {
        self.hasher().digest(key)
    }

    /// What turns keys into digests.
    #[must_use]
    pub fn hasher(&self) -> &KeyHasher {
        self.newest().hasher()
    }

    /// The length of the window: in your unit of time, or in insertions.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.clock.window()
    }

    /// The slots of the window. There is one generation more.
    #[must_use]
    pub fn generations(&self) -> u32 {
        self.clock.slots()
    }

    /// Whether it goes by the number of insertions and not by time.
    #[must_use]
    pub fn is_by_count(&self) -> bool {
        self.clock.hand != Hand::Time
    }

    /// The last instant of the newest slot seen: an insertion after it empties the oldest generation.
    #[must_use]
    pub fn slot_end(&self) -> u64 {
        self.clock.last()
    }

    /// The filter of each generation, the newest first: one more than [`generations`](Self::generations), because the
    /// oldest is partly outside the window.
    pub fn generation_filters(&self) -> impl Iterator<Item = &BloomFilter<S>> {
        self.by_age().map(|generation| &generation.filter)
    }

    /// Bytes of memory the blocks of all generations take.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.ring.iter().map(|generation| generation.filter.len_bytes()).sum()
    }

    /// The generation of the current slot.
    #[inline]
    fn newest(&self) -> &BloomFilter<S> {
        &self.ring[self.newest].filter
    }

    /// All generations, newest first.
    #[inline]
    fn by_age(&self) -> impl Iterator<Item = &Generation<S>> {
        let (until, after) = self.ring.split_at(self.newest + 1);
        until.iter().rev().chain(after.iter().rev())
    }

    /// The filters that are not too old at `now`, newest first.
    #[inline]
    fn live_at(&self, now: u64) -> impl Iterator<Item = &BloomFilter<S>> {
        let ahead = match self.clock.hand {
            Hand::Time => self.clock.ahead(now),
            Hand::Insertions(_) => 0,
        };
        let live = (self.ring.len() as u64).saturating_sub(ahead);
        self.by_age().zip(0..live).map(|(generation, _)| &generation.filter)
    }

    /// An empty filter of the same window, size, hash, plan and time: one that can be merged with this. For one at instant
    /// 0, [clear](Self::clear) it.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn empty_like(&self) -> Result<WindowBloom, Error> {
        let generation = || Ok(Generation { filter: self.newest().empty_like()?, used: false });
        let ring = self.ring.iter().map(|_| generation()).collect::<Result<_, Error>>()?;
        Ok(WindowBloom { ring, newest: self.newest, clock: self.clock, plan: self.plan })
    }
}

impl Clone for WindowBloom {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        let clone = |generation: &Generation<Owned>| Generation {
            filter: generation.filter.clone(),
            used: generation.used,
        };
        Self {
            ring: self.ring.iter().map(clone).collect(),
            newest: self.newest,
            clock: self.clock,
            plan: self.plan,
        }
    }
}

/// Equal when they give the same answers, now and later: same hash, window and slot, and the same bits in it. Their
/// plans may differ.
impl<S: Blocks, T: Blocks> PartialEq<WindowBloom<T>> for WindowBloom<S> {
    fn eq(&self, other: &WindowBloom<T>) -> bool {
        self.clock == other.clock
            && self.ring.len() == other.ring.len()
            && self.by_age().zip(other.by_age()).all(|(ours, theirs)| ours.filter == theirs.filter)
    }
}

impl<S: Blocks> fmt::Debug for WindowBloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowBloom")
            .field("window", &self.window())
            .field("generations", &self.generations())
            .field("clock", &self.clock)
            .field("newest", self.newest())
            .field("planned_keys", &self.plan.keys)
            .field("planned_rate", &self.plan.rate)
            .finish_non_exhaustive()
    }
}
