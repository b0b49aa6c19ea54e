//! The filter of what was seen: ever, or lately.

use std::path::Path;

use mayhap::bloom::{BloomBuilder, WindowBuilder};
use mayhap::codec::Existing;
use mayhap::hash::KeyHasher;
use mayhap::sizing::window::DEFAULT_GENERATIONS;
use mayhap::sizing::{BlockedPlan, SizingError, WindowPlan};
use mayhap::{BloomFilter, Digest, WindowBloom};

/// What was seen.
#[derive(Debug)]
pub(super) enum Seen {
    /// Since the beginning.
    Ever(BloomFilter),
    /// Within a window, in milliseconds.
    Lately(WindowBloom),
}

/// What is asked of a filter that is to be made.
#[derive(Debug)]
pub(super) struct Plan {
    /// Different lines, in all or in a window.
    pub(super) lines: Option<u64>,
    pub(super) rate: f64,
    /// If nobody says how many lines.
    pub(super) memory: u64,
    /// In milliseconds.
    pub(super) window: Option<u64>,
    pub(super) hasher: KeyHasher,
    /// More lines than this won't come, if that is known.
    pub(super) most_lines: Option<u64>,
}

enum Choice {
    Ever(BloomBuilder),
    Lately(WindowBuilder),
}

impl Plan {
    /// Makes the filter.
    pub(super) fn build(&self) -> Result<Seen, mayhap::Error> {
        Ok(match self.choose()? {
            Choice::Ever(builder) => Seen::Ever(builder.build()?),
            Choice::Lately(builder) => Seen::Lately(builder.build()?),
        })
    }

    /// The bytes it would take.
    pub(super) fn bytes(&self) -> Result<u64, SizingError> {
        Ok(match self.choose()? {
            Choice::Ever(builder) => builder.plan()?.bytes(),
            Choice::Lately(builder) => builder.plan()?.bytes(),
        })
    }

    /// As large as asked for, or smaller if the input can't fill it: a small file shouldn't wait for 64 MiB to be cleared.
    fn choose(&self) -> Result<Choice, SizingError> {
        match self.window {
            None => self.choose_ever().map(Choice::Ever),
            Some(window) => self.choose_lately(window).map(Choice::Lately),
        }
    }

    fn choose_ever(&self) -> Result<BloomBuilder, SizingError> {
        let builder = BloomFilter::builder().rate(self.rate).hasher(self.hasher.clone());
        if let Some(lines) = self.lines {
            return Ok(builder.keys(lines));
        }
        let fits = |lines: &u64| {
            BlockedPlan::for_rate(*lines, self.rate).is_ok_and(|plan| plan.bytes() < self.memory)
        };
        Ok(match self.most_lines.filter(fits) {
            Some(lines) => builder.keys(lines),
            None => builder.bytes(self.memory),
        })
    }

    fn choose_lately(&self, window: u64) -> Result<WindowBuilder, SizingError> {
        let builder = WindowBloom::builder().window(window).rate(self.rate).hasher(self.hasher.clone());
        if let Some(lines) = self.lines {
            return Ok(builder.keys(lines));
        }
        // The lines of a small file may all be of one time.
        let slots = DEFAULT_GENERATIONS;
        let burst = f64::from(slots);
        let fits = |lines: &u64| {
            WindowPlan::for_bursts(*lines, self.rate, slots, burst)
                .is_ok_and(|plan| plan.bytes() < self.memory)
        };
        if let Some(lines) = self.most_lines.filter(fits) {
            return Ok(builder.keys(lines).burst(burst));
        }
        let generations = u64::from(slots) + 1;
        let slot =
            BlockedPlan::for_capacity(self.memory / generations, self.rate / generations as f64)?.keys();
        Ok(builder.keys(slot.saturating_mul(u64::from(slots))))
    }
}

impl Seen {
    /// What hashes lines for it.
    pub(super) fn hasher(&self) -> &KeyHasher {
        match self {
            Self::Ever(filter) => filter.hasher(),
            Self::Lately(filter) => filter.hasher(),
        }
    }

    /// Sees lines at an instant, which matters to a window: `new[i]` tells whether `digests[i]` was new.
    pub(super) fn insert_hashes(&mut self, digests: &[Digest], now: u64, new: &mut [bool]) {
        match self {
            Self::Ever(filter) => filter.insert_hashes(digests, new),
            Self::Lately(filter) => filter.insert_hashes_at(digests, now, new),
        }
    }

    /// Lets the time pass up to an instant.
    pub(super) fn advance(&mut self, now: u64) {
        if let Self::Lately(filter) = self {
            filter.advance(now);
        }
    }

    /// Up to which instant all instants are the same to it.
    pub(super) fn slot_end(&self) -> u64 {
        match self {
            Self::Ever(_) => u64::MAX,
            Self::Lately(filter) => filter.slot_end(),
        }
    }

    /// The length of its window, in milliseconds.
    pub(super) fn window(&self) -> Option<u64> {
        match self {
            Self::Ever(_) => None,
            Self::Lately(filter) => Some(filter.window()),
        }
    }

    /// The lines it was made for, in all or in a window.
    pub(super) fn planned_lines(&self) -> u64 {
        match self {
            Self::Ever(filter) => filter.planned_keys(),
            Self::Lately(filter) => filter.planned_keys(),
        }
    }

    /// The rate it was made for.
    pub(super) fn planned_rate(&self) -> f64 {
        match self {
            Self::Ever(filter) => filter.planned_rate(),
            Self::Lately(filter) => filter.planned_rate(),
        }
    }

    /// The rate it has now, from the bits that are set.
    pub(super) fn expected_rate(&self) -> f64 {
        match self {
            Self::Ever(filter) => filter.expected_rate(),
            Self::Lately(filter) => filter.expected_rate(),
        }
    }

    /// Lines in it, about.
    pub(super) fn estimated_lines(&self) -> u64 {
        match self {
            Self::Ever(filter) => filter.estimated_len(),
            Self::Lately(filter) => filter.estimated_len(),
        }
    }

    /// Bytes of memory.
    pub(super) fn len_bytes(&self) -> u64 {
        match self {
            Self::Ever(filter) => filter.len_bytes(),
            Self::Lately(filter) => filter.len_bytes(),
        }
    }

    /// Saves it, in place of what is there.
    pub(super) fn save(&self, path: &Path) -> Result<(), mayhap::Error> {
        match self {
            Self::Ever(filter) => filter.save(path, Existing::Replace),
            Self::Lately(filter) => filter.save(path, Existing::Replace),
        }
    }
}
