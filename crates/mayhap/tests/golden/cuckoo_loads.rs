//! How full a cuckoo table gets, beside the authors' own.

use std::collections::BTreeMap;

use mayhap::cuckoo::CuckooLayout;
use mayhap::{CuckooFilter, Digest};
use serde_json::Value;

/// With as many kicks as the authors' tables had, in a table of as many places, the first key is refused no earlier than in
/// the worst of them. (Not with one place in a bucket, where chance decides: `docs/maths.md`.)
#[test]
fn tables_get_as_full_as_the_authors() {
    let path = super::directory().join("cuckoo_load_factor.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        assert!(std::env::var_os("MAYHAP_GOLDEN").is_some(), "can't read {}", path.display());
        return;
    };
    let mut worst: BTreeMap<(String, u64, u64), f64> = BTreeMap::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let number = |name: &str| row[name].as_u64().unwrap();
        assert_eq!(number("slots"), SLOTS, "{line}");
        let key = (row["table"].as_str().unwrap().to_owned(), number("b"), number("f_bits"));
        let load = row["load_factor"].as_f64().unwrap();
        worst.entry(key).and_modify(|least| *least = least.min(load)).or_insert(load);
    }
    let mut compared = 0;
    for ((table, entries, bits), least) in worst.into_iter().filter(|((_, entries, _), _)| *entries > 1) {
        let layout = match table.as_str() {
            "single" => CuckooLayout::new(entries as u32, bits as u32),
            "semisorted" => CuckooLayout::semi_sorted(bits as u32),
            other => panic!("a table of kind {other}"),
        };
        let load = load_at_first_failure(layout.unwrap());
        assert!(load >= least, "{table}, b = {entries}, f = {bits}: {load}, the authors' {least}");
        compared += 1;
    }
    assert!(compared >= 12, "{compared} layouts");
}

const SLOTS: u64 = 1 << 20;
const KICKS: u32 = 500;

fn load_at_first_failure(layout: CuckooLayout) -> f64 {
    let buckets = SLOTS / u64::from(layout.entries_per_bucket());
    let mut filter =
        CuckooFilter::builder().layout(layout).buckets(buckets).max_kicks(KICKS).build().unwrap();
    // Any digests will do, as long as all their bits are mixed.
    let mut key = 0u64;
    while filter.insert_hash(next(&mut key, &filter)).is_ok() {}
    filter.load_factor()
}

fn next(key: &mut u64, filter: &CuckooFilter) -> Digest {
    *key += 1;
    filter.hash(key)
}
