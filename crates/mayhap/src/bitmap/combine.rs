//! Union, intersection, difference, and equality. The forms may differ.

use super::sparse::{self, Runs};
use super::{Bitmap, Form};
use crate::bits::Blocks;
use crate::filter::InsertError;

impl Bitmap {
    /// Adds every number of `other`: the union.
    ///
    /// ```
    /// use mayhap::Bitmap;
    ///
    /// let mut here = Bitmap::dense(100)?;
    /// here.extend([1, 2, 3]);
    /// let there: Bitmap = [3, 4].into_iter().collect();
    ///
    /// let mut union = here.clone();
    /// union.merge(&there)?;
    /// assert!(union.iter().eq([1, 2, 3, 4]));
    ///
    /// let mut intersection = here.clone();
    /// intersection.intersect(&there);
    /// assert!(intersection.iter().eq([3]));
    ///
    /// let mut difference = here;
    /// difference.subtract(&there);
    /// assert!(difference.iter().eq([1, 2]));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When `other` has a number outside the [`universe`](Self::universe) of this one; nothing is changed then.
    /// [`to_sparse`](Self::to_sparse) has room for all.
    #[doc(alias = "union")]
    pub fn merge<S: Blocks>(&mut self, other: &Bitmap<S>) -> Result<(), InsertError> {
        let outside = self.largest.checked_add(1).and_then(|outside| other.range(outside..).next());
        if let Some(number) = outside {
            return Err(InsertError::OutOfUniverse { number, largest: self.largest });
        }
        match (&mut self.form, &other.form) {
            (Form::Dense(ours), Form::Dense(theirs)) => self.len = ours.combine(theirs, |a, b| a | b),
            (Form::Dense(ours), Form::Sparse(theirs)) => {
                self.len +=
                    Runs::new(theirs, 0).map(|(first, last)| ours.insert_range(first, last)).sum::<u64>();
            }
            (Form::Sparse(ours), Form::Dense(theirs)) => *ours |= sparse::from_dense(theirs),
            (Form::Sparse(ours), Form::Sparse(theirs)) => *ours |= theirs,
        }
        self.recount();
        Ok(())
    }

    /// Keeps the numbers that are in `other`, too: the intersection.
    #[doc(alias = "intersection")]
    pub fn intersect<S: Blocks>(&mut self, other: &Bitmap<S>) {
        match (&mut self.form, &other.form) {
            (Form::Dense(ours), Form::Dense(theirs)) => self.len = ours.combine(theirs, |a, b| a & b),
            (Form::Dense(ours), Form::Sparse(theirs)) => {
                // Clears what lies between the other's runs.
                let mut next = Some(0);
                for (first, last) in Runs::new(theirs, 0) {
                    if let (Some(next), Some(before)) = (next, first.checked_sub(1))
                        && next <= before
                    {
                        self.len -= ours.remove_range(next, before);
                    }
                    next = last.checked_add(1);
                }
                if let Some(next) = next {
                    self.len -= ours.remove_range(next, u64::MAX);
                }
            }
            (Form::Sparse(ours), Form::Dense(theirs)) => *ours &= &sparse::from_dense(theirs),
            (Form::Sparse(ours), Form::Sparse(theirs)) => *ours &= theirs,
        }
        self.recount();
    }

    /// Removes every number of `other`: the difference.
    #[doc(alias = "difference")]
    pub fn subtract<S: Blocks>(&mut self, other: &Bitmap<S>) {
        match (&mut self.form, &other.form) {
            (Form::Dense(ours), Form::Dense(theirs)) => self.len = ours.combine(theirs, |a, b| a & !b),
            (Form::Dense(ours), Form::Sparse(theirs)) => {
                self.len -=
                    Runs::new(theirs, 0).map(|(first, last)| ours.remove_range(first, last)).sum::<u64>();
            }
            (Form::Sparse(ours), Form::Dense(theirs)) => *ours -= &sparse::from_dense(theirs),
            (Form::Sparse(ours), Form::Sparse(theirs)) => *ours -= theirs,
        }
        self.recount();
    }

    /// The sparse form's length, after its numbers were changed all at once.
    fn recount(&mut self) {
        if let Form::Sparse(map) = &self.form {
            self.len = map.len();
        }
    }
}

/// Equal when they hold the same numbers, whatever their forms and universes.
impl<S: Blocks, T: Blocks> PartialEq<Bitmap<T>> for Bitmap<S> {
    fn eq(&self, other: &Bitmap<T>) -> bool {
        self.len == other.len
            && match (&self.form, &other.form) {
                (Form::Dense(a), Form::Dense(b)) => {
                    let blocks = a.blocks().lines().len().max(b.blocks().lines().len());
                    (0..blocks).all(|index| a.block(index) == b.block(index))
                }
                (Form::Sparse(a), Form::Sparse(b)) => a == b,
                (Form::Sparse(a), Form::Dense(b)) => a.iter().all(|number| b.contains(number)),
                (Form::Dense(a), Form::Sparse(b)) => b.iter().all(|number| a.contains(number)),
            }
    }
}
