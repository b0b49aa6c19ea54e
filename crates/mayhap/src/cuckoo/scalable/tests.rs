//! Growing, removing and compacting beside a map of counts, and the rate through all of it.

use super::*;
use crate::InsertError;
use crate::codec::{File, Header, Writer};
use crate::cuckoo::filter::tests::Random;
use std::collections::HashMap;

fn layouts() -> [Option<CuckooLayout>; 6] {
    [
        None,
        CuckooLayout::new(1, 12),
        CuckooLayout::new(2, 10),
        CuckooLayout::new(4, 12),
        CuckooLayout::new(8, 20),
        CuckooLayout::semi_sorted(13),
    ]
}

fn builder(layout: Option<CuckooLayout>) -> ScalableCuckooBuilder {
    let builder = ScalableCuckoo::builder().keys(40).rate(0.05);
    layout.map_or(builder.clone(), |layout| builder.layout(layout))
}

fn lines(filter: &ScalableCuckoo) -> Vec<Vec<[u64; 8]>> {
    filter.layers.iter().map(|layer| layer.table.lines().iter().map(|block| block.0).collect()).collect()
}

#[test]
fn a_map_of_counts_agrees_through_growth_removal_and_compaction() {
    for layout in layouts() {
        for (seed, expansion) in [(1, 2), (2, 4), (3, 1), (4, 2)] {
            let mut filter = builder(layout).expansion(expansion).max_layers(30).seed(seed).build().unwrap();
            let mut random = Random(seed);
            let mut model: HashMap<u64, u64> = HashMap::new();
            let (mut len, mut most_layers, mut dropped) = (0, 0, 0);
            for step in 0..12_000 {
                let key = random.below(1_500);
                let digest = filter.hash(&key);
                // Waves of mostly adding and mostly removing.
                let adding = if step / 2_000 % 2 == 0 { 70 } else { 5 };
                match random.below(100) {
                    chance if chance < adding => {
                        let was_there = filter.contains_hash(digest);
                        match filter.insert_hash(digest) {
                            Ok(new) => {
                                assert_eq!(new, !was_there);
                                *model.entry(key).or_default() += 1;
                                len += 1;
                            }
                            Err(InsertError::TooManyCopies { limit }) => {
                                assert!(filter.count_hash(digest) >= limit);
                            }
                            // Thirty even layers of 40 keys are less than comes.
                            Err(error) => assert!(
                                expansion == 1 && matches!(error, InsertError::TooManyLayers { .. }),
                                "{error}"
                            ),
                        }
                    }
                    chance if chance < 92 => {
                        if model.get(&key).is_some_and(|count| *count > 0) {
                            assert!(filter.remove_hash(digest), "it was added");
                            *model.entry(key).or_default() -= 1;
                            len -= 1;
                        }
                    }
                    _ => {
                        let before = filter.layers.len();
                        filter.compact_step(random.below(400));
                        dropped += before - filter.layers.len();
                    }
                }
                most_layers = most_layers.max(filter.layers.len());
                assert_eq!(filter.len(), len);
                if step % 400 == 0 {
                    for (key, count) in &model {
                        assert!(filter.count(key) >= *count, "{layout:?}, seed {seed}, step {step}");
                        assert!(*count == 0 || filter.contains(key), "{layout:?}, seed {seed}, step {step}");
                    }
                    assert!(filter.layers.iter().all(|layer| layer.table.check().is_ok()));
                    assert!(filter.layers.iter().all(|layer| layer.table.len() <= layer.capacity));
                    assert!(!filter.is_over_plan());
                }
            }
            // In buckets of one place little fits, so that older layers have no room for what a newer one holds.
            let fits = layout.is_none_or(|layout| layout.entries_per_bucket() > 1);
            assert!(
                most_layers > 2 && (dropped > 0 || !fits),
                "{layout:?}: {most_layers} layers, {dropped} dropped"
            );
            // Everything that was added can be removed, and then nothing is left.
            for (key, count) in &model {
                for _ in 0..*count {
                    assert!(filter.remove(key));
                }
            }
            assert!(filter.is_empty());
            filter.compact();
            assert_eq!(filter.layers.len(), 1);
            assert!(lines(&filter).iter().flatten().flatten().all(|word| *word == 0));
        }
    }
}

/// Of these layouts large tables take ever less of their places, so that fewer bits would do for the rate of a later layer.
#[test]
fn fingerprints_never_become_shorter() {
    for (entries, bits, keys, rate, expansion) in [
        (1, 4, 1, 0.01, 4),
        (1, 9, 1, 0.001, 2),
        (1, 9, 2, 0.001, 16),
        (2, 4, 13, 0.2, 4),
        (2, 4, 50, 0.2, 16),
    ] {
        let layout = CuckooLayout::new(entries, bits).unwrap();
        let builder = ScalableCuckoo::builder().keys(keys).rate(rate).layout(layout).expansion(expansion);
        let mut filter = builder.build().unwrap();
        let added: Vec<u32> =
            (0..3_000).filter(|key| filter.layer_count() < 6 && filter.insert(key).is_ok()).collect();
        let bits: Vec<_> = filter.layers().iter().map(|layer| layer.layout.fingerprint_bits()).collect();
        assert!(bits.len() > 2 && bits.is_sorted(), "{layout:?}: {bits:?}");
        let mut read = ScalableCuckoo::from_bytes(&filter.to_bytes().unwrap()).unwrap();
        assert!(read == filter);
        // Those of the newer layers first, in whose place the older ones then move.
        for key in added.iter().rev() {
            assert!(filter.contains(key) && filter.remove(key), "{layout:?}: {key}");
            filter.compact_step(1);
        }
        assert!(filter.is_empty());
        // A layer that was dropped comes back as it was.
        for key in &added {
            assert!(read.remove(key), "{layout:?}: {key}");
        }
        read.compact();
        for key in &added {
            read.insert(key).unwrap();
        }
        let again: Vec<_> = read.layers().iter().map(|layer| layer.layout.fingerprint_bits()).collect();
        assert_eq!(again, bits, "{layout:?}");
    }
}

#[test]
fn the_rate_stays_below_the_promise_through_growth_and_compaction() {
    let measured = |filter: &ScalableCuckoo, random: &mut Random| {
        let asked = 400_000;
        let digests: Vec<Digest> = (0..asked).map(|_| Digest::new(random.next())).collect();
        let mut found = std::vec![false; digests.len()];
        filter.contains_hashes(&digests, &mut found);
        found.iter().filter(|found| **found).count() as f64 / f64::from(asked)
    };
    for (keys, rate) in [(10_000, 0.01), (100, 0.03), (1, 0.1)] {
        let mut filter = ScalableCuckoo::with_rate(keys, rate).unwrap();
        let mut random = Random(keys);
        let mut digests = Vec::new();
        for round in 0..4 {
            while digests.len() < 300_000 {
                let digest = Digest::new(random.next());
                filter.insert_hash(digest).unwrap();
                digests.push(digest);
            }
            let (now, expected) = (measured(&filter, &mut random), filter.expected_rate());
            // Five standard deviations, and what the keys in the filter make of it.
            let tolerance = 5.0 * (expected / 400_000.0).sqrt() + 0.02 * expected;
            assert!((now - expected).abs() < tolerance, "{now}, expected {expected}");
            assert!(now <= rate, "round {round}: {now} of {rate}");
            // Any of them, so that every layer keeps some.
            for last in (1..digests.len() as u64).rev() {
                digests.swap(last as usize, random.below(last + 1) as usize);
            }
            for digest in digests.split_off(10_000 << round) {
                assert!(filter.remove_hash(digest));
            }
            let before = filter.len_bytes();
            filter.compact();
            assert!(filter.len_bytes() < before);
            assert!(digests.iter().all(|digest| filter.contains_hash(*digest)));
            let now = measured(&filter, &mut random);
            assert!(now <= rate, "round {round}, compacted: {now} of {rate}");
        }
    }
}

#[test]
fn memory_stays_near_that_of_one_filter() {
    // 10 000 reserved and a million come.
    let mut filter = ScalableCuckoo::with_rate(10_000, 0.01).unwrap();
    let mut random = Random(5);
    for _ in 0..1_000_000 {
        filter.insert_hash(Digest::new(random.next())).unwrap();
    }
    let bits = filter.len_bytes() as f64 * 8.0 / 1e6;
    assert!(bits < 21.0 && filter.layers.len() <= 7, "{bits} bits a key in {} layers", filter.layers.len());
}

#[test]
fn errors_change_nothing() {
    let mut random = Random(3);
    for layout in layouts() {
        let mut filter = builder(layout).max_layers(3).build().unwrap();
        let mut failures = 0;
        while failures < 20 {
            let before = lines(&filter);
            if let Err(error) = filter.insert_hash(Digest::new(random.next())) {
                assert_eq!(error, InsertError::TooManyLayers { limit: 3 });
                assert!(lines(&filter) == before, "{layout:?}");
                failures += 1;
            }
        }
        // A limit of memory is one, too.
        let first = builder(layout).plan().unwrap().bytes();
        let limit = first + first / 2;
        let mut filter = builder(layout).max_bytes(limit).build().unwrap();
        let mut before = lines(&filter);
        let refused = loop {
            match filter.insert_hash(Digest::new(random.next())) {
                Ok(_) => before = lines(&filter),
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, InsertError::TooLarge { limit: most, .. } if most == limit), "{refused}");
        assert!(filter.len_bytes() <= limit && lines(&filter) == before, "{layout:?}");
        assert!(builder(layout).max_bytes(10).build().is_err());
        // There are no more copies than two buckets have places, in a filter of any size.
        let mut filter = builder(layout).build().unwrap();
        let limit = u64::from(2 * filter.layout().entries_per_bucket());
        for copies in 0..limit {
            assert_eq!(filter.insert("apple"), Ok(copies == 0));
        }
        let before = lines(&filter);
        assert_eq!(filter.insert("apple"), Err(InsertError::TooManyCopies { limit }));
        assert!(lines(&filter) == before && filter.layers.len() == 1, "{layout:?}");
    }
}

#[test]
fn growth_ends_where_the_rate_is_spent() {
    // Just above the lowest rate there is for so many keys, and in layouts of every size.
    for layout in layouts() {
        let choices = |rate| {
            let builder = ScalableCuckoo::builder().keys(20).rate(rate).expansion(4);
            layout.map_or(builder.clone(), |layout| {
                builder.layout(layout.with_bits(CuckooLayout::MAX_BITS).unwrap())
            })
        };
        let lowest = lowest_rate(&choices(1e-12));
        assert!(lowest > 1e-11 && lowest < 1e-6, "{layout:?}: {lowest}");
        let mut filter = choices(lowest).build().unwrap();
        let mut random = Random(9);
        while filter.insert_hash(Digest::new(random.next())).is_ok() {}
        for _ in 0..20 {
            let before = lines(&filter);
            assert_eq!(
                filter.insert_hash(Digest::new(random.next())),
                Err(InsertError::RateSpent),
                "{layout:?}"
            );
            assert!(lines(&filter) == before, "{layout:?}");
        }
        let first = filter.layers()[0].buckets;
        let buckets: u64 = filter.layers().iter().map(|layer| layer.buckets).sum();
        assert!(buckets >= 100 * first && !filter.is_over_plan(), "{layout:?}: {buckets} of {first}");
        // It is no more by being written and read.
        let mut read = ScalableCuckoo::from_bytes(&filter.to_bytes().unwrap()).unwrap();
        assert_eq!(read.insert_hash(Digest::new(random.next())), Err(InsertError::RateSpent));
    }
}

/// The rate that the error for this one advises.
fn lowest_rate(builder: &ScalableCuckooBuilder) -> f64 {
    match builder.plan() {
        Err(crate::sizing::SizingError::RateOutOfReach { lowest, .. }) => lowest,
        other => panic!("{other:?}"),
    }
}

#[test]
fn rates_that_forbid_growth_are_refused_and_the_advice_can_be_followed() {
    let with = |keys, rate| ScalableCuckoo::builder().keys(keys).rate(rate);
    for keys in [1, 10, 1_000, 1_000_000, 100_000_000] {
        for rate in [1e-8, 1e-9, 1e-15] {
            let lowest = lowest_rate(&with(keys, rate));
            // What the documentation says.
            let most = if keys <= 1_000_000 { 3.3e-8 } else { 3.9e-8 };
            assert!(lowest < most && (keys < 1_000 || lowest > 3e-8), "{keys}: {lowest}");
            let advised = std::format!("{lowest:.2e}").parse().unwrap();
            assert!(with(keys, advised).plan().is_ok(), "{keys}, {rate}: {lowest}");
            assert!(with(keys, advised * 0.95).plan().is_err(), "{keys}, {rate}: {lowest}");
        }
        // One that never grows has all of its rate to itself.
        assert!(with(keys, 1e-9).max_layers(1).plan().is_ok());
        // Fewer layers need less.
        assert!(lowest_rate(&with(keys, 1e-9).max_layers(2)) < lowest_rate(&with(keys, 1e-9)));
        for expansion in [1, 4, 64] {
            let lowest = lowest_rate(&with(keys, 1e-12).expansion(expansion));
            assert!(with(keys, lowest).expansion(expansion).plan().is_ok(), "{keys}, {expansion}: {lowest}");
        }
    }
    // What the documentation says of the lowest everyday rates.
    let filter = with(1_000, 1e-6).build().unwrap();
    let bits = filter.layout().fingerprint_bits();
    assert!((0..24).all(|number| filter.settings.design(number, bits).is_ok()));
    let message = std::format!("{}", with(1 << 60, 0.01).plan().unwrap_err());
    assert!(message.contains("too many for 64-bit digests; plan for fewer keys"), "{message}");
    let message = std::format!("{}", with(1_000, 1e-8).plan().unwrap_err());
    assert!(message.contains("1000 keys") && message.contains("use a ScalableBloom"), "{message}");
    let message = std::format!("{}", ScalableCuckoo::builder().build().unwrap_err());
    assert!(message.contains("give the number of keys"), "{message}");
}

#[test]
fn compaction_gets_on_though_it_is_saved_and_read_between_steps() {
    for layout in layouts() {
        let mut filter = builder(layout).build().unwrap();
        let mut random = Random(21);
        let digests: Vec<Digest> = (0..2_000).map(|_| Digest::new(random.next())).collect();
        for digest in &digests {
            filter.insert_hash(*digest).unwrap();
        }
        for digest in &digests[20..] {
            assert!(filter.remove_hash(*digest));
        }
        let mut whole = filter.clone();
        whole.compact();
        let mut steps = 0;
        while filter.compact_step(1) {
            steps += 1;
            assert!(steps < 20_000, "{layout:?}: {} layers are left", filter.layers.len());
            if steps % 7 == 0 {
                filter = ScalableCuckoo::from_bytes(&filter.to_bytes().unwrap()).unwrap();
            } else if steps % 3 == 0 {
                filter = filter.clone();
            }
        }
        assert!(digests[..20].iter().all(|digest| filter.contains_hash(*digest)));
        assert_eq!(filter.layers.len(), whole.layers.len(), "{layout:?}");
    }
}

/// A file may promise what its first layer can't keep. It is one all the same, and so is that of an empty filter like it.
#[test]
fn an_empty_filter_is_like_the_first_layer_whatever_the_file_promises() {
    let mut filter = builder(None).build().unwrap();
    filter.insert("apple").unwrap();
    let bytes = filter.to_bytes().unwrap();
    let file = File::parse(&bytes).unwrap();
    for (planned_keys, planned_rate) in [(1, 0.9), (40, 1e-9), (1_000_000, 0.05), (u64::MAX, 1e-300)] {
        let header = Header { planned_keys, planned_rate, ..file.header().clone() };
        let mut writer = Writer::to_vec(&header).unwrap();
        writer.write_body(file.section(0).unwrap()).unwrap();
        let read = ScalableCuckoo::from_bytes(&writer.finish().unwrap()).unwrap();
        let empty = read.empty_like().unwrap();
        assert_eq!((empty.layout(), empty.capacity()), (filter.layout(), filter.capacity()));
        assert!(ScalableCuckoo::from_bytes(&empty.to_bytes().unwrap()).unwrap() == empty);
        filter.clear();
        assert!(empty == filter);
    }
}

#[test]
fn batches_are_what_single_calls_are() {
    let (mut one, mut many) = (builder(None).build().unwrap(), builder(None).build().unwrap());
    let mut random = Random(11);
    let digests: Vec<Digest> =
        (0..5_000).map(|_| Digest::new(random.below(3_000).wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    let mut answers = std::vec![false; digests.len()];
    many.insert_hashes(&digests, &mut answers).unwrap();
    assert!(digests.iter().zip(&answers).all(|(digest, new)| one.insert_hash(*digest) == Ok(*new)));
    assert!(one == many);
    let asked: Vec<Digest> =
        (0..10_000).map(|number| Digest::new(u64::wrapping_mul(number / 2, 0x9e37_79b9_7f4a_7c15))).collect();
    let mut answers = std::vec![true; asked.len()];
    many.contains_hashes(&asked, &mut answers);
    assert!(asked.iter().zip(&answers).all(|(digest, found)| one.contains_hash(*digest) == *found));
    many.remove_hashes(&asked, &mut answers);
    assert!(asked.iter().zip(&answers).all(|(digest, removed)| one.remove_hash(*digest) == *removed));
    assert!(one == many && one.clone() == many);
    one.clear();
    assert!(one == many.empty_like().unwrap());
}

#[test]
fn a_refusal_does_not_end_a_batch() {
    let mut random = Random(12);
    let pool: Vec<Digest> = (0..100).map(|_| Digest::new(random.next())).collect();
    let copies = std::iter::repeat_n(pool[0], 20);
    let digests: Vec<Digest> = copies.chain((0..400).map(|_| pool[random.below(100) as usize])).collect();
    for unique in [true, false] {
        let (mut one, mut many) =
            (builder(None).max_layers(1).build().unwrap(), builder(None).max_layers(1).build().unwrap());
        let mut answers = std::vec![Ok(false); digests.len()];
        if unique {
            many.try_insert_unique_hashes(&digests, &mut answers);
        } else {
            many.try_insert_hashes(&digests, &mut answers);
        }
        for (digest, answer) in digests.iter().zip(&answers) {
            let single = if unique { one.insert_unique_hash(*digest) } else { one.insert_hash(*digest) };
            assert_eq!(single, *answer);
        }
        let refused = answers.iter().position(Result::is_err).unwrap();
        assert!(answers[refused..].iter().any(Result::is_ok), "later ones are still tried");
        assert!(one == many && one.layer_count() == 1);
    }
    // More may be allowed later.
    let mut filter = builder(None).max_bytes(1_000).build().unwrap();
    while filter.insert_hash(Digest::new(random.next())).is_ok() {}
    filter.set_max_bytes(None);
    assert_eq!(filter.insert_hash(Digest::new(random.next())), Ok(true));
}

#[test]
fn what_can_not_be_is_refused() {
    use crate::sizing::SizingError;
    let plan = |keys, rate| ScalableCuckoo::builder().keys(keys).rate(rate).plan();
    assert_eq!(plan(0, 0.01), Err(SizingError::ZeroKeys));
    assert!(matches!(plan(10, 0.0), Err(SizingError::RateOutOfRange { .. })));
    assert!(matches!(plan(10, 1e-19), Err(SizingError::RateOutOfReach { .. })));
    // A layer's part of the lowest number that there is is 0.
    assert!(matches!(plan(10, 5e-324), Err(SizingError::RateOutOfReach { asked: 5e-324, .. })));
    assert!(matches!(ScalableCuckoo::builder().keys(1).expansion(0).plan(), Err(SizingError::ZeroExpansion)));
    let even = ScalableCuckoo::builder().keys(10).expansion(1).build().unwrap();
    assert_eq!(even.expansion(), 1);
    assert_eq!(ScalableCuckoo::builder().keys(10).expansion(5).build().unwrap().expansion(), 8);
}

/// However many layers there are: a filter that grows evenly may have a thousand.
#[test]
fn what_is_printed_of_it_is_short() {
    let mut filter = ScalableCuckoo::builder().keys(1).expansion(1).build().unwrap();
    (0..2_000_u32).for_each(|number| drop(filter.insert(&number)));
    let printed = std::format!("{filter:?}");
    assert!(filter.layer_count() > 20 && printed.len() < 300, "{printed}");
}
