//! Many questions to one filter.
//!
//! Not the batches of [`ClassicBloom`](crate::bloom::ClassicBloom), which work out positions twice, once to prefetch and
//! once to ask, and stop at the first bit that isn't set. Here positions fit 32 bits, are few, and are kept; and the bits
//! of eight keys are looked at side by side without a branch, because which of an absent key's bits is the first that
//! isn't set can't be predicted.

use super::recipe::{MOST_HASHES, Remainder, step};
use crate::bits::{Words, is_worth_prefetching};

/// Keys looked at together.
const GROUP: usize = 8;

/// After so many bits of each it is worth asking whether any key of the group is left.
const BETWEEN_LOOKS: usize = 8;

/// Whether the keys of these hashes may be in the filter, one answer each.
pub(super) fn contains(
    words: &impl Words,
    hashes_per_key: u32,
    range: Remainder,
    mut hashes: impl Iterator<Item = u32>,
    found: &mut [bool],
) {
    let ahead = is_worth_prefetching(words.word_count() * 8);
    let mut positions = [[0; GROUP]; MOST_HASHES as usize];
    let used = positions.len().min(usize::try_from(hashes_per_key).unwrap_or(usize::MAX));
    let positions = &mut positions[..used];
    for answers in found.chunks_mut(GROUP) {
        let mut group = [0; GROUP];
        group.iter_mut().zip(hashes.by_ref().take(answers.len())).for_each(|(slot, hash)| *slot = hash);
        place(words, range, group, ahead, positions);
        answers.iter_mut().zip(look(words, positions)).for_each(|(answer, is_set)| *answer = is_set);
    }
}

/// Works out the positions of a group, the first of all keys first, and starts loading them.
#[inline(always)]
fn place(
    words: &impl Words,
    range: Remainder,
    group: [u32; GROUP],
    ahead: bool,
    positions: &mut [[u32; GROUP]],
) {
    let mut at = group;
    let step = group.map(step);
    for row in positions {
        for ((slot, at), step) in row.iter_mut().zip(&mut at).zip(step) {
            let position = range.of(*at);
            if ahead {
                words.prefetch(position / 64);
            }
            #[allow(clippy::cast_possible_truncation, reason = "a remainder of 32 bits")]
            let position = position as u32;
            *slot = position;
            *at = at.wrapping_add(step);
        }
    }
}

/// Which keys of the group have all their bits set.
#[inline(always)]
fn look(words: &impl Words, positions: &[[u32; GROUP]]) -> [bool; GROUP] {
    let mut all_set = [1; GROUP];
    for rows in positions.chunks(BETWEEN_LOOKS) {
        for row in rows {
            for (all_set, position) in all_set.iter_mut().zip(row) {
                *all_set &= words.bit(u64::from(*position));
            }
        }
        if all_set == [0; GROUP] {
            break;
        }
    }
    all_set.map(|all_set| all_set == 1)
}

#[cfg(test)]
mod tests {
    use super::super::{BloomPolicy, LevelDbFilter};
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn a_batch_is_one_by_one() {
        for (keys, bits_per_key) in
            [(1u32, 1), (100, 3), (100, 10), (100, 60), (30_000, 8), (300_000, 10), (100_000, 44)]
        {
            let mut bytes = Vec::new();
            let inside: Vec<u32> = (0..keys).collect();
            BloomPolicy::new(bits_per_key).create_filter(&inside, &mut bytes).unwrap();
            let view = LevelDbFilter::view(&bytes).unwrap();
            let owned = LevelDbFilter::from_bytes(&bytes).unwrap();
            for count in [0, 1, 7, 8, 9, 1_000] {
                let asked: Vec<u32> = (0..count).map(|i| keys / 2 + i * (keys / 500).max(1)).collect();
                let expected: Vec<bool> = asked.iter().map(|key| owned.contains(key)).collect();
                let mut found = vec![true; asked.len()];
                view.contains_each(&asked, &mut found);
                assert_eq!(found, expected, "in place: {keys} keys, {count} asked");
                found.fill(true);
                owned.contains_each(&asked, &mut found);
                assert_eq!(found, expected, "owned: {keys} keys, {count} asked");
            }
        }
        let mut found = [false; 3];
        LevelDbFilter::view(&[0; 5]).unwrap().contains_each(&["no", "hashes", "match all"], &mut found);
        assert_eq!(found, [true; 3]);
    }
}
