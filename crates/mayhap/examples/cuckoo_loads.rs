//! How full a cuckoo table gets before an insert fails: the figures that `sizing::cuckoo` rests on.
//!
//! ```text
//! cargo run --release --example cuckoo_loads             loads at first failure, 2^20 places, a minute
//! cargo run --release --example cuckoo_loads -- large    the same with 2^26 places and short fingerprints, minutes
//! cargo run --release --example cuckoo_loads -- small    small tables: the entries that fit in all but one of 10 000
//! cargo run --release --example cuckoo_loads -- plans    tables as `sizing` plans them: how often the keys don't fit
//! cargo run --release --example cuckoo_loads -- churn    the same while keys come and go: how often one doesn't fit
//! ```

use mayhap::cuckoo::CuckooLayout;
use mayhap::{CuckooFilter, Digest};

fn main() {
    match std::env::args().nth(1).as_deref() {
        None => first_failures(1 << 20, 5),
        Some("large") => first_failures(1 << 26, 1),
        Some("small") => small_tables(),
        Some("plans") => plans(),
        Some("churn") => churn(),
        Some(other) => println!("unknown: {other}"),
    }
}

/// Digests, by SplitMix64: all different for one seed.
struct Digests(u64);

impl Digests {
    /// Streams of different seeds don't meet within 2^40 digests.
    fn new(seed: u64) -> Self {
        Self(seed << 40)
    }

    fn next(&mut self) -> Digest {
        self.0 += 1;
        let mut x = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Digest::new(x ^ x >> 31)
    }
}

fn first_failures(slots: u64, seeds: u64) {
    println!("places {slots}, 500 kicks, {seeds} seeds: load at the first failure, mean (lowest)");
    println!("places in a bucket | fingerprint bits: loads");
    let bits: &[u32] =
        if slots > 1 << 22 { &[4, 5, 6, 7, 8] } else { &[4, 5, 6, 7, 8, 9, 10, 12, 13, 16, 17] };
    for (name, entries) in [("1", 1), ("2", 2), ("4", 4), ("8", 8), ("4 semi-sorted", 0)] {
        print!("{name} |");
        for bits in bits {
            let layout = if entries == 0 {
                CuckooLayout::semi_sorted(*bits)
            } else {
                CuckooLayout::new(entries, *bits)
            };
            let Some(layout) = layout else { continue };
            let loads: Vec<f64> =
                (1..=seeds).map(|seed| load_at_first_failure(layout, slots, seed)).collect();
            let mean = loads.iter().sum::<f64>() / loads.len() as f64;
            let lowest = loads.iter().copied().fold(1.0, f64::min);
            print!(" {bits}: {mean:.3} ({lowest:.3})");
        }
        println!();
    }
}

fn load_at_first_failure(layout: CuckooLayout, slots: u64, seed: u64) -> f64 {
    let buckets = slots / u64::from(layout.entries_per_bucket());
    let mut filter =
        CuckooFilter::builder().layout(layout).buckets(buckets).build().expect("it fits into memory");
    let mut digests = Digests::new(seed);
    while filter.insert_hash(digests.next()).is_ok() {}
    filter.load_factor()
}

fn small_tables() {
    println!("places in a bucket | buckets: entries that fit in all but one of 10 000 tables (of places)");
    for entries in [1, 2, 4, 8] {
        print!("{entries} |");
        let layout = CuckooLayout::new(entries, 20).expect("a layout");
        for buckets in [
            1u64, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 130, 160, 200, 260, 400, 700,
        ] {
            let tables = (20_000_000 / (buckets * u64::from(entries))).clamp(10_000, 100_000);
            let mut filter =
                CuckooFilter::builder().layout(layout).buckets(buckets).build().expect("it fits into memory");
            let mut fitting: Vec<u64> = (0..tables)
                .map(|seed| {
                    filter.clear();
                    let mut digests = Digests::new(seed);
                    while filter.insert_hash(digests.next()).is_ok() {}
                    filter.len()
                })
                .collect();
            fitting.sort_unstable();
            print!(
                "{buckets}: {} ({})  ",
                fitting[usize::try_from(tables / 10_000).expect("it is small")],
                filter.capacity_slots()
            );
        }
        println!();
    }
}

fn plans() {
    println!("keys | rate: tables in which the planned keys did not fit, of how many; load, bits a key");
    for keys in [
        1u64, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000,
        1_000_000,
    ] {
        print!("{keys} |");
        for rate in [0.1, 0.03, 0.01, 0.001, 1e-4, 1e-6] {
            let mut filter = CuckooFilter::with_rate(keys, rate).expect("it fits into memory");
            let tables = (30_000_000 / keys).clamp(10, 100_000);
            let mut failures = 0;
            for seed in 0..tables {
                filter.clear();
                let mut digests = Digests::new(seed);
                failures += u32::from((0..keys).any(|_| filter.insert_hash(digests.next()).is_err()));
            }
            let load = keys as f64 / filter.capacity_slots() as f64;
            let bits = filter.len_bytes() as f64 * 8.0 / keys as f64;
            print!(
                " {rate}: {failures} of {tables} (b {} f {}, {load:.3}, {bits:.2});",
                filter.layout().entries_per_bucket(),
                filter.layout().fingerprint_bits()
            );
        }
        println!();
    }
}

/// Tables kept at their planned number of keys, while one at random goes and another comes, twenty times over.
fn churn() {
    println!("keys | rate: keys that were refused, of all that came");
    for keys in [10u64, 100, 1_000, 10_000, 100_000, 1_000_000] {
        print!("{keys} |");
        for rate in [0.5, 0.1, 0.03, 0.01, 0.001, 1e-6] {
            let mut filter = CuckooFilter::with_rate(keys, rate).expect("it fits into memory");
            let (mut digests, mut present) = (Digests::new(keys), Vec::new());
            while (present.len() as u64) < keys {
                let digest = digests.next();
                if filter.insert_hash(digest).is_ok() {
                    present.push(digest);
                }
            }
            let (came, mut refused) = ((20 * keys).max(10_000_000), 0u64);
            for _ in 0..came {
                let place = usize::try_from(digests.next().get() % keys).expect("a place in the list");
                assert!(filter.remove_hash(present[place]), "a key that was added is there");
                present[place] = digests.next();
                while filter.insert_hash(present[place]).is_err() {
                    refused += 1;
                    present[place] = digests.next();
                }
            }
            assert!(present.iter().all(|digest| filter.contains_hash(*digest)), "no key is lost");
            print!(" {rate}: {refused} of {came};");
        }
        println!();
    }
}
