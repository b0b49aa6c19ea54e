//! How full d-left tables get before they refuse a key, what that costs in bits per key, and how long a question takes.
//!
//! ```text
//! cargo run --release --example d_left_loads              # all tables, a few minutes
//! cargo run --release --example d_left_loads shapes 26    # one of them: shapes, first-refusal, planned, churn, speed
//! ```
//!
//! Prints the tables of `docs/maths.md` and of the page of `d_left`. Seeds are fixed, so that all but the times come out
//! the same every time.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use std::time::Instant;

use mayhap::d_left::Cell;
use mayhap::sizing::d_left;
use mayhap::{DLeftCounting, Digest, Error};

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = arguments.get(1).and_then(|number| number.parse().ok());
    match arguments.first().map(String::as_str) {
        Some("shapes") => shapes(number.unwrap_or(22)),
        Some("first-refusal") => first_refusal()?,
        Some("planned") => planned(number.unwrap_or(50_000_000))?,
        Some("churn") => churn()?,
        Some("speed") => speed(number.unwrap_or(1_000_000))?,
        Some(other) => eprintln!("{other}? One of shapes, first-refusal, planned, churn, speed."),
        None => {
            shapes(16);
            shapes(22);
            first_refusal()?;
            planned(50_000_000)?;
            churn()?;
            speed(1_000_000)?;
            speed(30_000_000)?;
        }
    }
    Ok(())
}

/// Tables of 2^`log2_cells` cells without moves, as loads of buckets alone: each key picks one bucket in each of d
/// subtables at random and takes the emptiest, the leftmost of equal ones.
fn shapes(log2_cells: u64) {
    let seeds = ((1 << 27) >> log2_cells).clamp(3, 200);
    println!(
        "\nLoad at the first refusal without moves, {seeds} tables of 2^{log2_cells} cells; bits per key at the"
    );
    println!("lowest load, for fingerprints of any length and 2-bit counters\n");
    println!(
        "| d | cells in a bucket | mean load | lowest load | 3 % | 1 % | 0.1 % |\n|---|---|---|---|---|---|---|"
    );
    for subtables in [2, 3, 4] {
        for cells in [8, 12, 16, 18, 24, 28, 34, 36, 39, 56] {
            let buckets = ((1 << log2_cells) / (subtables * cells)).max(1);
            let loads: Vec<f64> =
                (0..seeds).map(|seed| load_without_moves(subtables, cells, buckets, seed)).collect();
            let lowest = loads.iter().copied().fold(1.0, f64::min);
            let mean = loads.iter().sum::<f64>() / seeds as f64;
            let bits = |rate: f64| (((subtables * cells) as f64 * lowest / rate).log2() + 2.0) / lowest;
            println!(
                "| {subtables} | {cells} | {mean:.4} | {lowest:.4} | {:.2} | {:.2} | {:.2} |",
                bits(0.03),
                bits(0.01),
                bits(0.001)
            );
        }
    }
}

fn load_without_moves(subtables: u64, cells: u64, buckets: u64, seed: u64) -> f64 {
    let mut random = Random(seed);
    let mut loads = vec![0u8; (subtables * buckets) as usize];
    for keys in 0.. {
        let picks = (0..subtables).map(|subtable| (subtable * buckets + random.below(buckets)) as usize);
        // `min_by_key` returns the first of equal ones.
        let Some(emptiest) = picks.min_by_key(|bucket| loads[*bucket]) else { break };
        if u64::from(loads[emptiest]) == cells {
            return keys as f64 / (subtables * cells * buckets) as f64;
        }
        loads[emptiest] += 1;
    }
    0.0
}

/// Real filters, with their one move, filled until they refuse.
fn first_refusal() -> Result<(), Error> {
    println!("\nReal filters filled until the first refusal\n");
    println!("| rate | planned keys | cell | filters | planned load | mean load | lowest load |");
    println!("|---|---|---|---|---|---|---|");
    for rate in [0.03, 0.01, 0.001] {
        for keys in [100, 1_000, 100_000, 3_000_000, 60_000_000] {
            let filters = (30_000_000 / keys).clamp(2, 10_000);
            let mut loads = Vec::new();
            let plan = DLeftCounting::builder().keys(keys).rate(rate).plan()?;
            for seed in 0..filters {
                let mut filter = DLeftCounting::builder().keys(keys).rate(rate).seed(seed).build()?;
                let mut random = Random(seed);
                while filter.insert_hash(random.digest()).is_ok() {}
                loads.push(filter.fill_ratio());
            }
            println!(
                "| {rate} | {keys} | {} + {} | {filters} | {:.4} | {:.4} | {:.4} |",
                plan.cell().fingerprint_bits(),
                plan.cell().counter_bits(),
                keys as f64 / plan.cells() as f64,
                loads.iter().sum::<f64>() / filters as f64,
                loads.iter().copied().fold(1.0, f64::min)
            );
        }
    }
    Ok(())
}

/// Filters built for n keys that are given n keys: how many refuse one?
fn planned(keys_in_all: u64) -> Result<(), Error> {
    println!("\nFilters that are given the keys they were planned for\n");
    println!("| keys | rate | bits per key | filters | refused a key |\n|---|---|---|---|---|");
    for keys in [1, 2, 10, 68, 69, 100, 130, 200, 1_000, 10_000, 100_000, 1_000_000] {
        for rate in [0.03, 0.01, 0.001] {
            let filters = (keys_in_all / keys).clamp(20, 100_000);
            let plan = DLeftCounting::builder().keys(keys).rate(rate).plan()?;
            let mut filter = DLeftCounting::builder().keys(keys).rate(rate).build()?;
            let mut refused = 0;
            for seed in 0..filters {
                filter.clear();
                let mut random = Random(seed);
                refused += u64::from((0..keys).any(|_| filter.insert_hash(random.digest()).is_err()));
            }
            println!("| {keys} | {rate} | {:.2} | {filters} | {refused} |", plan.bits_per_key());
        }
    }
    Ok(())
}

/// Filters kept at their planned number of keys while random keys are replaced, twenty times over.
fn churn() -> Result<(), Error> {
    println!(
        "\nFilters whose keys are replaced at random, twenty times over, at the planned number of keys\n"
    );
    println!("| keys | rate | replaced | refused |\n|---|---|---|---|");
    for keys in [100, 1_000, 100_000, 1_000_000] {
        for rate in [0.03, 0.01, 0.001, 1e-9] {
            let mut filter = DLeftCounting::with_rate(keys, rate)?;
            let mut random = Random(keys);
            let mut present = Vec::new();
            while present.len() < keys as usize {
                let digest = random.digest();
                if filter.insert_hash(digest).is_ok() {
                    present.push(digest);
                }
            }
            let replaced = (20 * keys).max(2_000_000);
            let mut refused = 0u64;
            for _ in 0..replaced {
                let index = random.below(keys) as usize;
                assert!(filter.remove_hash(present[index]), "a key that was added is there");
                loop {
                    present[index] = random.digest();
                    if filter.insert_hash(present[index]).is_ok() {
                        break;
                    }
                    refused += 1;
                }
            }
            println!("| {keys} | {rate:e} | {replaced} | {refused} |");
        }
    }
    Ok(())
}

/// Nanoseconds per key, for keys one by one and in batches.
fn speed(keys: u64) -> Result<(), Error> {
    println!("\nNanoseconds per key with {keys} keys (digests given), one by one / in batches\n");
    println!("| rate | bits per key | expected rate | measured | insert | hit | miss | count | remove |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for rate in [0.03, 0.01, 0.001] {
        let mut random = Random(1);
        let mut digests = |count: u64| (0..count).map(|_| random.digest()).collect::<Vec<_>>();
        let (present, absent) = (digests(keys), digests(keys));
        let mut answers = vec![false; keys as usize];
        let mut counts = vec![0; keys as usize];
        let mut filter = DLeftCounting::with_rate(keys, rate)?;
        let mut other = filter.empty_like()?;
        let time = |work: &mut dyn FnMut() -> u64| {
            let start = Instant::now();
            let result = work();
            (start.elapsed().as_nanos() as f64 / keys as f64, result)
        };
        let (insert, refused) = time(&mut || {
            present.iter().filter(|digest| filter.insert_hash(**digest).is_err()).count() as u64
        });
        assert_eq!(refused, 0);
        let (insert_batch, _) = time(&mut || other.insert_hashes(&present, &mut answers).map_or(1, |()| 0));
        let (hit, found) =
            time(&mut || present.iter().filter(|digest| filter.contains_hash(**digest)).count() as u64);
        assert_eq!(found, keys);
        let (miss, wrong) =
            time(&mut || absent.iter().filter(|digest| filter.contains_hash(**digest)).count() as u64);
        let (count, _) = time(&mut || present.iter().map(|digest| filter.count_hash(*digest)).sum());
        let mut batch = |digests: &[Digest]| {
            time(&mut || {
                filter.contains_hashes(digests, &mut answers);
                0
            })
            .0
        };
        let (hit_batch, miss_batch) = (batch(&present), batch(&absent));
        let (count_batch, _) = time(&mut || {
            filter.count_hashes(&present, &mut counts);
            0
        });
        let (remove, _) =
            time(&mut || present.iter().filter(|digest| filter.remove_hash(**digest)).count() as u64);
        let (remove_batch, _) = time(&mut || {
            other.remove_hashes(&present, &mut answers);
            0
        });
        let (cell, buckets): (Cell, u64) = (filter.cell(), filter.bucket_count());
        println!(
            "| {rate} | {:.2} | {:.3e} | {:.3e} | {insert:.1} / {insert_batch:.1} | {hit:.1} / {hit_batch:.1} | \
             {miss:.1} / {miss_batch:.1} | {count:.1} / {count_batch:.1} | {remove:.1} / {remove_batch:.1} |",
            filter.len_bytes() as f64 * 8.0 / keys as f64,
            d_left::rate(cell, buckets, keys),
            wrong as f64 / keys as f64,
        );
    }
    Ok(())
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    fn digest(&mut self) -> Digest {
        Digest::new(self.next())
    }
}
