//! Asking for many keys at once.
//!
//! Two bits of every key of a group are asked for first, side by side and without a branch; the other bits only of those
//! keys that have both. In a filter that holds what it was made for that answers three of four absent keys with two
//! lines instead of k. A loop that stops at the first bit that isn't set guesses wrong once for every absent key, and
//! from memory it waits for one line after the other.

use super::ClassicBloom;
use crate::bits::Words;
use crate::bloom::scheme::Scheme;

/// Keys looked at together: twice as many lines as a core waits for at once.
const GROUP: usize = 16;

impl<C: Scheme, S: Words> ClassicBloom<C, S> {
    /// `found[i]` gets the answer for the hash that comes as the `i`th.
    pub(crate) fn contains_batch(&self, mut hashes: impl Iterator<Item = C::Hash>, found: &mut [bool]) {
        let ahead = self.wants_prefetch();
        for answers in found.chunks_mut(GROUP) {
            let mut group = [None; GROUP];
            for (place, hash) in group.iter_mut().zip(hashes.by_ref().take(answers.len())) {
                *place = Some(hash);
                if ahead {
                    self.positions(hash).take(2).for_each(|position| self.words.prefetch(position / 64));
                }
            }
            let mut left = [None; GROUP];
            let mut count = 0;
            for (place, (answer, hash)) in answers.iter_mut().zip(group.into_iter().flatten()).enumerate() {
                let both =
                    self.positions(hash).take(2).fold(1, |all, position| all & self.words.bit(position));
                *answer = both == 1;
                left[count] = Some((place, hash));
                count += usize::from(*answer);
            }
            let left = left[..count].iter().flatten();
            if ahead {
                for (_, hash) in left.clone() {
                    self.positions(*hash).skip(2).for_each(|position| self.words.prefetch(position / 64));
                }
            }
            for (place, hash) in left {
                let others = self.positions(*hash).skip(2);
                answers[*place] = others.fold(1, |all, position| all & self.words.bit(position)) == 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ClassicBloom;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn a_batch_is_the_same_as_one_by_one() {
        for (bits, hashes) in [(64, 1), (1_000, 2), (5_000, 3), (4 << 20, 7), (10_000, 30), (100_000, 64)] {
            let mut filter = ClassicBloom::with_bits(bits, hashes).unwrap();
            filter.extend((0..filter.planned_keys() as u32).map(|key| key * 2));
            for count in [0, 1, 15, 16, 17, 1_000] {
                let keys: Vec<u32> = (0..count).collect();
                let mut found = vec![true; keys.len()];
                filter.contains_each(&keys, &mut found);
                for (key, found) in keys.iter().zip(found) {
                    assert_eq!(found, filter.contains(key), "{key} of {count} in {bits} bits");
                }
            }
        }
    }
}
