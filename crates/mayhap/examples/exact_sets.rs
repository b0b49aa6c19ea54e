//! Measures what exact sets take in memory, beside a Bloom filter.
//!
//! ```text
//! cargo run --release --example exact_sets
//! cargo run --release --example exact_sets -- 100000000
//! ```
//!
//! Prints the table of `docs/benchmarks.md`: bytes of heap per element, counted by the allocator itself, for 10⁴ to 10⁷
//! elements, or the number given. Memory that comes straight from the operating system (the blocks of a large filter or
//! dense bitmap) is added by the filter's own account. Elements are the same each time. Takes about two minutes.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use std::collections::{BTreeSet, HashSet};
use std::hint::black_box;
use std::sync::atomic::Ordering::Relaxed;

use held::HELD;
use mayhap::{Bitmap, BloomFilter, Error};

#[path = "../tests/held/mod.rs"]
mod held;

/// From this size on the blocks of filters and dense bitmaps come from the operating system, unseen by the allocator.
const FROM_SYSTEM: u64 = 2 << 20;

fn main() -> Result<(), Error> {
    let sizes = match std::env::args().nth(1).and_then(|size| size.parse().ok()) {
        Some(size) => vec![size],
        None => vec![10_000, 100_000, 1_000_000, 10_000_000],
    };
    println!("| set | {} |", sizes.iter().map(|n| format!("{n} elements")).collect::<Vec<_>>().join(" | "));
    println!("|---|{}", "---:|".repeat(sizes.len()));
    for (name, most, set) in sets() {
        let mut row = format!("| {name} |");
        for n in &sizes {
            if *n > most {
                row += " |";
                continue;
            }
            let before = HELD.load(Relaxed);
            let bytes = set(*n)? + HELD.swap(before, Relaxed) - before;
            row += &format!(" {:.2} |", bytes as f64 / *n as f64);
        }
        println!("{row}");
    }
    Ok(())
}

/// Builds a set of so many elements and forgets it, so that its memory stays counted. Returns the bytes that the allocator
/// didn't see.
type Build = Box<dyn Fn(u64) -> Result<i64, Error>>;

/// The sets, each with the most elements it is asked to hold.
fn sets() -> Vec<(&'static str, u64, Build)> {
    const ALL: u64 = u64::MAX;
    /// Strings, trees and maps of 10⁸ elements would take more than 8 GB.
    const FEWER: u64 = 10_000_000;
    let row = |name, most, build: fn(u64) -> Result<i64, Error>| (name, most, Box::new(build) as Build);
    vec![
        row("`HashSet<u64>`, grown", ALL, |n| keep(random(n).collect::<Grown<HashSet<u64>>>())),
        row("`HashSet<u64>::with_capacity`", ALL, |n| {
            let mut set = HashSet::with_capacity(n as usize);
            set.extend(random(n));
            keep(set)
        }),
        row("`HashSet<String>` of 30 bytes, grown", FEWER, |n| {
            keep(random(n).map(text).collect::<Grown<HashSet<String>>>())
        }),
        row("`HashSet<String>::with_capacity`", FEWER, |n| {
            let mut set = HashSet::with_capacity(n as usize);
            set.extend(random(n).map(text));
            keep(set)
        }),
        row("`BTreeSet<u64>`, grown at random", ALL, |n| keep(random(n).collect::<Grown<BTreeSet<u64>>>())),
        row("`BTreeSet<u64>`, from sorted", ALL, |n| keep((0..n).collect::<BTreeSet<u64>>())),
        row("sorted `Vec<u64>`, grown", ALL, |n| {
            let mut vec = Vec::new();
            random(n).for_each(|number| vec.push(number));
            vec.sort_unstable();
            keep(vec)
        }),
        row("sorted `Vec<u64>`, exact", ALL, |n| {
            let mut vec: Vec<u64> = Vec::with_capacity(n as usize);
            vec.extend(random(n));
            vec.sort_unstable();
            keep(vec)
        }),
        row("sparse `Bitmap`, random below 2^32, grown", ALL, |n| {
            keep(random(n).map(|number| number >> 32).collect::<Bitmap>())
        }),
        row("the same after `optimize`", ALL, |n| {
            let mut bitmap = random(n).map(|number| number >> 32).collect::<Bitmap>();
            bitmap.optimize()?;
            keep(bitmap)
        }),
        row("sparse `Bitmap`, random below 100 n, grown", ALL, |n| {
            keep(random(n).map(|number| number % (100 * n)).collect::<Bitmap>())
        }),
        row("the same after `optimize`", ALL, |n| {
            let mut bitmap = random(n).map(|number| number % (100 * n)).collect::<Bitmap>();
            bitmap.optimize()?;
            keep(bitmap)
        }),
        row("sparse `Bitmap`, random of all `u64`, grown", FEWER, |n| keep(random(n).collect::<Bitmap>())),
        row("sparse `Bitmap`, consecutive, grown", ALL, |n| keep((0..n).collect::<Bitmap>())),
        row("the same after `optimize`", ALL, |n| {
            let mut bitmap = (0..n).collect::<Bitmap>();
            bitmap.optimize()?;
            keep(bitmap)
        }),
        row("dense `Bitmap`, universe of 10 n", ALL, |n| {
            let bitmap = Bitmap::dense(10 * n)?;
            from_system(bitmap.len_bytes(), bitmap)
        }),
        row("dense `Bitmap`, universe of n", ALL, |n| {
            let bitmap = Bitmap::dense(n)?;
            from_system(bitmap.len_bytes(), bitmap)
        }),
        row("`BloomFilter` at 1 %", ALL, |n| {
            let filter = BloomFilter::with_rate(n, 0.01)?;
            from_system(filter.len_bytes(), filter)
        }),
    ]
}

/// Collects one by one into a set that knows nothing of how many will come.
struct Grown<S>(#[allow(dead_code, reason = "held for its memory")] S);

impl<T, S: Default + Extend<T>> FromIterator<T> for Grown<S> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut set = S::default();
        elements.into_iter().for_each(|element| set.extend([element]));
        Self(set)
    }
}

/// Looks at how much is held before the set is dropped.
fn keep<S>(set: S) -> Result<i64, Error> {
    let held = HELD.load(Relaxed);
    drop(black_box(set));
    // What is dropped is counted back in, so that the caller sees it held.
    HELD.store(held, Relaxed);
    Ok(0)
}

/// [`keep`], for something whose blocks the allocator doesn't see when they are many.
fn from_system<S>(bytes: u64, set: S) -> Result<i64, Error> {
    keep(set)?;
    Ok(if bytes >= FROM_SYSTEM { bytes as i64 } else { 0 })
}

/// Different numbers in an order without order: the finaliser of splitmix64 is a bijection.
fn random(n: u64) -> impl Iterator<Item = u64> {
    (1..=n).map(|i| {
        let mut z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

fn text(number: u64) -> String {
    let mut text = format!("user-{number:025}");
    // Formatting leaves spare room, which isn't the set's.
    text.shrink_to_fit();
    text
}
