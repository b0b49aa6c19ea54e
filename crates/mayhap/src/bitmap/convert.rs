//! From one form to the other, from iterators, and copies.

use super::sparse;
use super::{Bitmap, Form};
use crate::bits::Blocks;
use crate::error::Error;
use crate::filter::InsertError;
use crate::sizing::bitmap::dense_bytes;

impl<S: Blocks> Bitmap<S> {
    /// A copy in the dense form, for numbers below `universe`.
    ///
    /// # Errors
    /// When one of the numbers isn't, and as [`dense`](Bitmap::dense).
    pub fn to_dense(&self, universe: u64) -> Result<Bitmap, Error> {
        let mut copy = Bitmap::dense(universe)?;
        copy.merge(self)?;
        Ok(copy)
    }

    /// A copy in the sparse form, for any numbers.
    #[must_use]
    pub fn to_sparse(&self) -> Bitmap {
        let map = match &self.form {
            Form::Dense(dense) => sparse::from_dense(dense),
            Form::Sparse(map) => map.clone(),
        };
        // Counted, because of a mapped bitmap only the header says how many there are.
        let len = map.len();
        Bitmap { form: Form::Sparse(map), largest: u64::MAX, len }
    }
}

impl Bitmap {
    /// Changes to the smaller form for the numbers that are in it now, and within the sparse form to the smallest
    /// containers without spare room. The numbers and the [`universe`](Self::universe) stay as they are. Takes room for
    /// a second copy meanwhile.
    ///
    /// Worth its time when a set is filled and will be asked or kept: runs of consecutive numbers shrink to 4 bytes
    /// each. A set without a universe stays sparse, because a dense one can't hold every `u64`; see
    /// [`to_dense`](Self::to_dense). Adding and removing single numbers in long runs makes many short ones, which take
    /// more than they saved until `optimize` is called again.
    ///
    /// ```
    /// use mayhap::Bitmap;
    ///
    /// let mut numbers = Bitmap::dense(1_000_000_000)?; // 125 MB
    /// numbers.insert_range(300_000_000..400_000_000)?;
    /// numbers.optimize()?;
    /// assert!(!numbers.is_dense() && numbers.len_bytes() < 100_000);
    /// assert_eq!(numbers.len(), 100_000_000);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the memory for the dense form can't be had; nothing is lost then.
    pub fn optimize(&mut self) -> Result<(), Error> {
        match &mut self.form {
            Form::Dense(dense) => {
                if sparse::len_bytes_of(dense) < dense.len_bytes() {
                    let mut map = sparse::from_dense(dense);
                    map.optimize();
                    self.form = Form::Sparse(map);
                }
            }
            Form::Sparse(map) => {
                map.optimize();
                // A copy has no spare room.
                *map = map.clone();
                let bytes = sparse::len_bytes(map);
                if let Some(universe) = self.universe().filter(|universe| dense_bytes(*universe) <= bytes) {
                    self.form = self.to_dense(universe)?.form;
                }
            }
        }
        Ok(())
    }
}

impl Clone for Bitmap {
    /// # Panics
    /// When the memory can't be had, as `Vec` does. [`empty_like`](Self::empty_like) and [`merge`](Self::merge) are
    /// the way that returns an error instead, for the dense form.
    fn clone(&self) -> Self {
        let form = match &self.form {
            Form::Dense(dense) => match dense.try_clone() {
                Ok(dense) => Form::Dense(dense),
                Err(error) => panic!("{error}"),
            },
            Form::Sparse(map) => Form::Sparse(map.clone()),
        };
        Self { form, largest: self.largest, len: self.len }
    }
}

/// Adds the numbers. There is no way to report a number outside the universe here, so that a bitmap which meets one
/// becomes sparse, without a universe, and holds it: nothing is lost. Where the universe is a rule,
/// [`insert`](Bitmap::insert) keeps it.
impl Extend<u64> for Bitmap {
    fn extend<I: IntoIterator<Item = u64>>(&mut self, numbers: I) {
        for number in numbers {
            if let Err(InsertError::OutOfUniverse { .. }) = self.insert(number) {
                *self = self.to_sparse();
                // Has room for every number.
                let _ = self.insert(number);
            }
        }
    }
}

/// A sparse bitmap of the numbers.
impl FromIterator<u64> for Bitmap {
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Self {
        let mut bitmap = Self::sparse();
        bitmap.extend(numbers);
        bitmap
    }
}
