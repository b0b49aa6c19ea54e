//! Asking for many keys at once.
//!
//! Two bits of every key of a group are asked for first, side by side and without a branch; the other bits only of those
//! keys that have both. In a filter that holds what it was made for that answers three of four absent keys with two
//! lines instead of k. A loop that stops at the first bit that isn't set guesses wrong once for every absent key, and
//! from memory it waits for one line after the other.
//!
//! [`strides`](super::strides) has another way for recipes of other systems, on CPUs with AVX2.

use super::ClassicBloom;
#[cfg(target_arch = "x86_64")]
use super::lanes::Narrow;
use crate::bits::Words;
use crate::bloom::scheme::Scheme;

/// Keys looked at together: twice as many lines as a core waits for at once.
const GROUP: usize = 16;

/// Keys hashed together, before the first of them is looked for.
const HASHED: usize = 256;

impl<C: Scheme, S: Words> ClassicBloom<C, S> {
    /// `found[i]` gets the answer for `keys[i]`. `hash_each` writes the hashes of some keys over what is there; `any` is a
    /// hash to begin with.
    pub(crate) fn contains_hashed<K>(
        &self,
        keys: &[K],
        any: C::Hash,
        hash_each: impl Fn(&[K], &mut [C::Hash]),
        found: &mut [bool],
    ) {
        let mut hashes = [any; HASHED];
        for (keys, found) in keys.chunks(HASHED).zip(found.chunks_mut(HASHED)) {
            let hashes = &mut hashes[..keys.len()];
            hash_each(keys, hashes);
            self.contains_batch(hashes, found);
        }
    }

    /// `found[i]` gets the answer for `hashes[i]`.
    pub(super) fn contains_batch(&self, hashes: &[C::Hash], found: &mut [bool]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(narrow) = C::strides(self.range).and_then(Narrow::new) {
            return self.contains_strides(narrow, hashes, found);
        }
        self.contains_portable(hashes, found);
    }

    fn contains_portable(&self, hashes: &[C::Hash], found: &mut [bool]) {
        let ahead = self.wants_prefetch();
        for (group, answers) in hashes.chunks(GROUP).zip(found.chunks_mut(GROUP)) {
            if ahead {
                for hash in group {
                    self.positions(*hash).take(2).for_each(|position| self.words.prefetch(position / 64));
                }
            }
            let mut left = [None; GROUP];
            let mut count = 0;
            for (place, (answer, hash)) in answers.iter_mut().zip(group).enumerate() {
                let both =
                    self.positions(*hash).take(2).fold(1, |all, position| all & self.words.bit(position));
                *answer = both == 1;
                left[count] = Some((place, *hash));
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
    use super::*;
    use crate::bloom::{Modulus, Strides};
    use crate::hash::Key;
    use crate::plan::Plan;
    use std::vec;
    use std::vec::Vec;

    /// Present keys for a while, absent ones for a while, and both in turns; by batches of any length.
    fn check<C: Scheme>(scheme: C, bits: u64, hashes: u32) {
        let words = crate::bits::Owned::zeroed(bits.div_ceil(crate::bits::BLOCK_BITS)).unwrap();
        let plan = Plan { keys: 1, rate: 0.5 };
        let mut filter = ClassicBloom::from_parts(words, scheme, bits, hashes, plan).unwrap();
        let half_full = bits / u64::from(hashes.max(1)) * 2 / 3;
        filter.extend((0..half_full.clamp(200, 20_000) as u32).map(|key| key * 2));
        let keys: Vec<u32> =
            (0..200).map(|i| i * 2).chain((0..100).map(|i| i * 2 + 1)).chain(0..200).collect();
        for count in [0, 1, 15, 16, 17, keys.len()] {
            let expected: Vec<bool> = keys[..count].iter().map(|key| filter.contains(key)).collect();
            let mut found = vec![true; count];
            filter.contains_each(&keys[..count], &mut found);
            assert_eq!(found, expected, "{count} keys in {bits} bits, {hashes} each");
            found.fill(true);
            let hashed: Vec<C::Hash> = keys[..count].iter().map(|key| filter.hash(key)).collect();
            filter.contains_portable(&hashed, &mut found);
            assert_eq!(found, expected, "{count} keys in {bits} bits, {hashes} each, portable");
        }
    }

    fn check_sizes<C: Scheme>(scheme: &C) {
        for (bits, hashes) in [
            (64, 0),
            (64, 1),
            (1_000, 2),
            (5_001, 3),
            (1 << 20, 7),
            (1 << 25, 7),
            (10_000, 30),
            (100_000, 64),
        ] {
            check(scheme.clone(), bits, hashes);
        }
    }

    #[test]
    fn a_batch_is_the_same_as_one_by_one() {
        check_sizes(&crate::bloom::Native::default());
    }

    #[test]
    fn a_batch_by_strides_is_the_same_as_one_by_one() {
        check_sizes(&Steps::<64>);
        check_sizes(&Steps::<63>);
        check_sizes(&Steps::<32>);
    }

    /// A recipe like those of other systems.
    #[derive(Clone, PartialEq, Debug)]
    struct Steps<const WIDTH: u32>;

    impl<const WIDTH: u32> Scheme for Steps<WIDTH> {
        type Hash = [u64; 2];
        type Range = Modulus;

        fn hash<K: Key + ?Sized>(&self, key: &K) -> [u64; 2] {
            let digest = crate::hash::KeyHasher::default().digest(key).get();
            [digest, digest.wrapping_mul(0x9e37_79b9_7f4a_7c15)]
        }

        fn range(bits: u64) -> Modulus {
            Modulus::new(bits)
        }

        fn strides(modulus: Modulus) -> Option<Strides> {
            Some(Strides { modulus, width: WIDTH })
        }

        fn stride([start, step]: [u64; 2]) -> (u64, u64) {
            (start, step)
        }

        fn positions(&self, [start, step]: [u64; 2], range: Modulus) -> impl Iterator<Item = u64> + Clone {
            (0..).map(move |i: u64| {
                (start.wrapping_add(i.wrapping_mul(step)) & (u64::MAX >> (64 - WIDTH))) % range.get()
            })
        }
    }
}
