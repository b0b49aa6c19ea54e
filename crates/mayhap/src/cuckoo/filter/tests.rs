//! Full tables, errors that change nothing, and a map of counts beside the filter.

use super::*;
use crate::InsertError;
use std::collections::HashMap;
use std::vec::Vec;

/// A stream of digests, by SplitMix64.
pub(in crate::cuckoo) struct Random(pub(in crate::cuckoo) u64);

impl Random {
    pub(in crate::cuckoo) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    pub(in crate::cuckoo) fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(count)) >> 64) as u64
    }
}

fn layouts() -> Vec<CuckooLayout> {
    let packed = [1, 2, 4, 8]
        .into_iter()
        .flat_map(|b| [4, 7, 8, 12, 13, 16, 17, 21, 32].map(|f| CuckooLayout::new(b, f)));
    packed.chain([5, 8, 9, 13, 17, 18, 25, 32].map(CuckooLayout::semi_sorted)).flatten().collect()
}

fn filter(layout: CuckooLayout, buckets: u64) -> CuckooFilter {
    CuckooFilter::builder().layout(layout).buckets(buckets).build().unwrap()
}

fn lines(filter: &CuckooFilter) -> Vec<[u64; 8]> {
    filter.table.lines().iter().map(|block| block.0).collect()
}

#[test]
fn a_full_table_has_every_key_and_gives_every_one_back() {
    for layout in layouts() {
        for buckets in [1, 2, 3, 50, 999] {
            let mut filter = filter(layout, buckets);
            let mut random = Random(buckets ^ u64::from(layout.bucket_bits()) << 32);
            let mut digests = Vec::new();
            let mut failures = 0;
            // Past the first failure: others still find room. Every failure leaves every byte as it was.
            while failures < 20 {
                let digest = Digest::new(random.next());
                let (before, len) = (lines(&filter), filter.len());
                match filter.insert_hash(digest) {
                    Ok(_) => digests.push(digest),
                    Err(InsertError::Full | InsertError::TooManyCopies { .. }) => {
                        failures += 1;
                        assert!(lines(&filter) == before && filter.len() == len, "{layout:?}");
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            assert_eq!(filter.len(), digests.len() as u64);
            assert_eq!(filter.table.recount(), Some(filter.len()));
            for digest in &digests {
                assert!(filter.contains_hash(*digest) && filter.count_hash(*digest) > 0, "{layout:?}");
            }
            let mut found = std::vec![false; digests.len()];
            filter.contains_hashes(&digests, &mut found);
            assert!(found.iter().all(|found| *found));
            // Half one by one, half together, in another order than they came.
            let half = digests.len() / 2;
            for digest in &digests[half..] {
                assert!(filter.remove_hash(*digest), "{layout:?}");
            }
            for digest in &digests[..half] {
                assert!(filter.contains_hash(*digest), "{layout:?}");
            }
            filter.remove_hashes(&digests[..half], &mut found[..half]);
            assert!(found[..half].iter().all(|removed| *removed));
            assert!(filter.is_empty());
            assert!(
                lines(&filter).iter().flatten().all(|word| *word == 0),
                "{layout:?}: remove all, and nothing is left"
            );
        }
    }
}

#[test]
fn copies_are_capped_with_an_error_of_their_own() {
    for layout in layouts() {
        let mut filter = filter(layout, 1_000);
        let limit = u64::from(2 * layout.entries_per_bucket());
        let digest = Digest::new(0x0123_4567_89ab_cdef);
        for copies in 0..limit {
            assert_eq!(filter.count_hash(digest), copies);
            assert_eq!(filter.insert_hash(digest), Ok(copies == 0));
        }
        let before = lines(&filter);
        assert_eq!(filter.insert_hash(digest), Err(InsertError::TooManyCopies { limit }));
        assert_eq!(filter.insert_unique_hash(digest), Ok(false));
        assert!(lines(&filter) == before && filter.len() == limit);
        assert!(filter.remove_hash(digest));
        assert_eq!(filter.insert_hash(digest), Ok(false));
    }
}

#[test]
fn no_kicks_means_two_buckets_and_no_more() {
    let layout = CuckooLayout::new(4, 16).unwrap();
    let mut refuses = CuckooFilter::builder().layout(layout).buckets(1_000).max_kicks(0).build().unwrap();
    let mut kicks = filter(layout, 1_000);
    let fill = |filter: &mut CuckooFilter| {
        let mut random = Random(1);
        while filter.insert_hash(Digest::new(random.next())).is_ok() {}
        filter.load_factor()
    };
    let (without, with) = (fill(&mut refuses), fill(&mut kicks));
    assert!(without < 0.85 && with > 0.9, "{without} {with}");
}

#[test]
fn batches_are_what_single_calls_are() {
    for layout in layouts() {
        // Large enough to be prefetched, and small.
        for buckets in [100, 40_000] {
            let mut random = Random(7);
            let count = buckets * u64::from(layout.entries_per_bucket()) / 3;
            let digests: Vec<Digest> =
                (0..count).map(|_| Digest::new(random.next() >> random.below(2) << 1)).collect();
            let (mut one, mut many) = (filter(layout, buckets), filter(layout, buckets));
            let mut new = std::vec![false; digests.len()];
            let outcome = many.insert_hashes(&digests, &mut new);
            let single: Result<Vec<bool>, InsertError> =
                digests.iter().map(|digest| one.insert_hash(*digest)).collect();
            assert_eq!(outcome, single.as_ref().map(|_| ()).map_err(Clone::clone));
            if let Ok(single) = single {
                assert_eq!(single, new);
            }
            assert!(one == many && one.len() == many.len());
            let asked: Vec<Digest> =
                digests.iter().copied().chain((0..1000).map(|_| Digest::new(random.next()))).collect();
            let mut answers = std::vec![false; asked.len()];
            many.contains_hashes(&asked, &mut answers);
            assert!(asked.iter().zip(&answers).all(|(digest, answer)| one.contains_hash(*digest) == *answer));
            many.remove_hashes(&asked, &mut answers);
            assert!(asked.iter().zip(&answers).all(|(digest, answer)| one.remove_hash(*digest) == *answer));
            assert!(one == many && one.len() == many.len());
        }
    }
}

#[test]
fn a_map_of_counts_agrees() {
    for layout in layouts() {
        for seed in 0..3 {
            let mut filter = filter(layout, 200);
            let mut random = Random(seed);
            let mut model: HashMap<u64, u64> = HashMap::new();
            let mut len = 0;
            for step in 0..6_000 {
                // Keys come again and again; the filter is full at times.
                let key = random.below(900);
                let digest = filter.hash(&key);
                let before = lines(&filter);
                if random.below(100) < if step < 3_000 { 60 } else { 45 } {
                    let was_there = filter.contains_hash(digest);
                    match filter.insert_hash(digest) {
                        Ok(new) => {
                            assert_eq!(new, !was_there);
                            *model.entry(key).or_default() += 1;
                            len += 1;
                        }
                        Err(_) => assert!(lines(&filter) == before),
                    }
                } else if model.get(&key).is_some_and(|count| *count > 0) {
                    assert!(filter.remove_hash(digest), "it was added");
                    *model.entry(key).or_default() -= 1;
                    len -= 1;
                } else if !filter.contains_hash(digest) {
                    assert!(!filter.remove_hash(digest));
                    assert!(lines(&filter) == before);
                }
                assert_eq!(filter.len(), len);
                if step % 500 == 0 {
                    for (key, count) in &model {
                        assert!(filter.count(key) >= *count, "{layout:?}, seed {seed}");
                        assert!(*count == 0 || filter.contains(key), "{layout:?}, seed {seed}");
                    }
                    assert_eq!(filter.table.recount(), Some(len));
                }
            }
        }
    }
}

#[test]
fn the_measured_rate_is_that_of_the_model() {
    for (layout, load) in [
        (CuckooLayout::new(1, 11), 0.4),
        (CuckooLayout::new(2, 7), 0.8),
        (CuckooLayout::new(4, 8), 0.95),
        (CuckooLayout::new(4, 12), 0.95),
        (CuckooLayout::new(8, 9), 0.97),
        (CuckooLayout::semi_sorted(9), 0.95),
        (CuckooLayout::semi_sorted(13), 0.6),
    ] {
        let mut filter = filter(layout.unwrap(), 30_000);
        let mut random = Random(99);
        while filter.load_factor() < load {
            filter.insert_hash(Digest::new(random.next())).unwrap();
        }
        let asked = 2_000_000;
        let wrong = (0..asked).filter(|_| filter.contains_hash(Digest::new(random.next()))).count() as f64;
        let expected = filter.expected_rate() * f64::from(asked);
        // Five standard deviations of the answers, and one percent for which keys happen to be in the filter.
        let tolerance = 5.0 * expected.sqrt() + 0.01 * expected;
        assert!((wrong - expected).abs() < tolerance, "{layout:?}: {wrong}, expected {expected}");
    }
}

#[test]
fn what_it_says_of_itself() {
    let mut filter = CuckooFilter::with_rate(1_000, 0.01).unwrap();
    assert_eq!((filter.planned_keys(), filter.planned_rate(), filter.max_kicks()), (1_000, 0.01, 500));
    assert!(filter.is_empty() && filter.expected_rate() == 0.0);
    for key in 0..1_000u64 {
        filter.insert(&key).unwrap();
    }
    assert!(!filter.is_over_plan() && filter.expected_rate() <= 0.01 && filter.len() == 1_000);
    let copy = filter.clone();
    assert!(copy == filter && copy.len() == 1_000);
    filter.insert("one more").unwrap();
    assert!(filter.is_over_plan() && copy != filter);
    let empty = filter.empty_like().unwrap();
    filter.clear();
    assert!(empty == filter && filter.is_empty() && !filter.is_over_plan());
    assert!(!std::format!("{filter:?}").contains("[0"));
}

#[test]
fn choices_that_make_no_filter_are_told_what_to_give() {
    let layout = CuckooLayout::new(4, 8).unwrap();
    let builder = CuckooFilter::builder;
    let table = || builder().layout(layout).buckets(100);
    for (choices, says) in [
        (builder().buckets(10), &["how many fingerprints a bucket has", "give a layout"][..]),
        (builder().rate(0.01), &["nothing says how large", "give a number of keys"]),
        (builder().layout(layout), &["nothing says how large", "a layout and a number of buckets"]),
        (table().rate(0.001), &["a rate of 1e-3 is too low for 371 keys", "ask for 2.86e-2", "more buckets"]),
        (table().keys(50).rate(0.001), &["too low for 50 keys in so many buckets", "fewer keys"]),
        (builder().layout(layout).buckets(0), &["the number of buckets can't be 0"]),
        (builder().keys(0), &["at least 1 key"]),
        (builder().keys(1_000).rate(1e-15), &["too low for 1000 keys", "use a Bloom filter"]),
        (builder().bytes(1 << 20).rate(1e-15), &["too low for", "use a Bloom filter"]),
        (builder().layout(layout).keys(1_000).rate(1e-4), &["in a table of this layout", "longer finger"]),
        // Bytes are a limit, and one is named.
        (builder().keys(1_000).bytes(1_000).rate(0.001), &["needs 17", "the limit is 1000"]),
    ] {
        let message = std::format!("{}", choices.plan().unwrap_err());
        assert!(says.iter().all(|words| message.contains(words)), "{message}");
    }
    assert!(table().rate(0.0286).build().is_ok(), "the advice can be followed");
}

#[test]
fn bodies_that_were_never_written_are_refused_and_harmless() {
    for layout in layouts() {
        let mut random = Random(u64::from(layout.bucket_bits()));
        let mut full = filter(layout, 25);
        while full.insert_hash(Digest::new(random.next())).is_ok() {}
        assert!(CuckooFilter::from_bytes(&full.to_bytes().unwrap()).unwrap() == full);

        // A bit more or less in the body than the header says.
        for bit in 0..512 {
            let mut changed = full.clone();
            changed.table.lines_mut()[0].0[bit / 64] ^= 1 << (bit % 64);
            let read = CuckooFilter::from_bytes(&changed.to_bytes().unwrap());
            // One fingerprint may have become another; then nothing is wrong that could be told.
            assert!(read.is_err() || changed.table.recount() == Some(full.len()), "{layout:?}, bit {bit}");
        }
        // Noise: an answer, whatever it is.
        let mut noise = full.clone();
        for block in noise.table.lines_mut() {
            block.0 = core::array::from_fn(|_| random.next());
        }
        for _ in 0..1_000 {
            let digest = Digest::new(random.next());
            assert_eq!(noise.contains_hash(digest), noise.count_hash(digest) > 0);
            let _ = noise.insert_hash(digest);
        }
    }
}
