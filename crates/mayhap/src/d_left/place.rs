//! From a digest to two buckets and a fingerprint.
//!
//! **The recipe** (frozen; `docs/formats.md` has it for other languages). With B buckets in each of two subtables and
//! R fingerprints, a digest is read as a fraction of 2⁶⁴ and written out in the mixed base (B, R): the first digit is
//! the bucket of the left subtable, the second the number of the fingerprint. So the pair is ⌊digest · B · R / 2⁶⁴⌋,
//! without a division. The bucket of the right subtable is the left one, moved on by a hash of the fingerprint:
//!
//! ```text
//!   left  = ⌊digest · B / 2⁶⁴⌋                 number = ⌊(digest · B mod 2⁶⁴) · R / 2⁶⁴⌋
//!   right = (left + offset(number)) mod B      offset(number) = ⌊mixed(number) · B / 2⁶⁴⌋
//! ```
//!
//! **Why deletion is unambiguous.** For a fixed number, left → right is a rotation of the B buckets; so
//! (left, number) → (right, number) is a permutation of the pairs. Two keys whose pairs are equal in one subtable are
//! equal in the other too: they have the same two buckets and the same fingerprint, and share their cells wherever
//! these are. Two keys whose pairs differ have no cell in common anywhere. Had the two buckets been drawn
//! independently, two keys could meet in one subtable only, and removing the one could take the other's cell.
//!
//! The same rotation, read backwards, tells of any cell, without its key, which its other bucket is.

use super::cell::{Cell, Fingerprint};
use crate::bloom::kernel::fast_range;

/// The size of a filter, and the shape of its cells: all that a digest needs to find its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) cell: Cell,
    /// Buckets in one subtable; at least 1. The lines of the left subtable come first.
    pub(super) buckets: usize,
}

/// Where a key's cells may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The line of the left subtable, and that of the right.
    pub(super) lines: [usize; 2],
    pub(super) fingerprint: Fingerprint,
}

impl Geometry {
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the two halves of the product are meant")]
    pub(super) fn place(&self, digest: u64) -> Place {
        let product = u128::from(digest) * self.buckets as u128;
        let (left, fraction) = ((product >> 64) as usize, product as u64);
        let number = ((u128::from(fraction) * u128::from(self.cell.fingerprints())) >> 64) as u64;
        let right = left + self.offset(number);
        let right = if right >= self.buckets { right - self.buckets } else { right };
        Place { lines: [left, self.buckets + right], fingerprint: self.cell.fingerprint(number) }
    }

    /// The line in the other subtable that a cell of `line` with this fingerprint could be in.
    #[inline(always)]
    pub(super) fn other_line(&self, line: usize, fingerprint: Fingerprint) -> usize {
        let offset = self.offset(self.cell.number(fingerprint));
        if line < self.buckets {
            let right = line + offset;
            self.buckets + if right >= self.buckets { right - self.buckets } else { right }
        } else {
            let right = line - self.buckets;
            if right >= offset { right - offset } else { right + self.buckets - offset }
        }
    }

    /// How far the right bucket of a fingerprint lies from its left one; below the number of buckets.
    #[inline(always)]
    fn offset(&self, number: u64) -> usize {
        // Numbers are small, and the highest bits of the product choose: one multiplication alone would put
        // neighbouring numbers at even distances.
        let mixed = number.wrapping_mul(FIRST_MIX);
        fast_range((mixed ^ (mixed >> 32)).wrapping_mul(SECOND_MIX), self.buckets)
    }

    /// The most copies of one key: its two buckets with nothing else in them.
    pub(super) fn most_copies(&self) -> u64 {
        2 * self.cell.per_bucket() * self.cell.most()
    }
}

/// Odd constants with no small relation to each other: the multipliers of SplitMix64.
const FIRST_MIX: u64 = 0xbf58_476d_1ce4_e5b9;
const SECOND_MIX: u64 = 0x94d0_49bb_1331_11eb;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;
    use std::vec::Vec;

    fn geometry(buckets: usize, fingerprint_bits: u32) -> Geometry {
        Geometry { cell: Cell::new(fingerprint_bits, 2).unwrap(), buckets }
    }

    /// A digest in the middle of those of one pair.
    fn digest_of(geometry: &Geometry, pair: u64) -> u64 {
        let pairs = u128::from(geometry.cell.fingerprints()) * geometry.buckets as u128;
        ((u128::from(pair) * 2 + 1) << 63).checked_div(pairs).unwrap() as u64
    }

    #[test]
    fn both_subtables_hold_every_pair_exactly_once() {
        for (buckets, bits) in [(1, 8), (2, 9), (3, 8), (7, 10), (64, 8), (100, 11), (1023, 8)] {
            let geometry = geometry(buckets, bits);
            let pairs = geometry.cell.fingerprints() * buckets as u64;
            let mut seen = [HashSet::new(), HashSet::new()];
            for pair in 0..pairs {
                let place = geometry.place(digest_of(&geometry, pair));
                let number = geometry.cell.number(place.fingerprint);
                assert_eq!(place.lines[0] as u64 * geometry.cell.fingerprints() + number, pair, "the recipe");
                assert!(place.lines[0] < buckets && (buckets..2 * buckets).contains(&place.lines[1]));
                for (seen, line) in seen.iter_mut().zip(place.lines) {
                    assert!(seen.insert((line, number)), "{buckets} buckets, pair {pair} meets another");
                }
            }
            assert_eq!(seen.map(|seen| seen.len() as u64), [pairs; 2]);
        }
    }

    proptest! {
        /// Equal in one subtable is equal in both, and a cell finds its other bucket without its key.
        #[test]
        fn the_other_line_is_the_other_line(buckets in 1usize..1 << 40, bits in 8u32..=48, digest in any::<u64>()) {
            let geometry = geometry(buckets, bits);
            let Place { lines: [left, right], fingerprint } = geometry.place(digest);
            prop_assert!(left < buckets && right >= buckets && right < 2 * buckets);
            prop_assert_eq!(geometry.other_line(left, fingerprint), right);
            prop_assert_eq!(geometry.other_line(right, fingerprint), left);
        }

        #[test]
        fn places_at_the_ends_are_in_range(buckets in 1usize..1 << 40, bits in 8u32..=48) {
            let geometry = geometry(buckets, bits);
            prop_assert_eq!(geometry.place(0).lines[0], 0);
            prop_assert_eq!(geometry.cell.number(geometry.place(0).fingerprint), 0);
            prop_assert_eq!(geometry.place(u64::MAX).lines[0], buckets - 1);
        }
    }

    /// Fingerprints of one bucket must scatter over the other subtable, else full buckets have full neighbours. With
    /// 4080 numbers over 64 stretches a count has a mean of 63.75 and a deviation of 7.9; 5 of them are allowed.
    #[test]
    fn offsets_scatter() {
        let geometry = geometry(1 << 30, 12);
        let offsets: Vec<usize> =
            (0..geometry.cell.fingerprints()).map(|number| geometry.offset(number)).collect();
        assert_eq!(offsets.iter().collect::<HashSet<_>>().len(), offsets.len());
        let mut counts = [0u32; 64];
        for offset in offsets {
            counts[offset >> 24] += 1;
        }
        assert!(counts.iter().all(|count| (24..=104).contains(count)), "{counts:?}");
    }
}
