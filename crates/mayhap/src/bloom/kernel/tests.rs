//! All implementations agree, and do what the recipe says.

use super::*;
use crate::bits::{Blocks, Owned, Shared};
use crate::hash::KeyHasher;
use std::vec::Vec;

/// A stream of digests that are as good as random.
fn digests(count: usize) -> Vec<u64> {
    let hasher = KeyHasher::xxh3(2024);
    (0..count as u64).map(|i| hasher.digest(&i).get()).collect()
}

/// The recipe, written as plainly as docs/formats.md has it: (block, bit) for every bit of a key.
fn positions(shape: Shape, digest: u64, blocks: usize) -> Vec<(usize, u64)> {
    let one_line = |digest: u64, from: usize, count: usize| {
        let block = from + ((u128::from(digest) * count as u128) >> 64) as usize;
        let multipliers: &[u64] =
            if shape == Shape::Sixteen { &[FIRST_DRAW, SECOND_DRAW] } else { &[FIRST_DRAW] };
        let bits_per_draw = if shape == Shape::Four { 7 } else { 6 };
        let group_bits = 1u64 << bits_per_draw;
        let mut positions = Vec::new();
        for multiplier in multipliers {
            let product = digest.wrapping_mul(*multiplier);
            for group in 0..u64::from(shape.groups()) {
                let draw = (product >> (64 - bits_per_draw * (group + 1))) % group_bits;
                positions.push((block, group * group_bits + draw));
            }
        }
        positions
    };
    if shape == Shape::SixteenTwoLines {
        let half = blocks / 2;
        let second = digest.rotate_left(32).wrapping_mul(SECOND_LINE);
        [one_line(digest, 0, half), one_line(second, half, half)].concat()
    } else {
        one_line(digest, 0, blocks)
    }
}

fn contains<S: Blocks>(kernel: Kernel, shape: Shape, blocks: &S, digest: u64) -> bool {
    kernel.one::<Contains<'_, S::Line>>(shape, blocks.lines(), digest)
}

fn insert(kernel: Kernel, shape: Shape, blocks: &mut Owned, digest: u64) -> bool {
    kernel.one::<Insert<'_>>(shape, blocks, digest)
}

#[test]
fn every_kernel_sets_the_bits_of_the_recipe() {
    for shape in Shape::ALL {
        for kernel in Kernel::all() {
            for digest in digests(2_000).into_iter().chain([0, u64::MAX, 1, 1 << 63]) {
                let mut blocks = Owned::zeroed(6).unwrap();
                assert!(insert(kernel, shape, &mut blocks, digest));
                let mut expected = [[0u64; 8]; 6];
                for (block, bit) in positions(shape, digest, 6) {
                    expected[block][(bit / 64) as usize] |= 1 << (bit % 64);
                }
                let found: Vec<[u64; 8]> = blocks.iter().map(|block| block.0).collect();
                assert_eq!(found, expected, "{shape:?} {kernel:?} {digest:#x}");
                assert!(contains(kernel, shape, &blocks, digest));
                assert!(!insert(kernel, shape, &mut blocks, digest), "the second time it is not new");
            }
        }
    }
}

#[test]
fn kernels_agree_on_random_blocks_owned_and_shared() {
    let digests = digests(50_000);
    for shape in Shape::ALL {
        let mut reference = Owned::zeroed(300).unwrap();
        let new: Vec<bool> =
            digests[..6000].iter().map(|d| insert(Kernel::Portable, shape, &mut reference, *d)).collect();
        for kernel in Kernel::all() {
            let mut blocks = Owned::zeroed(300).unwrap();
            let again: Vec<bool> =
                digests[..6000].iter().map(|d| insert(kernel, shape, &mut blocks, *d)).collect();
            assert!(new == again && *blocks == *reference, "{shape:?} {kernel:?}");
            for d in &digests {
                assert_eq!(
                    contains(kernel, shape, &blocks, *d),
                    contains(Kernel::Portable, shape, &reference, *d),
                );
            }
            let shared = Shared::from(blocks);
            for d in &digests {
                assert_eq!(
                    contains(kernel, shape, &shared, *d),
                    contains(Kernel::Portable, shape, &reference, *d),
                );
            }
        }
    }
}

/// Every way to write to shared blocks: under locks while nobody writes without, without, and under locks beside that.
#[test]
fn shared_blocks_are_written_as_owned_ones() {
    let digests = digests(6_000);
    for shape in Shape::ALL {
        for kernel in Kernel::all() {
            let mut owned = Owned::zeroed(300).unwrap();
            let shared = Shared::zeroed(300).unwrap();
            let (first, rest) = digests.split_at(2_000);
            let (second, third) = rest.split_at(2_000);
            for digest in first {
                let new = kernel.one::<SharedInsert<'_>>(shape, &shared, *digest);
                assert_eq!(new, insert(kernel, shape, &mut owned, *digest));
            }
            for digest in second {
                kernel.one::<SharedSet<'_>>(shape, &shared, *digest);
                insert(kernel, shape, &mut owned, *digest);
            }
            for digest in third {
                let new = kernel.one::<SharedInsert<'_>>(shape, &shared, *digest);
                assert_eq!(new, insert(kernel, shape, &mut owned, *digest));
            }
            assert!(*Owned::from(shared) == *owned, "{shape:?} {kernel:?}");
        }
    }
}

/// The parts of a filter that is asked.
struct Asked<'a>(&'a Owned, &'a KeyHasher);

impl<'a> Parts<'a> for Asked<'a> {
    type Work = Contains<'a, Block>;
    fn hasher(&self) -> &KeyHasher {
        self.1
    }
    fn blocks(self) -> &'a [Block] {
        self.0
    }
}

/// The parts of a filter that is added to.
struct Added<'a>(&'a mut Owned, &'a KeyHasher);

impl<'a> Parts<'a> for Added<'a> {
    type Work = Insert<'a>;
    fn hasher(&self) -> &KeyHasher {
        self.1
    }
    fn blocks(self) -> &'a mut [Block] {
        self.0
    }
}

#[test]
fn a_key_is_added_as_its_digest_is() {
    let text: std::string::String = (0..70).map(|i| char::from(b'a' + i % 26)).collect();
    for hasher in [KeyHasher::xxh3(9), KeyHasher::sip13(crate::hash::SecretKey::new([4; 16]))] {
        for shape in Shape::ALL {
            for kernel in Kernel::all() {
                let [mut by_key, mut by_digest] = [(); 2].map(|()| Owned::zeroed(8).expect("eight blocks"));
                for number in 0..200u64 {
                    let key = &text[..number as usize % 70];
                    for (new, digest) in [
                        (kernel.one_key(shape, Added(&mut by_key, &hasher), &number), hasher.digest(&number)),
                        (kernel.one_key(shape, Added(&mut by_key, &hasher), key), hasher.digest(key)),
                    ] {
                        assert_eq!(new, insert(kernel, shape, &mut by_digest, digest.get()), "{number}");
                    }
                }
                assert!(by_key.iter().eq(by_digest.iter()), "{shape:?}");
            }
        }
    }
}

#[test]
fn a_key_is_asked_for_as_its_digest_is() {
    let bytes: Vec<u8> = (0..4_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    for hasher in
        [KeyHasher::xxh3(0), KeyHasher::xxh3(7), KeyHasher::sip13(crate::hash::SecretKey::new([3; 16]))]
    {
        for shape in Shape::ALL {
            for kernel in Kernel::all() {
                let mut blocks = Owned::zeroed(4).expect("four blocks");
                for len in 0..=80 {
                    let [present, absent] = [&bytes[len..2 * len], &bytes[3_000 - len..3_000]];
                    insert(kernel, shape, &mut blocks, hasher.digest(present).get());
                    for key in [present, absent] {
                        let found = kernel.one_key(shape, Asked(&blocks, &hasher), key);
                        assert_eq!(
                            found,
                            contains(kernel, shape, &blocks, hasher.digest(key).get()),
                            "{len} bytes"
                        );
                    }
                }
                for key in 0..100u64 {
                    let digest = hasher.digest(&key).get();
                    assert_eq!(
                        kernel.one_key(shape, Asked(&blocks, &hasher), &key),
                        contains(kernel, shape, &blocks, digest),
                        "the integer {key}"
                    );
                }
            }
        }
    }
}

/// In a filter whose lines are asked for beforehand, and in a smaller one.
#[test]
fn a_batch_is_the_same_by_every_kernel() {
    let hasher = KeyHasher::xxh3(11);
    let xxh3 = hasher.as_xxh3().expect("it was made so");
    let numbers: Vec<u64> = (0..5_003).collect();
    let texts: Vec<std::string::String> = numbers.iter().map(|i| "key ".repeat(*i as usize % 24)).collect();
    for (shape, blocks) in Shape::ALL.into_iter().flat_map(|shape| [(shape, 60), (shape, 6_000)]) {
        batches_agree(shape, blocks, || Keys(xxh3, &numbers[..]));
        batches_agree(shape, blocks, || Keys(&hasher, &texts[..]));
    }
}

fn batches_agree<In: Parted>(shape: Shape, blocks: u64, source: impl Fn() -> In) {
    let mut digests = std::vec![0; source().len()];
    source().digests(0, &mut digests);
    let mut reference = Owned::zeroed(blocks).expect("a small filter");
    let (early, late) = digests.split_at(digests.len() / 2);
    for digest in early {
        insert(Kernel::Portable, shape, &mut reference, *digest);
    }
    let half: Vec<bool> =
        digests.iter().map(|digest| contains(Kernel::Portable, shape, &reference, *digest)).collect();
    let mut new: Vec<bool> = early.iter().map(|_| false).collect();
    new.extend(late.iter().map(|digest| insert(Kernel::Portable, shape, &mut reference, *digest)));

    for kernel in Kernel::all() {
        let mut filter = Owned::zeroed(blocks).expect("a small filter");
        for digest in early {
            insert(kernel, shape, &mut filter, *digest);
        }
        let mut answers = std::vec![false; digests.len()];
        kernel.batch(shape, ContainsBatch { lines: &filter, source: source(), answers: &mut answers[..] });
        assert_eq!(answers, half, "{shape:?} {kernel:?}");
        kernel.batch(shape, InsertBatch { blocks: &mut filter, source: source(), answers: &mut answers[..] });
        assert_eq!(answers, new, "{shape:?} {kernel:?}");
        assert!(filter.iter().eq(reference.iter()), "{shape:?} {kernel:?}");
    }
}
