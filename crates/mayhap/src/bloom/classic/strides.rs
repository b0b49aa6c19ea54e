//! Asking for many keys at once in recipes whose positions are remainders of numbers at equal distances, with AVX2.
//!
//! Positions of eight keys take no longer than those of one, so that they are worked out for all keys of a group, in steps
//! without a branch that depends on a key. Where keys are absent, two bits of each are looked at first, and the others
//! only of those keys that have both; where most keys of the group before were present, all bits are looked at in one go.
//! Then nothing waits for an answer, and the core runs ahead into the next keys.

#![allow(unsafe_code)]

use super::ClassicBloom;
use super::lanes::{LANES, Narrow, PREPARED, Prepared, Walk};
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
type Row = [u32; GROUP];

impl<C: Scheme, S: Words> ClassicBloom<C, S> {
    /// `found[i]` gets the answer for `hashes[i]`.
    pub(super) fn contains_strides(&self, narrow: Narrow, hashes: &[C::Hash], found: &mut [bool]) {
        let ahead = self.bits / 8 >= LARGE;
        let mut search = Search {
            words: &self.words,
            narrow,
            bits: self.hashes as usize,
            ahead,
            // A group of absent keys costs less by this guess than one of present keys by the other, but for memory.
            mostly_present: !ahead,
            rows: [[0; GROUP]; MANY],
        };
        // SAFETY: whoever has a `Narrow` has found that the CPU has AVX2 and the bit instructions.
        unsafe { search.contains::<C>(hashes, found) }
    }
}

struct Search<'a, S> {
    words: &'a S,
    narrow: Narrow,
    bits: usize,
    ahead: bool,
    /// Whether most keys of the group before were.
    mostly_present: bool,
    rows: [Row; MANY],
}

impl<S: Words> Search<'_, S> {
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn contains<C: Scheme>(&mut self, hashes: &[C::Hash], found: &mut [bool]) {
        let mut prepared = Prepared::new();
        for (hashes, found) in hashes.chunks(PREPARED).zip(found.chunks_mut(PREPARED)) {
            self.narrow.prepare::<C>(hashes, &mut prepared);
            let (groups, rest) = found.as_chunks_mut();
            let last = groups.len();
            for (group, answers) in groups.iter_mut().enumerate() {
                self.contains_group(&prepared, group, answers);
            }
            if !rest.is_empty() {
                // Places that nobody asked for have a key of before, or none.
                let mut answers = [false; GROUP];
                self.contains_group(&prepared, last, &mut answers);
                rest.copy_from_slice(&answers[..rest.len()]);
            }
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    fn contains_group(&mut self, prepared: &Prepared, group: usize, answers: &mut [bool; GROUP]) {
        let Self { words, narrow, bits, ahead, .. } = *self;
        let mut walks = [narrow.walk(prepared, 2 * group), narrow.walk(prepared, 2 * group + 1)];

        // The first bits of all keys.
        let mut asked = bits.min(if self.mostly_present { MANY } else { FEW });
        let rows = &mut self.rows[..asked];
        next(narrow, &mut walks, rows);
        if ahead {
            rows.iter().flatten().for_each(|position| words.prefetch(u64::from(position / 64)));
        }
        let mut left = look(words, rows, answers);

        // The others of those keys that have the first.
        let mut places = [0; GROUP];
        if asked < bits {
            let mut count = 0;
            for (place, answer) in answers.iter().enumerate() {
                places[count] = place;
                count += usize::from(*answer);
            }
        }
        while asked < bits && left > 0 {
            let rows = &mut self.rows[..MANY.min(bits - asked)];
            next(narrow, &mut walks, rows);
            if ahead {
                for place in &places[..left] {
                    rows.iter().for_each(|row| words.prefetch(u64::from(row[*place] / 64)));
                }
            }
            let count = core::mem::take(&mut left);
            for candidate in 0..count {
                let place = places[candidate];
                let all_set = rows.iter().fold(1, |all, row| all & words.bit(u64::from(row[place])));
                answers[place] = all_set == 1;
                places[left] = place;
                left += usize::from(answers[place]);
            }
            asked += rows.len();
        }
        self.mostly_present = left * 4 >= GROUP * 3;
    }
}

/// Which keys have the bits at all their positions, and how many keys that are.
///
/// They are counted here and not from the answers: reading several of them at once would wait until all are written.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline]
fn look<S: Words>(words: &S, rows: &[Row], answers: &mut [bool; GROUP]) -> usize {
    let mut count = 0;
    for (block, answers) in answers.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        let mut all_set = [1; BLOCK];
        for row in rows {
            for (all_set, position) in all_set.iter_mut().zip(row.as_chunks::<BLOCK>().0[block]) {
                *all_set &= words.bit(u64::from(position));
            }
        }
        for (answer, all_set) in answers.iter_mut().zip(all_set) {
            *answer = all_set == 1;
            count += usize::from(*answer);
        }
    }
    count
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
