use std::vec::Vec;

use super::super::Table;
use super::super::buckets::tests::layouts;
use super::*;
use crate::bits::{Blocks, Owned, Shared};
use crate::cuckoo::table::{Search, lines_of};

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    xxhash_rust::xxh3::xxh3_64(&state.to_le_bytes())
}

/// Places of a filter by itself, and of a layer that has grown, in tables of a few buckets, of some hundred and of some thousand.
fn places_of(layout: CuckooLayout) -> Vec<Places> {
    let bits = layout.fingerprint_bits();
    let short = bits.saturating_sub(3).max(4);
    let mut sizes = std::vec![(3, 0, bits), (500, 0, bits), (5, 2, short), (61, 3, short)];
    if layout.bucket_bits() == u64::BITS {
        sizes.extend([(8192, 0, bits), (1024, 3, short)]);
    }
    sizes.into_iter().map(|(buckets, growth, short)| Places::new(buckets, growth, short, bits)).collect()
}

/// A table that is half full, and digests of which most are in it, some of them several times, and some are not.
fn half_full(layout: CuckooLayout, places: Places, state: &mut u64) -> (Table<Owned>, Vec<Digest>) {
    let mut table = Table::new(layout, places).unwrap();
    let search = Search::new(500);
    let (mut digests, half) = (Vec::new(), table.slots().div_ceil(2));
    while table.len() < half {
        let digest = Digest::new(random(state));
        for _ in 0..1 + random(state) % 5 / 4 {
            if table.insert(digest.get(), false, search).is_err() {
                break;
            }
        }
        digests.push(digest);
        if random(state).is_multiple_of(4) {
            digests.push(Digest::new(random(state)));
        }
        // Close behind each other, so that deletes of one group meet; in large tables sometimes only, so that others don't.
        if half < 8000 || random(state).is_multiple_of(32) {
            let earlier = digests[digests.len().saturating_sub(1 + random(state) as usize % 12)];
            digests.push(earlier);
        }
    }
    digests.resize(digests.len().max(20), Digest::new(random(state)));
    (table, digests)
}

/// Every layout that is done in eights here, with answers, lines and the number of fingerprints as if each digest came by
/// itself. Layouts that are done otherwise, and CPUs without AVX-512, are left to the other tests of batches.
#[test]
fn eight_at_a_time_are_the_same_as_one_by_one() {
    let (mut state, mut tables) = (1, 0);
    for layout in layouts() {
        for places in places_of(layout) {
            let (mut table, digests) = half_full(layout, places, &mut state);
            if InEights::of(layout, &table.format, &places, digests.len()).is_none() {
                continue;
            }
            tables += 1;
            // Not all of them, so that the last group is any part of a whole one.
            let digests = &digests[..digests.len() - random(&mut state) as usize % 10];
            let mut answers = std::vec![false; digests.len()];

            let expected: Vec<bool> = digests.iter().map(|digest| table.contains(digest.get())).collect();
            table.contains_many(digests, &mut answers);
            assert_eq!(answers, expected, "{layout:?} {places:?}");

            let blocks = Owned::zeroed(lines_of(layout, places.buckets())).unwrap();
            let mut shared = Table::from_parts(Shared::from(blocks), layout, places, 0);
            for (line, block) in shared.lines.lines().iter().zip(table.lines.lines()) {
                (0..8).for_each(|lane| line.store_word(lane, block.word(lane)));
            }
            answers.fill(false);
            shared.contains_many(digests, &mut answers);
            assert_eq!(answers, expected, "lines that somebody may be writing: {layout:?} {places:?}");
            shared.len = table.len();

            // In both ways of loading, whichever this CPU prefers.
            for loads in [Loads::Together, Loads::Singly] {
                let Some(eights) = InEights::of(layout, &table.format, &places, digests.len()) else { break };
                let eights = InEights { loads, ..eights };
                answers.fill(false);
                let whole = eights.contains(table.lines.lines(), digests, &mut answers);
                assert_eq!(answers[..whole], expected[..whole], "{loads:?}: {layout:?} {places:?}");
                let [mut together, mut alone] = [table.try_clone().unwrap(), table.try_clone().unwrap()];
                let whole = eights.remove(&mut together.lines, digests, &mut answers);
                for (digest, answer) in digests.iter().zip(&answers[..whole]) {
                    assert_eq!(*answer, alone.remove(digest.get()), "{loads:?}: {layout:?} {places:?}");
                }
                assert!(together.lines.lines() == alone.lines.lines(), "{loads:?}: {layout:?} {places:?}");
            }

            let mut alone = table.try_clone().unwrap();
            let expected: Vec<bool> = digests.iter().map(|digest| alone.remove(digest.get())).collect();
            table.remove_many(digests, &mut answers);
            assert_eq!(answers, expected, "{layout:?} {places:?}");
            assert_eq!(table.len(), alone.len());
            assert!(table.lines.lines() == alone.lines.lines(), "{layout:?} {places:?}");
            assert_eq!(table.recount(), Some(table.len()), "{layout:?} {places:?}");
        }
    }
    let here = Avx2::detect().and_then(Avx2::avx512).is_some();
    assert_eq!(tables > 100, here, "{tables} tables");
}

#[test]
fn places_are_those_of_each_digest() {
    let Some(avx512) = Avx2::detect().and_then(Avx2::avx512) else { return };
    let mut state = 7;
    for layout in layouts().into_iter().filter(|layout| layout.bucket_bits() <= 128) {
        for buckets in [1, 2, 999, 1 << 20, u64::from(u32::MAX)] {
            let bits = layout.fingerprint_bits();
            for places in [
                Places::new(buckets, 0, bits, bits),
                Places::new((buckets >> 5).max(1), 5.min(buckets.ilog2()), 4, bits),
            ] {
                let grid = Grid::new(layout.bucket_bits());
                assert!(has_places_of_eight(&places), "{places:?}");
                let of_eight = PlacesOfEight::new(avx512, &places, grid);
                let digests: [Digest; 8] = core::array::from_fn(|lane| match lane {
                    0 => Digest::new(0),
                    1 => Digest::new(u64::MAX),
                    _ => Digest::new(random(&mut state)),
                });
                let located = of_eight.first_bits(of_eight.begin(&digests), places.is_first);
                for (lane, digest) in digests.iter().enumerate() {
                    let spot = places.of(digest.get());
                    assert_eq!(located.first.one_by_one()[lane], grid.bit(spot.first));
                    assert_eq!(located.second.one_by_one()[lane], grid.bit(spot.second));
                    assert_eq!(located.fingerprints.one_by_one()[lane], u64::from(spot.fingerprint));
                }
            }
        }
    }
    assert!(!has_places_of_eight(&Places::new(1 << 32, 0, 8, 8)), "too many");
}
