//! Exact sets of integers, one bit a number.
//!
//! # The idea
//!
//! Where keys are integers from a range, the number itself can be the position of its bit: no hash, no wrong answer,
//! and a key can be removed, counted and listed. The price is a bit for every number that *could* be there. The classic
//! exercise, "which of 0 to 10⁶ do not occur in this file?", takes 125 kB.
//!
//! ```text
//! dense, universe 1000:         number 70 = bit 6 of word 1
//!
//!   word 0                word 1                 …   word 15                 16 words: 2 cache lines, 128 bytes
//!   0 1 2 3 … 63          64 … 70 … 127              960 … 999 (then unused, 0)
//!
//! sparse, any u64:              number = 32 bits | 16 bits | 16 bits
//!                                        map       container  value
//!   map 0 ─┬─ container 0      [3, 17, 4711]              array: 2 bytes a number, up to 4096 numbers
//!          ├─ container 1      8192 bytes of bits         more than 4096 numbers
//!          └─ container 9      [0 to 65535]               runs: 4 bytes each, after optimize()
//!   map 7 ─── …
//! ```
//!
//! The sparse form is the crate `roaring`: numbers that share their upper 48 bits share a container, which is an array,
//! a bitmap or a list of runs, whichever is small. So it costs at most little more than the dense form, and about 2 to 4
//! bytes a number where fewer than one in sixteen occurs but dozens share a container. It shines where numbers come in
//! clusters and is poor for numbers drawn from all of 2⁶⁴, each of which needs a map and a container of its own (some 200
//! bytes).
//!
//! # The maths
//!
//! Dense, U numbers take U/8 bytes whatever is in it; so it is no larger than a filter of n keys with b bits each as soon as
//! U ≤ n · b: at 1 % from one number in ten on. [docs/maths.md] has that break-even and the bytes of the sparse form,
//! [`sizing::bitmap`] the formulas.
//!
//! # When to choose it, and which form
//!
//! Choose it where keys are integers and it is no larger than a filter, or where answers must be exact.
//!
//! | you know | choose | memory |
//! |---|---|---|
//! | numbers lie below U, and U/8 bytes are fine | [`Bitmap::dense`] | U/8 bytes, taken at once; every operation is one cache line |
//! | nothing, or numbers may be anything | [`Bitmap::sparse`] | grows with the numbers |
//! | numbers lie below U, about n of them | [`Bitmap::new`] | the smaller of the two by [`sizing::bitmap`] |
//!
//! Both answer the same, combine with one another, and are equal when they hold the same numbers.
//! [`optimize`](Bitmap::optimize) changes to the smaller form for what is really in it.
//!
//! # How it fails
//!
//! It never answers wrongly. A number outside the universe is refused with an error that names both. The dense form's
//! memory is checked before it is taken, and so is that of a whole range in the sparse form; else that one grows as `Vec`
//! and `BTreeMap` do, and like them ends the program when no memory is left.
//!
//! [docs/maths.md]: https://github.com/mayhap/mayhap/blob/main/docs/maths.md#22-when-an-exact-set-is-no-larger

mod combine;
mod convert;
mod dense;
mod file;
mod iter;
mod portable;
mod range;
mod sparse;
#[cfg(test)]
mod tests;

pub use iter::{Iter, Missing};

use core::fmt;
use core::ops::RangeBounds;

use roaring::RoaringTreemap;

use crate::bits::{Blocks, Owned};
use crate::error::Error;
use crate::filter::InsertError;
use crate::sizing::{self, SizingError};
use dense::Dense;
use range::inclusive;

/// An exact set of integers: a bit for each number of a universe, or a `roaring` bitmap of any.
///
/// In the words of bitmaps, [`insert`](Self::insert) is *set*, [`contains`](Self::contains) is *get*,
/// [`remove`](Self::remove) is *clear* of one bit, and [`len`](Self::len) is the *count* of bits that are set.
///
/// ```
/// use mayhap::Bitmap;
///
/// // Which of 0 to 999 999 do not occur?
/// let mut seen = Bitmap::dense(1_000_000)?; // 125 KB
/// for number in (0..1_000_000).filter(|number| number % 250_000 != 7) {
///     assert!(seen.insert(number)?, "new");
/// }
/// assert_eq!(seen.len(), 999_996);
/// assert!(seen.missing(..).eq([7, 250_007, 500_007, 750_007]));
///
/// assert!(seen.contains(8) && seen.remove(8) && !seen.contains(8));
/// assert!(seen.insert(1_000_000).is_err(), "outside its universe");
/// # Ok::<(), mayhap::Error>(())
/// ```
///
/// `S` is where the blocks of the dense form live: [`Owned`] by default, or a mapped file ([`MappedBitmap`]).
pub struct Bitmap<S = Owned> {
    form: Form<S>,
    /// The largest number it may hold.
    largest: u64,
    /// How many it holds.
    len: u64,
}

/// A [`Bitmap`] that is asked in its file, without being read.
#[cfg(feature = "std")]
pub type MappedBitmap = Bitmap<crate::bits::Mapped>;

enum Form<S> {
    Dense(Dense<S>),
    Sparse(RoaringTreemap),
}

impl Bitmap {
    /// An empty dense bitmap for the numbers below `universe`. Takes `universe`/8 bytes, rounded up to 64.
    ///
    /// ```
    /// use mayhap::Bitmap;
    ///
    /// let numbers = Bitmap::dense(1_000_000)?;
    /// assert_eq!(numbers.len_bytes(), 125_056);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When `universe` is 0, or the memory is above [`MAX_BYTES`](sizing::MAX_BYTES) or can't be had.
    pub fn dense(universe: u64) -> Result<Self, Error> {
        let largest = universe.checked_sub(1).ok_or(SizingError::EmptyUniverse)?;
        if sizing::bitmap::dense_bytes(universe) > sizing::MAX_BYTES {
            return Err(SizingError::UniverseTooLarge { universe, most: sizing::MAX_BYTES * 8 }.into());
        }
        Ok(Self { form: Form::Dense(Dense::zeroed(largest)?), largest, len: 0 })
    }

    /// An empty sparse bitmap for any numbers.
    ///
    /// ```
    /// use mayhap::Bitmap;
    ///
    /// let mut numbers = Bitmap::sparse();
    /// numbers.extend([0, 1 << 33, u64::MAX]);
    /// assert_eq!(numbers.len(), 3);
    /// assert_eq!(numbers.universe(), None);
    /// ```
    #[must_use]
    pub fn sparse() -> Self {
        Self { form: Form::Sparse(RoaringTreemap::new()), largest: u64::MAX, len: 0 }
    }

    /// An empty bitmap for about `expected` of the numbers below `universe`, in the form that will be smaller if they
    /// are spread evenly: see [`sizing::bitmap`].
    ///
    /// ```
    /// use mayhap::Bitmap;
    ///
    /// // A million of all 32-bit numbers: an array of 2 bytes each and its overhead beat 512 MiB of bits.
    /// assert!(!Bitmap::new(1 << 32, 1_000_000)?.is_dense());
    /// // A million of ten million: a bit for each is 1.25 MB.
    /// assert!(Bitmap::new(10_000_000, 1_000_000)?.is_dense());
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`dense`](Self::dense), when that is the smaller form.
    pub fn new(universe: u64, expected: u64) -> Result<Self, Error> {
        let largest = universe.checked_sub(1).ok_or(SizingError::EmptyUniverse)?;
        if sizing::bitmap::is_dense_smaller(universe, expected) {
            Self::dense(universe)
        } else {
            Ok(Self { largest, ..Self::sparse() })
        }
    }

    /// Adds a number (*sets* its bit). Tells whether it was new.
    ///
    /// # Errors
    /// When the number is outside the [`universe`](Self::universe); nothing is changed then.
    #[inline]
    pub fn insert(&mut self, number: u64) -> Result<bool, InsertError> {
        self.check(number)?;
        let new = match &mut self.form {
            Form::Dense(dense) => dense.insert(number),
            Form::Sparse(map) => map.insert(number),
        };
        self.len += u64::from(new);
        Ok(new)
    }

    /// Adds many numbers: `new[i]` tells whether `numbers[i]` was new.
    ///
    /// # Errors
    /// When one of the numbers is outside the [`universe`](Self::universe); nothing is changed then.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each(&mut self, numbers: &[u64], new: &mut [bool]) -> Result<(), InsertError> {
        assert_eq!(numbers.len(), new.len(), "one answer for each number");
        numbers.iter().try_for_each(|number| self.check(*number))?;
        for (number, new) in numbers.iter().zip(new) {
            *new = self.insert(*number)?;
        }
        Ok(())
    }

    /// Adds every number of a range, a whole word at a time. Tells how many were new.
    ///
    /// ```
    /// use mayhap::Bitmap;
    ///
    /// let mut numbers = Bitmap::dense(1000)?;
    /// assert_eq!(numbers.insert_range(10..20)?, 10);
    /// assert_eq!(numbers.insert_range(15..)?, 980);
    /// assert!(numbers.insert_range(0..=1000).is_err());
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the range reaches outside the [`universe`](Self::universe), of which an open end is the end; or when a sparse
    /// bitmap would need more memory for it than there is: some 72 bytes for every 65 536 numbers, so that ranges up to 2⁴⁰
    /// are a matter of a gigabyte, and `10..` to the end of all `u64` are none that any machine holds. Nothing is changed
    /// then.
    pub fn insert_range(&mut self, range: impl RangeBounds<u64>) -> Result<u64, InsertError> {
        let Some((first, last)) = inclusive(range, self.largest) else { return Ok(0) };
        self.check(last)?;
        let new = match &mut self.form {
            Form::Dense(dense) => dense.insert_range(first, last),
            Form::Sparse(map) => {
                sparse::check_memory(first, last)?;
                map.insert_range(first..=last)
            }
        };
        self.len += new;
        Ok(new)
    }

    /// Removes a number (*clears* its bit). Tells whether it was there.
    #[inline]
    pub fn remove(&mut self, number: u64) -> bool {
        let removed = match &mut self.form {
            Form::Dense(dense) => dense.remove(number),
            Form::Sparse(map) => map.remove(number),
        };
        self.len -= u64::from(removed);
        removed
    }

    /// Removes every number of a range. Tells how many were there.
    pub fn remove_range(&mut self, range: impl RangeBounds<u64>) -> u64 {
        let Some((first, last)) = inclusive(range, self.largest) else { return 0 };
        let removed = match &mut self.form {
            Form::Dense(dense) => dense.remove_range(first, last),
            Form::Sparse(map) => map.remove_range(first..=last),
        };
        self.len -= removed;
        removed
    }

    /// Removes all numbers. The dense form keeps its memory.
    pub fn clear(&mut self) {
        match &mut self.form {
            Form::Dense(dense) => dense.clear(),
            Form::Sparse(map) => map.clear(),
        }
        self.len = 0;
    }
}

impl<S: Blocks> Bitmap<S> {
    /// Whether the number is in the set (*gets* its bit). Outside the universe none is.
    #[inline]
    #[must_use]
    pub fn contains(&self, number: u64) -> bool {
        match &self.form {
            Form::Dense(dense) => dense.contains(number),
            Form::Sparse(map) => map.contains(number),
        }
    }

    /// Asks for many numbers at once: `found[i]` tells whether `numbers[i]` is in the set.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each(&self, numbers: &[u64], found: &mut [bool]) {
        assert_eq!(numbers.len(), found.len(), "one answer for each number");
        // No prefetch: the processor runs ahead by itself, because no question waits for the answer to another.
        for (number, found) in numbers.iter().zip(found) {
            *found = self.contains(*number);
        }
    }

    /// How many numbers are in the set: exact, and known without counting.
    ///
    /// Of a mapped file it is what the file says.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many numbers of a range are in the set, by counting bits: the dense form reads U/8 bytes for all of it.
    ///
    /// ```
    /// use mayhap::Bitmap;
    ///
    /// let primes: Bitmap = [2, 3, 5, 7, 11, 13].into_iter().collect();
    /// assert_eq!(primes.range_len(5..12), 3);
    /// assert_eq!(primes.rank(7), 4, "2, 3, 5, 7");
    /// ```
    #[must_use]
    pub fn range_len(&self, range: impl RangeBounds<u64>) -> u64 {
        let Some((first, last)) = inclusive(range, self.largest) else { return 0 };
        match &self.form {
            Form::Dense(dense) => dense.range_len(first, last),
            Form::Sparse(map) => map.range_cardinality(first..=last),
        }
    }

    /// How many numbers up to this one, itself included, are in the set.
    #[must_use]
    pub fn rank(&self, number: u64) -> u64 {
        self.range_len(..=number)
    }

    /// The universe: it holds numbers below this. Nothing, if it can hold every `u64`.
    #[must_use]
    pub fn universe(&self) -> Option<u64> {
        self.largest.checked_add(1)
    }

    /// Whether it is in the dense form.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        matches!(self.form, Form::Dense(_))
    }

    /// Bytes of memory. Of the sparse form about: without the spare room of its arrays, which can be as much again.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        match &self.form {
            Form::Dense(dense) => dense.len_bytes(),
            Form::Sparse(map) => sparse::len_bytes(map),
        }
    }

    /// Bytes of memory with that spare room, and about what an allocator adds to each array. After many numbers were
    /// removed it can be many times [`len_bytes`](Self::len_bytes): arrays keep their room. A clone has none to spare.
    ///
    /// ```
    /// use mayhap::Bitmap;
    ///
    /// let mut numbers = Bitmap::sparse();
    /// for number in 0..4_000 {
    ///     numbers.insert(number)?;
    /// }
    /// numbers.remove_range(100..);
    /// assert!(numbers.len_bytes() < 300 && numbers.memory_bytes() > 8_000);
    /// assert!(numbers.clone().memory_bytes() < 500);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        match &self.form {
            Form::Dense(dense) => dense.len_bytes(),
            Form::Sparse(map) => sparse::memory_bytes(map),
        }
    }

    /// An empty bitmap of the same form and universe.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn empty_like(&self) -> Result<Bitmap, Error> {
        let form = match &self.form {
            Form::Dense(_) => Form::Dense(Dense::zeroed(self.largest)?),
            Form::Sparse(_) => Form::Sparse(RoaringTreemap::new()),
        };
        Ok(Bitmap { form, largest: self.largest, len: 0 })
    }

    #[inline]
    fn check(&self, number: u64) -> Result<(), InsertError> {
        if number <= self.largest {
            Ok(())
        } else {
            Err(InsertError::OutOfUniverse { number, largest: self.largest })
        }
    }
}

impl<S: Blocks> fmt::Debug for Bitmap<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = if self.is_dense() { "dense" } else { "sparse" };
        f.debug_struct("Bitmap")
            .field("form", &format_args!("{form}"))
            .field("largest", &self.largest)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
