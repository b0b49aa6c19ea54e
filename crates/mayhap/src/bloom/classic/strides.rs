//! Asking for many keys at once in recipes whose positions are remainders of numbers at equal distances, with AVX2.
//!
//! Positions of eight keys take no longer than those of one, so that they are worked out for all keys of a group, in steps
//! without a branch that depends on a key. Where keys are absent, two bits of each are looked at first, and the others
//! only of those keys that have both; where most keys of the group before were present, all bits are looked at in one go.

#![allow(unsafe_code)]

use super::ClassicBloom;
use super::lanes::{LANES, Narrow, Walk};
use crate::bits::Words;
use crate::bloom::scheme::Scheme;

/// Keys looked at together.
const GROUP: usize = 2 * LANES;

/// Bits of a key that are looked at first where keys are expected to be absent.
const FEW: usize = 2;

/// The most bits of a key that are looked at in one go.
const MANY: usize = 16;

/// Keys whose bits are looked at side by side: as many as a core has registers for.
const BLOCK: usize = 4;

/// Bytes from which on it is worth asking for lines before their bits are looked at. In a smaller filter the core does so
/// by itself, because no branch stands between one look and the next (measured at 1.2 MB and 12 MB).
const LARGE: u64 = 4 << 20;

/// One position of each key of a group.
type Row = [u64; GROUP];

impl<C: Scheme, S: Words> ClassicBloom<C, S> {
    /// `found[i]` gets the answer for the hash that comes as the `i`th.
    pub(super) fn contains_strides(
        &self,
        narrow: Narrow,
        hashes: impl Iterator<Item = C::Hash>,
        found: &mut [bool],
    ) {
        // SAFETY: whoever has a `Narrow` has found that the CPU has AVX2 and the bit instructions.
        unsafe { contains(self, narrow, hashes, found) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn contains<C: Scheme, S: Words>(
    filter: &ClassicBloom<C, S>,
    narrow: Narrow,
    mut hashes: impl Iterator<Item = C::Hash>,
    found: &mut [bool],
) {
    let words = &filter.words;
    let ahead = filter.bits / 8 >= LARGE;
    let bits = filter.hashes as usize;
    let mut rows = [[0; GROUP]; MANY];
    let mut mostly_present = false;
    for answers in found.chunks_mut(GROUP) {
        let Some(first) = hashes.next() else { return };
        let mut group = [first; GROUP];
        let others = hashes.by_ref().take(answers.len() - 1);
        group[1..].iter_mut().zip(others).for_each(|(place, hash)| *place = hash);
        let mut walks = walk::<C>(narrow, &group);

        // The first bits of all keys. A place that nobody asked for has a copy of the first: a loop over all places is
        // unrolled.
        let mut asked = bits.min(if mostly_present { MANY } else { FEW });
        next(narrow, &mut walks, &mut rows[..asked]);
        if ahead {
            rows[..asked].iter().flatten().for_each(|position| words.prefetch(position / 64));
        }
        let mut all_set = [1; GROUP];
        for (block, all_set) in all_set.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
            for row in &rows[..asked] {
                for (all_set, position) in all_set.iter_mut().zip(row.as_chunks::<BLOCK>().0[block]) {
                    *all_set &= words.bit(position);
                }
            }
        }
        let mut places = [0; GROUP];
        let mut left = 0;
        for (place, (answer, all_set)) in answers.iter_mut().zip(all_set).enumerate() {
            *answer = all_set == 1;
            places[left] = place;
            left += usize::from(*answer);
        }

        // The others of those keys that have the first.
        while asked < bits && left > 0 {
            let rows = &mut rows[..MANY.min(bits - asked)];
            next(narrow, &mut walks, rows);
            if ahead {
                for place in &places[..left] {
                    rows.iter().for_each(|row| words.prefetch(row[*place] / 64));
                }
            }
            let count = core::mem::take(&mut left);
            for candidate in 0..count {
                let place = places[candidate];
                let all_set = rows.iter().fold(1, |all, row| all & words.bit(row[place]));
                answers[place] = all_set == 1;
                places[left] = place;
                left += usize::from(answers[place]);
            }
            asked += rows.len();
        }
        mostly_present = left * 4 >= answers.len() * 3;
    }
}

/// The keys of a group, eight at a time.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn walk<C: Scheme>(narrow: Narrow, group: &[C::Hash; GROUP]) -> [Walk; 2] {
    let (mut starts, mut steps) = ([[0; LANES]; 2], [[0; LANES]; 2]);
    let places = starts.as_flattened_mut().iter_mut().zip(steps.as_flattened_mut());
    for ((start, step), hash) in places.zip(group) {
        (*start, *step) = C::stride(*hash);
    }
    [narrow.walk(&starts[0], &steps[0]), narrow.walk(&starts[1], &steps[1])]
}

/// The next positions of all keys, as many as there are rows.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn next(narrow: Narrow, walks: &mut [Walk; 2], rows: &mut [Row]) {
    for (block, walk) in walks.iter_mut().enumerate() {
        for row in rows.iter_mut() {
            narrow.next(walk, &mut row.as_chunks_mut().0[block]);
        }
    }
}
