//! From the keys to the filter.
//!
//! | kinds | with -n | without |
//! |---|---|---|
//! | bloom, classic | read once, all threads set bits | counted first; then from the digests if they were few, or read again |
//! | that remove or grow | digests put aside, each put in once | the same, counted on the way |
//! | window | read once, by one thread | |
//! | bitmap | read once, numbers put in by whoever has some | the same |
//!
//! Every way gives the same bits whatever the number of threads, and from a pipe as from a file.

use std::sync::{Mutex, PoisonError};

use mayhap::filter::Census;
use mayhap::{AnyFilter, Bitmap, Digest, InsertError};

use super::bits::{BitFilter, Setter};
use super::copies::{self, Table};
use super::plan::Load;
use super::recipe::{Recipe, Way};
use super::{Arguments, plan};
use crate::change::{Refused, explain_by_name, explain_insert};
use crate::digests::{Beyond, Count, Distinct, Spool, Tally, one_by_one, stream};
use crate::failure::Failure;
use crate::filter_file::{FilterFile, number};
use crate::keys::{Inputs, KeyReader};
use crate::numbers::counted;
use crate::progress::Progress;

/// Planned for more keys than this, a Bloom filter's own bits count its keys, and better than a count beside it would.
const COUNTED: u64 = 1 << 20;

/// What to build from what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) recipe: &'a Recipe,
    pub(super) inputs: &'a Inputs,
    pub(super) threads: usize,
}

/// A filter that all digests went into.
#[derive(Debug)]
struct Fitting {
    table: Table,
    filter: FilterFile,
    inserted: u64,
}

/// Why filling one came to an end.
#[derive(Debug)]
enum Stopped {
    Refused(Refused),
    Failed(Failure),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// A filter that holds all keys.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) filter: FilterFile,
    pub(super) tally: Tally,
    /// Different keys that were read.
    pub(super) count: Count,
    /// What its bits say; of a bitmap, which is never wrong, nothing.
    pub(super) census: Option<Census>,
}

impl Built {
    /// By their count, or if there is none, by the bits.
    fn new(filter: FilterFile, tally: Tally, count: Option<Count>) -> Self {
        let census = match &filter {
            FilterFile::Filter(filter) => Some(filter.census()),
            FilterFile::Bitmap(_) | FilterFile::Foreign(_) => None,
        };
        let count = count.unwrap_or_else(|| Count::of_bits(census.map_or(0, |census| census.estimated_len)));
        Self { filter, tally, count: count.limited_to(tally.lines), census }
    }
}

impl Job<'_> {
    pub(super) fn build(&self) -> Result<Built, Failure> {
        match self.recipe.kind.way() {
            Way::Shared if self.arguments.grow => self.count_and_set(),
            Way::Shared => match self.arguments.keys {
                Some(keys) => self.set_at_once(keys),
                None => self.count_and_set(),
            },
            Way::Once => self.insert_each_once(),
            Way::InOrder => self.insert_in_order(),
            Way::Numbers => self.insert_numbers(),
        }
    }

    /// Sets the bits of every key as it is read.
    fn set_at_once(&self, keys: u64) -> Result<Built, Failure> {
        let filter = BitFilter::new(self.recipe.make(keys)?, self.threads)?;
        if keys <= COUNTED {
            let (tally, count) = self.read_and_count(self.threads, |digests| {
                // A lock for each piece is nothing beside counting.
                filter.setter().set(digests);
                Ok(())
            })?;
            return Ok(Built::new(filter.into_file(), tally, Some(count)));
        }
        let tally = self.read_and_set(&filter)?;
        Ok(Built::new(filter.into_file(), tally, None))
    }

    /// Counts the keys, then makes the filter for them.
    fn count_and_set(&self) -> Result<Built, Failure> {
        let can_read_again = self.inputs.total_bytes().is_some();
        let spool =
            Mutex::new(Spool::new(if can_read_again { Beyond::Forget } else { self.beside_output() }));
        let (tally, count) = self.read_and_count(self.threads, |digests| lock(&spool).push(digests))?;
        let mut spool = spool.into_inner().unwrap_or_else(PoisonError::into_inner);

        let filter = BitFilter::new(self.recipe.make(self.planned(count).max(1))?, self.threads)?;
        if spool.is_complete() {
            spool.for_each(|digests| {
                filter.set_many(digests, self.threads);
                Ok::<(), Failure>(())
            })?;
        } else {
            let again = self.read_and_set(&filter)?;
            if again.lines != tally.lines {
                return Err(Failure::Message(format!(
                    "the input was changed while it was read: {}, and then {}; nothing was written, try again when it is \
                     at rest",
                    counted(tally.lines, "key"),
                    again.lines
                )));
            }
        }
        Ok(Built::new(filter.into_file(), tally, Some(count)))
    }

    /// Puts digests aside, and then each into the filter once.
    fn insert_each_once(&self) -> Result<Built, Failure> {
        let copies = self.arguments.copies;
        let spool = Mutex::new(Spool::new(self.beside_output()));
        // Copies go in as they come, so they come in one order.
        let threads = if copies { 1 } else { self.threads };
        let (tally, mut count) = self.read_and_count(threads, |digests| lock(&spool).push(digests))?;
        let mut spool = spool.into_inner().unwrap_or_else(PoisonError::into_inner);
        let load = Load::new(self.arguments, self.recipe, count, tally.lines);

        let refusal = plan::check_count(self.arguments, self.recipe, load, None).err();
        let planned = match refusal {
            None => self.planned(load.count()).max(1),
            // More room helps, unless there are more copies of a key than any has room for: so it is tried.
            Some(_) if copies => load.count().at_most(),
            Some(refusal) => return Err(refusal),
        };
        let fitting = self.first_that_fits(&mut spool, load, planned)?;
        if refusal.is_some() {
            plan::check_count(self.arguments, self.recipe, load.with_room_for(fitting.table.keys), None)?;
        }
        if self.is_bound() && fitting.table.keys > planned {
            return Err(plan::full_of_copies(load, planned, fitting.table.keys));
        }
        if !copies {
            count = Count::Exactly(fitting.inserted);
        }
        Ok(Built::new(fitting.filter, tally, Some(count)))
    }

    /// The filter for so many keys with all digests in it; where copies don't fit, the smallest in which they do.
    fn first_that_fits(&self, spool: &mut Spool, load: Load, planned: u64) -> Result<Fitting, Failure> {
        let tables = if load.is_with_copies() && !self.recipe.grows() {
            copies::tables(planned, self.is_bound(), load.count().at_most(), self.recipe.rate)
        } else {
            vec![Table::smallest(planned)]
        };
        let mut refused: Option<Refused> = None;
        let mut most_keys = planned;
        for table in tables {
            let most_copies = table.layout.map(|layout| 2 * u64::from(layout.entries_per_bucket()));
            if let Some(Refused::Key { error: InsertError::TooManyCopies { limit }, .. }) = refused
                && most_copies.is_none_or(|most| most <= limit)
            {
                continue;
            }
            let filter = match self.recipe.make_table(table) {
                // There may be no memory for what would be larger than was asked for.
                Err(_) if refused.is_some() => break,
                made => made?,
            };
            match self.fill(spool, filter) {
                Ok((filter, inserted)) => return Ok(Fitting { table, filter, inserted }),
                Err(Stopped::Refused(
                    why @ Refused::Key {
                        error: InsertError::Full | InsertError::TooManyCopies { .. }, ..
                    },
                )) => {
                    most_keys = most_keys.max(table.keys);
                    refused = Some(why);
                }
                Err(Stopped::Refused(why)) => return Err(explain_insert(&why)),
                Err(Stopped::Failed(failure)) => return Err(failure),
            }
        }
        Err(match refused {
            Some(Refused::Key { error: InsertError::Full, .. }) | None => {
                plan::full(self.arguments, load, planned, most_keys)
            }
            Some(why) => {
                let hash = |key: &[u8]| Ok(self.recipe.hasher.digest(key));
                explain_by_name(&why, self.inputs, &self.arguments.key_options, hash)
            }
        })
    }

    /// Puts all digests into the filter. How many there were.
    fn fill(&self, spool: &mut Spool, filter: AnyFilter) -> Result<(FilterFile, u64), Stopped> {
        let mut filter = FilterFile::Filter(filter);
        let mut inserted = 0;
        spool.give(self.arguments.copies, self.arguments.summary.quiet(), |digests| {
            inserted += digests.len() as u64;
            filter.insert_hashes(digests).map(drop).map_err(Stopped::Refused)
        })?;
        Ok((filter, inserted))
    }

    /// Lets the keys pass in order.
    fn insert_in_order(&self) -> Result<Built, Failure> {
        let filter = self.recipe.make(self.arguments.keys.unwrap_or(1))?;
        let filter = Mutex::new(FilterFile::Filter(filter));
        let insert = |digests: &[Digest]| {
            lock(&filter).insert_hashes(digests).map(drop).map_err(|error| explain_insert(&error))
        };
        let (tally, count) = self.read_and_count(1, insert)?;
        Ok(Built::new(filter.into_inner().unwrap_or_else(PoisonError::into_inner), tally, Some(count)))
    }

    /// Numbers into a bitmap, which is its own count.
    fn insert_numbers(&self) -> Result<Built, Failure> {
        let range = self.arguments.range.as_ref();
        let bitmap = match range {
            Some(range) => Bitmap::dense(range.end().saturating_add(1))?,
            None => Bitmap::sparse(),
        };
        let filter = Mutex::new(FilterFile::Bitmap(bitmap));
        let reader = KeyReader::new(self.inputs, &self.arguments.key_options)?;
        let progress = self.progress();
        let parse = |key: &[u8]| {
            let number = number(key)?;
            match range.filter(|range| !range.contains(&number)) {
                None => Ok(Digest::new(number)),
                Some(range) => Err(Failure::Message(format!(
                    "the number {number} is outside of --range, which goes from {} to {}; nothing was written",
                    range.start(),
                    range.end()
                ))),
            }
        };
        let insert = |(): &mut (), numbers: &[Digest]| {
            lock(&filter).insert_hashes(numbers).map(drop).map_err(|error| explain_insert(&error))
        };
        let (tally, _) = stream(reader, self.threads, &progress, one_by_one(parse), || (), insert)?;
        progress.finish();
        let mut filter = filter.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let (FilterFile::Bitmap(bitmap), None) = (&mut filter, range) {
            bitmap.optimize()?;
        }
        let count = Count::Exactly(filter.estimated_len().unwrap_or(0));
        Ok(Built::new(filter, tally, Some(count)))
    }

    /// Whether it is to be made for so many keys and no more.
    fn is_bound(&self) -> bool {
        self.arguments.keys.is_some() && !self.arguments.grow
    }

    /// The keys to make the filter for, when so many were counted.
    fn planned(&self, count: Count) -> u64 {
        match self.arguments.keys {
            Some(keys) if self.arguments.grow => keys.max(count.at_most()),
            Some(keys) => keys,
            None => count.at_most(),
        }
    }

    fn read_and_count(
        &self,
        threads: usize,
        take: impl Fn(&[Digest]) -> Result<(), Failure> + Sync,
    ) -> Result<(Tally, Count), Failure> {
        let (tally, parts) = self.read(threads, Distinct::new, |distinct, digests| {
            distinct.add(digests);
            take(digests)
        })?;
        let all = parts.into_iter().reduce(|mut all, part| {
            all.merge(part);
            all
        });
        Ok((tally, all.map_or(Count::Exactly(0), |all| all.count())))
    }

    fn read_and_set(&self, filter: &BitFilter) -> Result<Tally, Failure> {
        let set = |setter: &mut Setter<'_>, digests: &[Digest]| {
            setter.set(digests);
            Ok(())
        };
        Ok(self.read(self.threads, || filter.setter(), set)?.0)
    }

    fn read<T: Send>(
        &self,
        threads: usize,
        start: impl Fn() -> T + Sync,
        take: impl Fn(&mut T, &[Digest]) -> Result<(), Failure> + Sync,
    ) -> Result<(Tally, Vec<T>), Failure> {
        let reader = KeyReader::new(self.inputs, &self.arguments.key_options)?;
        let progress = self.progress();
        let hasher = &self.recipe.hasher;
        let hash = |keys: &[&[u8]], digests: &mut [Digest]| {
            hasher.digest_each(keys, digests);
            Ok(())
        };
        let read = stream(reader, threads, &progress, hash, start, take);
        progress.finish();
        read
    }

    fn progress(&self) -> Progress {
        Progress::beside_nothing(self.inputs.total_bytes(), !self.arguments.summary.quiet())
    }

    fn beside_output(&self) -> Beyond {
        Beyond::beside(&self.arguments.output.output)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
