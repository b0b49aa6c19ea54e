//! What a filter was made for, and has outgrown.

use mayhap::AnyFilter;
use mayhap::bits::Blocks;

use crate::numbers::{counted, format_rate, group_digits};

/// A filter has taken more keys than it was made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HoldsTooMuch {
    /// About.
    pub(crate) keys: u64,
    pub(crate) planned: u64,
    /// Of wrong "mayhaps", now.
    pub(crate) rate: f64,
    pub(crate) planned_rate: f64,
}

impl HoldsTooMuch {
    /// Nothing if all is well. Not [`AnyFilter::is_over_plan`] alone: that is also true of a dual filter from which too
    /// many were removed.
    pub(crate) fn of<S: Blocks>(filter: &AnyFilter<S>) -> Option<Self> {
        let (is_above, keys) = match filter {
            AnyFilter::Dual(dual) => (dual.added().is_over_plan(), dual.estimated_added()),
            _ => (filter.is_over_plan(), filter.estimated_len()),
        };
        is_above.then(|| Self {
            keys,
            planned: filter.planned_keys(),
            rate: filter.expected_rate(),
            planned_rate: filter.planned_rate(),
        })
    }

    /// Whether it errs more often than it promised. The smallest filters, and tables of fingerprints, have room for more
    /// keys than they were made for.
    pub(crate) fn errs_more(&self) -> bool {
        self.rate > self.planned_rate
    }
}

/// More keys were removed from a dual filter than it was made for, so that it hides more of its keys than it promised.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HidesTooMuch {
    removed: u64,
    planned: u64,
    rate: f64,
    planned_rate: f64,
}

impl HidesTooMuch {
    /// Nothing if all is well, or the kind hides nothing.
    pub(crate) fn of<S: Blocks>(filter: &AnyFilter<S>) -> Option<Self> {
        let AnyFilter::Dual(dual) = filter else { return None };
        let (rate, planned_rate) = (dual.hidden_rate(), dual.planned_hidden_rate());
        // The smallest sides have room for more than they were made for.
        (dual.removed().is_over_plan() && rate > planned_rate).then(|| Self {
            removed: dual.estimated_removed(),
            planned: dual.planned_removals(),
            rate,
            planned_rate,
        })
    }

    /// A sentence.
    pub(crate) fn text(&self) -> String {
        format!(
            "about {} removed from it, and it was made for {}: it answers \"no\" to {} of the keys that are there, \
             instead of {}; build a new one from the keys that are left, with --removals for as many as will go, or one \
             of --kind cuckoo, which hides none",
            counted(self.removed, "key") + if self.removed == 1 { " was" } else { " were" },
            group_digits(self.planned),
            format_rate(self.rate),
            format_rate(self.planned_rate),
        )
    }
}
