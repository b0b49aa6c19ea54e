//! Asking for many keys at once.
//!
//! Two bits of every key of a group are asked for first, side by side and without a branch; the other bits only of those
//! keys that have both. In a filter that holds what it was made for that answers three of four absent keys with two
//! lines instead of k, and the lines of a whole group are on their way at the same time. A loop that stops at the first
//! bit that isn't set waits for one line after the other, and guesses wrong once for every absent key.

use super::ClassicBloom;
use crate::bits::Words;
use crate::bloom::scheme::Scheme;

/// Keys looked at together: twice as many lines as a core waits for at once.
const GROUP: usize = 16;

impl<C: Scheme, S: Words> ClassicBloom<C, S> {
    /// `found[i]` gets the answer for the hash that comes as the `i`th.
    pub(crate) fn contains_batch(&self, mut hashes: impl Iterator<Item = C::Hash>, found: &mut [bool]) {
        let ahead = self.wants_prefetch();
        let prefetch = |position: u64| {
            if ahead {
                self.words.prefetch(position / 64);
            }
        };
        for answers in found.chunks_mut(GROUP) {
            let mut first_two = [[0; 2]; GROUP];
            let mut others = core::array::from_fn::<_, GROUP, _>(|_| None);
            for ((first_two, others), hash) in
                first_two.iter_mut().zip(&mut others).zip(hashes.by_ref().take(answers.len()))
            {
                let mut positions = self.positions(hash);
                // A recipe of no hashes says yes to everything, which is left to `others`.
                let Some(first) = positions.next() else { continue };
                let second = positions.next().unwrap_or(first);
                prefetch(first);
                prefetch(second);
                *first_two = [first, second];
                *others = Some(positions);
            }
            let mut left = [0; GROUP];
            let mut count = 0;
            for (place, ((answer, [first, second]), others)) in
                answers.iter_mut().zip(first_two).zip(&others).enumerate()
            {
                *answer = self.words.bit(first) & self.words.bit(second) == 1 || others.is_none();
                left[count] = place;
                count += usize::from(*answer);
            }
            let left = &left[..count];
            if ahead {
                left.iter().filter_map(|place| others[*place].clone()).for_each(|positions| {
                    positions.for_each(prefetch);
                });
            }
            for place in left {
                if let Some(positions) = others[*place].take() {
                    answers[*place] = positions.fold(1, |all, position| all & self.words.bit(position)) == 1;
                }
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
