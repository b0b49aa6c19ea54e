//! Counters that have lost count.

use mayhap::AnyFilter;
use mayhap::counting::CounterWidth;

use crate::filter_file::FilterFile;
use crate::numbers::counted;

/// Those of a counting filter that have reached their maximum. Removes leave them there, so that keys on them stay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stuck {
    pub(crate) counters: u64,
    width: CounterWidth,
}

impl Stuck {
    /// Looks at all counters; nothing for kinds whose counters don't stick.
    pub(crate) fn of(filter: &FilterFile) -> Option<Self> {
        match filter {
            FilterFile::Filter(AnyFilter::Counting(filter)) => {
                Some(Self { counters: filter.stuck_counters(), width: filter.layout().width })
            }
            _ => None,
        }
    }

    /// What to say when keys were added, and so many counters were stuck before.
    pub(crate) fn warn_of_more_than(&self, before: u64) -> Option<String> {
        let more = self.counters.checked_sub(before).filter(|more| *more > 0)?;
        Some(format!(
            "{} came to {}, as far as {} bits count, and will stay there: keys that were added so \
             often can't be forgotten any more, and are found after every removal{}",
            counted(more, "counter"),
            self.width.max(),
            self.width.bits(),
            self.remedy()
        ))
    }

    /// What to say when keys were removed.
    pub(crate) fn warn_of_any(&self) -> Option<String> {
        (self.counters > 0).then(|| {
            format!(
                "{} lost count at {} and will stay there: a key whose counters all did is still found, \
                 however often it is removed{}",
                counted(self.counters, "counter"),
                self.width.max(),
                self.remedy()
            )
        })
    }

    fn remedy(&self) -> &'static str {
        match self.width {
            CounterWidth::Four => "; build one with --counter-bits 8 or 16 for keys that come so often",
            CounterWidth::Eight => "; build one with --counter-bits 16 for keys that come so often",
            _ => "",
        }
    }
}
