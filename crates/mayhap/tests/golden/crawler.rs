//! The crawler's filter.

use mayhap::formats::crawler::CrawlerBloom;

use crate::Check;
use crate::case::Case;

pub(crate) const FILES: &[(&str, Check)] = &[("crawler_fnv", filter)];

fn filter(case: &mut Case) {
    case.note(&["id"]);
    let (hashes, bits) = (case.number("k") as u32, case.number("m"));
    let keys = case.keys("keys").bytes();
    let mut filter = CrawlerBloom::new(hashes, bits).unwrap();
    assert_eq!((filter.hashes(), filter.bits()), (hashes, bits));

    let positions: Vec<Vec<u64>> =
        serde_json::from_value(case.value("positions_of_first_keys").clone()).unwrap();
    for (key, expected) in keys.iter().zip(&positions) {
        assert_eq!(filter.positions(key).collect::<Vec<_>>(), *expected);
    }
    assert!(positions.len() <= keys.len());

    let mut rates: Vec<(u64, f64)> =
        case.value("false_positive_rate").as_array().unwrap().iter().map(rate).collect();
    rates.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
    let mut reached = |filter: &CrawlerBloom| {
        while let Some((_, expected)) = rates.pop_if(|(n, _)| *n == filter.insertions()) {
            let ours = filter.false_positive_rate();
            let off = (ours - expected).abs();
            assert!(
                off <= 1e-13 * expected,
                "{ours:e}, not {expected:e}, after {} keys",
                filter.insertions()
            );
        }
    };
    reached(&filter);
    for key in &keys {
        let known = filter.contains(key);
        assert_eq!(filter.insert(key), !known);
        reached(&filter);
    }
    assert_eq!(rates, [], "rates for numbers of keys that were never reached");
    assert!(keys.iter().all(|key| filter.contains(key)));

    let bytes = filter.to_bitmap().unwrap();
    let set: Vec<u64> = (0..bits).filter(|p| bytes[(p / 8) as usize] >> (p % 8) & 1 == 1).collect();
    let expected: Vec<u64> = serde_json::from_value(case.value("set_indices").clone()).unwrap();
    assert_eq!(set, expected);
    assert_eq!(filter.bits_set(), case.number("set_count"));

    let probes = case.keys("probes").bytes();
    let expected = case.answers("probe_answers");
    assert_eq!(probes.len(), expected.len());
    let answers: Vec<bool> = probes.iter().map(|probe| filter.contains(probe)).collect();
    assert_eq!(answers, expected);
    assert_eq!(answers.iter().filter(|yes| **yes).count() as u64, case.number("false_positives"));

    // The bitmap comes back, in memory and in place, and in batches everything is the same.
    let again = CrawlerBloom::from_bitmap(&bytes, hashes, bits, filter.insertions()).unwrap();
    let view = CrawlerBloom::view_bitmap(&bytes, hashes, bits, filter.insertions()).unwrap();
    assert!(again == filter && view == filter);
    assert_eq!(again.to_bitmap().unwrap(), bytes);
    assert_eq!(view.to_bitmap().unwrap(), bytes);
    assert_eq!(again.false_positive_rate().to_bits(), filter.false_positive_rate().to_bits());
    let mut found = vec![false; probes.len()];
    view.contains_each(&probes, &mut found);
    assert_eq!(found, expected);
    let mut batch = CrawlerBloom::new(hashes, bits).unwrap();
    batch.insert_each(&keys, &mut vec![false; keys.len()]);
    assert!(batch == filter && batch.insertions() == filter.insertions());
}

fn rate(value: &serde_json::Value) -> (u64, f64) {
    let bits = u64::from_str_radix(value["bits"].as_str().unwrap(), 16).unwrap();
    let rate = f64::from_bits(bits);
    assert_eq!(value["value"].as_str().unwrap().parse::<f64>().unwrap(), rate);
    (value["n"].as_u64().unwrap(), rate)
}
