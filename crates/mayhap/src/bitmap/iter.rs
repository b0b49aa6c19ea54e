//! The numbers of a bitmap in order, and those it lacks.

use core::fmt;
use core::ops::{RangeBounds, RangeInclusive};

use roaring::treemap;

use super::dense::Bits;
use super::range::inclusive;
use super::sparse::Runs;
use super::{Bitmap, Form};
use crate::bits::{Block, Blocks, Line};

impl<S: Blocks> Bitmap<S> {
    /// The numbers in the set, in ascending order.
    ///
    /// ```
    /// use mayhap::Bitmap;
    ///
    /// let numbers: Bitmap = [5, 3, 1 << 40, 3].into_iter().collect();
    /// assert!(numbers.iter().eq([3, 5, 1 << 40]));
    /// ```
    pub fn iter(&self) -> Iter<'_, S::Line> {
        self.range(..)
    }

    /// The numbers of a range that are in the set, in ascending order.
    pub fn range(&self, range: impl RangeBounds<u64>) -> Iter<'_, S::Line> {
        let Some((first, last)) = inclusive(range, self.largest) else { return Iter(Numbers::None) };
        Iter(match &self.form {
            Form::Dense(dense) => Numbers::Dense(dense.bits(first, last)),
            Form::Sparse(map) => {
                let mut numbers = map.iter();
                numbers.advance_to(first);
                Numbers::Sparse(numbers, last)
            }
        })
    }

    /// The numbers of a range that are **not** in the set, in ascending order: `missing(..).take(10)` are the ten
    /// smallest free ones.
    ///
    /// An open end is the end of the universe; numbers outside the universe are missing like any other. Words (or
    /// runs) without a gap are skipped as a whole.
    ///
    /// ```
    /// use mayhap::Bitmap;
    ///
    /// let mut numbers = Bitmap::dense(10)?;
    /// numbers.extend([0, 1, 2, 3, 5, 6, 8, 9]);
    /// assert!(numbers.missing(..).eq([4, 7]));
    /// assert!(numbers.missing(5..12).eq([7, 10, 11]));
    /// assert_eq!(numbers.missing(..).next(), Some(4), "the smallest free number");
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    pub fn missing(&self, range: impl RangeBounds<u64>) -> Missing<'_, S::Line> {
        let Some((first, last)) = inclusive(range, self.largest) else { return Missing(Gaps::None) };
        Missing(match &self.form {
            Form::Dense(dense) => {
                // Empty unless the range reaches behind the largest number.
                let outside = first.max(self.largest.saturating_add(1))..=last;
                let outside = if last > self.largest { outside } else { NO_NUMBERS };
                Gaps::Dense(dense.bits(first, last), outside)
            }
            Form::Sparse(map) => {
                let mut runs = Runs::new(map, first);
                Gaps::Sparse { run: runs.next(), runs, next: Some(first), last }
            }
        })
    }
}

#[allow(clippy::reversed_empty_ranges, reason = "it is to be empty")]
const NO_NUMBERS: RangeInclusive<u64> = 1..=0;

/// The numbers of a [`Bitmap`], in ascending order: see [`Bitmap::iter`].
#[derive(Clone)]
pub struct Iter<'a, L = Block>(Numbers<'a, L>);

#[derive(Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "it is made once for many numbers, and on the heap would cost more"
)]
enum Numbers<'a, L> {
    None,
    Dense(Bits<'a, L, false>),
    /// And the last number that is wanted.
    Sparse(treemap::Iter<'a>, u64),
}

impl<L: Line> Iterator for Iter<'_, L> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        match &mut self.0 {
            Numbers::None => None,
            Numbers::Dense(bits) => bits.next(),
            Numbers::Sparse(numbers, last) => match numbers.next() {
                Some(number) if number <= *last => Some(number),
                _ => {
                    self.0 = Numbers::None;
                    None
                }
            },
        }
    }
}

/// The numbers that a [`Bitmap`] lacks, in ascending order: see [`Bitmap::missing`].
#[derive(Clone)]
pub struct Missing<'a, L = Block>(Gaps<'a, L>);

#[derive(Clone)]
enum Gaps<'a, L> {
    None,
    /// Inside the universe, then outside.
    Dense(Bits<'a, L, true>, RangeInclusive<u64>),
    Sparse {
        /// The first run that doesn't end before `next`, unless it is yet to be looked for.
        run: Option<(u64, u64)>,
        runs: Runs<'a>,
        /// The next number to look at.
        next: Option<u64>,
        last: u64,
    },
}

impl<L: Line> Iterator for Missing<'_, L> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        match &mut self.0 {
            Gaps::None => None,
            Gaps::Dense(inside, outside) => inside.next().or_else(|| outside.next()),
            Gaps::Sparse { run, runs, next, last } => loop {
                let number = next.filter(|number| number <= last)?;
                match *run {
                    Some((_, end)) if end < number => *run = runs.next(),
                    Some((start, end)) if start <= number => *next = end.checked_add(1),
                    _ => {
                        *next = number.checked_add(1);
                        return Some(number);
                    }
                }
            },
        }
    }
}

impl<'a, S: Blocks> IntoIterator for &'a Bitmap<S> {
    type Item = u64;
    type IntoIter = Iter<'a, S::Line>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

macro_rules! debug_without_numbers {
    ($($type:ident),*) => {$(
        impl<L> fmt::Debug for $type<'_, L> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($type), "(..)"))
            }
        }
    )*};
}

debug_without_numbers!(Iter, Missing);
