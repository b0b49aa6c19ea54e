//! The implementations agree, and do what the recipe says.

use super::*;
use crate::bits::{Blocks, Owned, Shared};
use crate::bloom::kernel::{FIRST_DRAW, SECOND_LINE};
use crate::counting::CountingBloom;
use crate::hash::{Digest, SecretKey};
use std::vec::Vec;

const LINES: usize = 6;

fn digests(count: usize) -> Vec<u64> {
    let hasher = crate::hash::KeyHasher::xxh3(2025);
    (0..count as u64).map(|i| hasher.digest(&i).get()).collect()
}

/// The recipe, written as plainly as docs/formats.md has it: (line, word, lowest bit) of every counter of a key.
fn positions(layout: CounterLayout, digest: u64, lines: usize) -> Vec<(usize, usize, u32)> {
    let width = layout.width.bits();
    let one_line = |digest: u64, from: usize, count: usize| {
        let line = from + ((u128::from(digest) * count as u128) >> 64) as usize;
        let product = digest.wrapping_mul(FIRST_DRAW);
        (0..layout.shape.groups()).map(move |group| {
            let (word, bit) = if layout.shape.groups() == 4 {
                let drawn = (product >> (64 - 7 * (group + 1))) % 128;
                (group + if drawn < 64 { 0 } else { 4 }, drawn % 64)
            } else {
                (group, (product >> (64 - 6 * (group + 1))) % 64)
            };
            (line, word as usize, bit as u32 / width * width)
        })
    };
    if layout.shape.lines() == 2 {
        let second = digest.rotate_left(32).wrapping_mul(SECOND_LINE);
        one_line(digest, 0, lines / 2).chain(one_line(second, lines / 2, lines / 2)).collect()
    } else {
        one_line(digest, 0, lines).collect()
    }
}

fn contains<S: Blocks>(kernel: Kernel, layout: CounterLayout, blocks: &S, digest: u64) -> bool {
    one_key::<S>(kernel, layout, &KeyHasher::default()).contains(blocks.lines(), digest)
}

fn count<S: Blocks>(kernel: Kernel, layout: CounterLayout, blocks: &S, digest: u64) -> u64 {
    one_key::<S>(kernel, layout, &KeyHasher::default()).count(blocks.lines(), digest)
}

fn insert(kernel: Kernel, layout: CounterLayout, blocks: &mut Owned, digest: u64) -> bool {
    one_key::<Owned>(kernel, layout, &KeyHasher::default()).insert(blocks, digest)
}

fn remove(kernel: Kernel, layout: CounterLayout, blocks: &mut Owned, digest: u64) -> bool {
    one_key::<Owned>(kernel, layout, &KeyHasher::default()).remove(blocks, digest)
}

#[test]
fn every_kernel_raises_and_lowers_the_counters_of_the_recipe() {
    for layout in CounterLayout::all() {
        for kernel in Kernel::all() {
            for digest in digests(500).into_iter().chain([0, u64::MAX, 1, 1 << 63]) {
                let mut blocks = Owned::zeroed(LINES as u64).unwrap();
                assert!(!remove(kernel, layout, &mut blocks, digest), "not there");
                for times in 1..=3 {
                    assert_eq!(insert(kernel, layout, &mut blocks, digest), times == 1);
                    let mut expected = [[0u64; 8]; LINES];
                    for (line, word, bit) in positions(layout, digest, LINES) {
                        expected[line][word] += times << bit;
                    }
                    let found: Vec<[u64; 8]> = blocks.iter().map(|block| block.0).collect();
                    assert_eq!(found, expected, "{layout:?} {kernel:?} {digest:#x}");
                    assert!(contains(kernel, layout, &blocks, digest));
                    assert_eq!(count(kernel, layout, &blocks, digest), times);
                }
                for _ in 0..3 {
                    assert!(remove(kernel, layout, &mut blocks, digest));
                }
                assert!(blocks.iter().all(|block| block.0 == [0; 8]));
            }
        }
    }
}

#[test]
fn a_key_never_has_one_counter_twice() {
    for layout in CounterLayout::all() {
        for digest in digests(5_000) {
            let mut places = positions(layout, digest, LINES);
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), layout.shape.hashes() as usize);
        }
    }
}

/// Random lines: empty, small, full and stuck counters side by side, as no sequence of inserts would leave them.
fn random_lines(count: usize, seed: u64) -> Owned {
    let hasher = crate::hash::KeyHasher::xxh3(seed);
    let mut blocks = Owned::zeroed(count as u64).unwrap();
    for (number, block) in blocks.iter_mut().enumerate() {
        for (lane, word) in block.0.iter_mut().enumerate() {
            let random = |i: u64| hasher.digest(&(8 * number as u64 + lane as u64 + (i << 32))).get();
            *word = match number % 4 {
                0 => random(0),
                1 => random(0) & random(1) & random(2),
                2 => random(0) | random(1) | random(2) | random(3),
                _ => {
                    if lane % 2 == 0 {
                        u64::MAX
                    } else {
                        random(0) | random(1)
                    }
                }
            };
        }
    }
    blocks
}

#[test]
fn kernels_agree_on_random_lines_owned_and_shared() {
    let digests = digests(20_000);
    for layout in CounterLayout::all() {
        let mut reference = random_lines(200, 1);
        for kernel in Kernel::all() {
            let shared = Shared::from(reference.try_clone().unwrap());
            for digest in &digests {
                let (found, number) = (
                    contains(Kernel::Portable, layout, &reference, *digest),
                    count(Kernel::Portable, layout, &reference, *digest),
                );
                assert_eq!(found, number > 0);
                assert_eq!(contains(kernel, layout, &reference, *digest), found);
                assert_eq!(count(kernel, layout, &reference, *digest), number);
                assert_eq!(contains(kernel, layout, &shared, *digest), found);
                assert_eq!(count(kernel, layout, &shared, *digest), number);
            }
        }
        for kernel in Kernel::all() {
            let mut blocks = random_lines(200, 1);
            reference = random_lines(200, 1);
            for (number, digest) in digests.iter().enumerate() {
                let (ours, theirs) = if number % 3 == 0 {
                    (
                        insert(kernel, layout, &mut blocks, *digest),
                        insert(Kernel::Portable, layout, &mut reference, *digest),
                    )
                } else {
                    (
                        remove(kernel, layout, &mut blocks, *digest),
                        remove(Kernel::Portable, layout, &mut reference, *digest),
                    )
                };
                assert_eq!(ours, theirs, "{layout:?} {kernel:?}");
            }
            assert!(*blocks == *reference, "{layout:?} {kernel:?}");
        }
    }
}

/// Integers of eight bytes take a way of their own, whatever the hash is.
#[test]
fn an_integer_is_its_digest() {
    let hashers = [KeyHasher::xxh3(0), KeyHasher::xxh3(7), KeyHasher::sip13(SecretKey::new([5; 16]))];
    for (layout, hasher) in CounterLayout::all().flat_map(|layout| hashers.each_ref().map(|h| (layout, h))) {
        for kernel in Kernel::all() {
            let plan = crate::plan::Plan { keys: 1, rate: 0.1 };
            let filter = || {
                let blocks = Owned::zeroed(LINES as u64).unwrap();
                CountingBloom::from_parts(blocks, hasher.clone(), layout, kernel, plan, 0)
            };
            let (mut by_key, mut by_digest) = (filter(), filter());
            for i in 0..400u64 {
                let (key, signed) = (i * i % 71, (i % 29).cast_signed() - 14);
                let digests = [by_digest.hash(&key), by_digest.hash(&signed)];
                assert_eq!(digests[1], by_digest.hash(&signed.to_le_bytes()[..]), "the bytes of an integer");
                assert_eq!(by_key.contains(&key), by_digest.contains_hash(digests[0]));
                assert_eq!(by_key.count(&signed), by_digest.count_hash(digests[1]));
                if i % 3 == 0 {
                    assert_eq!(by_key.remove(&key), by_digest.remove_hash(digests[0]));
                } else {
                    assert_eq!(by_key.insert(&key), by_digest.insert_hash(digests[0]));
                }
                assert_eq!(by_key.insert(&signed), by_digest.insert_hash(digests[1]));
                assert_eq!(by_key.len(), by_digest.len());
            }
            assert!(by_key == by_digest, "{layout:?} {kernel:?} {hasher:?}");
        }
    }
}

/// In a filter whose lines are asked for beforehand, and in a smaller one.
#[test]
fn a_batch_is_the_same_by_every_kernel() {
    let digests: Vec<Digest> = digests(6_001).into_iter().map(Digest::new).collect();
    let source = &digests[..];
    for (layout, lines) in CounterLayout::all().flat_map(|layout| [(layout, 60), (layout, 6_000)]) {
        let mut reference = random_lines(lines, 3);
        let one_by_one = |each: &mut dyn FnMut(u64) -> bool| -> Vec<bool> {
            digests.iter().map(|digest| each(digest.get())).collect()
        };
        let found = one_by_one(&mut |digest| contains(Kernel::Portable, layout, &reference, digest));
        let counts: Vec<u64> =
            digests.iter().map(|digest| count(Kernel::Portable, layout, &reference, digest.get())).collect();
        let removed = one_by_one(&mut |digest| remove(Kernel::Portable, layout, &mut reference, digest));
        let new = one_by_one(&mut |digest| insert(Kernel::Portable, layout, &mut reference, digest));

        for kernel in Kernel::all() {
            let mut blocks = random_lines(lines, 3);
            let (mut answers, mut numbers) = (std::vec![false; digests.len()], std::vec![0; digests.len()]);
            batch(
                kernel,
                layout,
                AskBatch::<_, _, Contains> { lines: &blocks, source, answers: &mut answers },
            );
            assert_eq!(answers, found, "{layout:?} {kernel:?}");
            batch(kernel, layout, AskBatch::<_, _, Count> { lines: &blocks, source, answers: &mut numbers });
            assert_eq!(numbers, counts, "{layout:?} {kernel:?}");
            batch(kernel, layout, ApplyBatch::new(&mut blocks, source, &mut answers[..], Remove));
            assert_eq!(answers, removed, "{layout:?} {kernel:?}");
            batch(kernel, layout, ApplyBatch::new(&mut blocks, source, &mut answers[..], Insert));
            assert_eq!(answers, new, "{layout:?} {kernel:?}");
            assert!(*blocks == *reference, "{layout:?} {kernel:?}");
        }
    }
}

/// Counter by counter, with nothing but the recipe: what a change does to any line.
#[test]
fn changes_do_what_a_plain_model_does() {
    for layout in CounterLayout::all() {
        let max = layout.width.max();
        for kernel in Kernel::all() {
            let mut blocks = random_lines(LINES, 5);
            for (number, digest) in digests(3_000).into_iter().enumerate() {
                let mut expected: Vec<[u64; 8]> = blocks.iter().map(|block| block.0).collect();
                let places = positions(layout, digest, LINES);
                let value = |lines: &[[u64; 8]], (line, word, bit): (usize, usize, u32)| {
                    lines[line][word] >> bit & max
                };
                let all = places.iter().all(|place| value(&expected, *place) > 0);
                let inserting = number % 2 == 0;
                for place in places {
                    let unstuck = value(&expected, place) != max;
                    let word = &mut expected[place.0][place.1];
                    if inserting {
                        *word += u64::from(unstuck) << place.2;
                    } else if all {
                        *word -= u64::from(unstuck) << place.2;
                    }
                }
                let answer = if inserting {
                    !insert(kernel, layout, &mut blocks, digest)
                } else {
                    remove(kernel, layout, &mut blocks, digest)
                };
                assert_eq!(answer, all);
                assert!(blocks.iter().map(|block| block.0).eq(expected), "{layout:?} {kernel:?}");
            }
        }
    }
}
