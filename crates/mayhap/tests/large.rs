//! Filters above 2³³ bits, more than a GiB, filled and measured.
//!
//! The most repeated bug in this field is a position of 32 bits: such a filter works, uses the first 2³²
//! bits, and has a rate far above its promise. So this measures: bits are set evenly in every part of the
//! filter, as many as the model says; the rate is the model's; and every key is found again.
//!
//! Takes about 40 seconds on two cores in the profile `test-release`, and 4 GiB of memory. (Without
//! optimisation it would take many minutes: run tests as `cargo xtask test` does.)

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a check that panics has failed")]

#[path = "conformance/interval.rs"]
mod interval;

use std::io;
use std::ops::Range;

use interval::{SIGMAS, assert_count};
use mayhap::bloom::Shape;
use mayhap::codec::{Header, Layout};
use mayhap::counting::CounterShape;
use mayhap::cuckoo::CuckooLayout;
use mayhap::filter::{Estimate, Filter, Remove};
use mayhap::sizing::{blocked, classic};
use mayhap::{Bitmap, BloomFilter, ClassicBloom, CountingBloom, CuckooFilter, DLeftCounting, Digest};

/// 1.1 GiB, 9.4 · 10⁹ bits: 2³² are less than half of them.
const BYTES: u64 = 11 << 27;

#[test]
fn blocked_filter_above_2_33_bits() {
    const KEYS: u64 = 120_000_000;
    // Few bits for each key, so that the rate can be measured at a fill that is quickly reached.
    let shape = Shape::Four;
    let mut filter = BloomFilter::builder().bytes(BYTES).rate(0.01).shape(shape).seed(5).build().unwrap();
    assert!(filter.len_bytes() * 8 > 1 << 33);
    let digests = |filter: &BloomFilter, from: u64, to: u64| -> Vec<Digest> {
        (from..to).map(|key| filter.hash(&key)).collect()
    };
    // More at a time than there are blocks, which is when a bulk build is one.
    for from in (0..KEYS).step_by(BULK) {
        let digests = digests(&filter, from, KEYS.min(from + BULK as u64));
        filter.insert_bulk(&digests, 2);
    }

    let ones = Ones::of(filter.len_bytes() * 8, |ones| filter.write_to(ones));
    let set: u64 = ones.in_parts.iter().sum();
    let estimate = blocked::estimated_keys(shape, set, filter.block_count());
    let error = blocked::standard_error(shape, KEYS, filter.block_count());
    let z = (estimate as f64 - KEYS as f64) / error;
    assert!(
        z.abs() <= SIGMAS,
        "seed 5: {estimate} keys by the bits, {KEYS} inserted: {z:.1} standard errors"
    );
    assert_eq!(estimate, filter.estimated_len(), "the file has other bits than the filter");
    ones.assert_even(shape.hashes());

    let model = blocked::rate(shape, KEYS, filter.block_count());
    assert_rate(&filter, model, filter.expected_rate());
    assert_all_found(&filter, KEYS);
}

#[test]
fn classic_filter_above_2_33_bits() {
    const KEYS: u64 = 50_000_000;
    const HASHES: u32 = 3;
    let mut filter = ClassicBloom::with_bits(BYTES * 8 + 12_345, HASHES).unwrap();
    assert!(filter.bits() > 1 << 33);
    filter.extend(0..KEYS);

    let ones = Ones::of(filter.bits(), |ones| filter.write_to(ones));
    let set: u64 = ones.in_parts.iter().sum();
    let estimate = classic::estimated_keys(set, filter.bits(), HASHES);
    let error = classic::standard_error(KEYS, filter.bits(), HASHES);
    let z = (estimate as f64 - KEYS as f64) / error;
    assert!(z.abs() <= SIGMAS, "{estimate} keys by the bits, {KEYS} inserted: {z:.1} standard errors");
    assert_eq!(estimate, filter.estimated_len(), "the file has other bits than the filter");
    ones.assert_even(HASHES);

    let model = classic::rate(KEYS, filter.bits(), HASHES);
    assert_rate(&filter, model, filter.expected_rate());
    assert_all_found(&filter, KEYS);
}

#[test]
fn cuckoo_filter_above_2_33_bits() {
    let layout = CuckooLayout::semi_sorted(8).unwrap();
    come_and_go(
        CuckooFilter::builder().layout(layout).bytes(BYTES).rate(0.03).seed(6).build().unwrap(),
        40_000_000,
    );
}

/// More buckets than 32 bits can count: as many as take the least memory.
#[test]
fn cuckoo_filter_above_2_32_buckets() {
    let layout = CuckooLayout::new(1, 4).unwrap();
    let buckets = (1 << 32) + 123_456_789;
    // Among many more there would be three of one fingerprint for the same two buckets, which have room for two.
    let keys = 10_000_000;
    come_and_go(
        CuckooFilter::builder().layout(layout).buckets(buckets).keys(keys).seed(7).build().unwrap(),
        keys,
    );
}

#[test]
fn counting_filter_above_2_33_bits() {
    let shape = CounterShape::Four;
    come_and_go(
        CountingBloom::builder().bytes(BYTES).rate(0.01).shape(shape).seed(8).build().unwrap(),
        80_000_000,
    );
}

#[test]
fn d_left_filter_above_2_33_bits() {
    come_and_go(DLeftCounting::builder().keys(600_000_000).rate(0.01).seed(9).build().unwrap(), 40_000_000);
}

/// Fills a filter a little, and takes half of the keys out again. If only the first 2³² of its bits were used, the rate would
/// be twice the model's.
fn come_and_go<F: Remove + Estimate>(mut filter: F, keys: u64) {
    assert!(filter.len_bytes() * 8 > 1 << 33);
    let mut answers = vec![false; SLAB];
    for slab in slabs(0..keys) {
        let hashes = hashes(&filter, slab);
        filter.insert_hashes(&hashes, &mut answers[..hashes.len()]).unwrap();
    }
    assert_all_found(&filter, keys);
    assert_measured(&filter, keys);
    for slab in slabs(keys / 2..keys) {
        let hashes = hashes(&filter, slab);
        let removed = &mut answers[..hashes.len()];
        filter.remove_hashes(&hashes, removed);
        assert!(removed.iter().all(|removed| *removed));
    }
    assert_all_found(&filter, keys / 2);
    assert_measured(&filter, keys / 2);
}

/// Digests given to a bulk build at a time.
const BULK: usize = 24_000_000;
/// Keys asked for at a time.
const SLAB: usize = 4 << 20;
/// Absent keys that are asked for.
const QUESTIONS: u64 = 40_000_000;

/// Asks for absent keys, and compares the rate with the one that so many keys have.
fn assert_measured<F: Estimate>(filter: &F, keys: u64) {
    let estimated = filter.estimated_len() as f64 / keys as f64;
    assert!((estimated - 1.0).abs() < 0.001, "{} keys of {keys}", filter.estimated_len());
    let (positives, expected) = (count_positives(filter), filter.expected_rate());
    assert!(expected * QUESTIONS as f64 > 1_000.0, "too few to tell: {expected:e}");
    assert_count(positives, QUESTIONS, expected, 0.0, "keys that come and go");
}

/// Asks for absent keys. At this size two filters of the same model differ by less than a thousandth, and
/// only which keys are asked for is left to chance.
fn assert_rate<F: Filter>(filter: &F, model: f64, by_the_bits: f64) {
    let positives = count_positives(filter);
    assert_count(positives, QUESTIONS, model, 0.0, "against the model");
    assert_count(positives, QUESTIONS, by_the_bits, 0.0, "against the rate from the bits");
    assert!((by_the_bits / model - 1.0).abs() < 0.002, "{by_the_bits:e} by the bits, {model:e} by the model");
}

fn count_positives<F: Filter>(filter: &F) -> u64 {
    let mut positives = 0;
    in_slabs(filter, 1 << 63..(1 << 63) + QUESTIONS, |found| {
        positives += found.iter().filter(|found| **found).count() as u64;
    });
    positives
}

fn assert_all_found<F: Filter>(filter: &F, keys: u64) {
    let mut missing = 0;
    in_slabs(filter, 0..keys, |found| missing += found.iter().filter(|found| !**found).count());
    assert_eq!(missing, 0, "false negatives among {keys} keys");
}

fn in_slabs<F: Filter>(filter: &F, keys: Range<u64>, mut answers: impl FnMut(&[bool])) {
    let mut found = vec![false; SLAB];
    for slab in slabs(keys) {
        let hashes = hashes(filter, slab);
        filter.contains_hashes(&hashes, &mut found[..hashes.len()]);
        answers(&found[..hashes.len()]);
    }
}
/// At most [`SLAB`] of the keys at a time.
fn slabs(keys: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    keys.clone().step_by(SLAB).map(move |from| from..keys.end.min(from + SLAB as u64))
}

fn hashes<F: Filter>(filter: &F, keys: Range<u64>) -> Vec<F::Hash> {
    keys.map(|key| filter.hash_bytes(&key.to_le_bytes())).collect()
}

/// Set bits in each of many equal parts of a filter, counted while its file is written to nowhere.
struct Ones {
    bits: u64,
    in_parts: [u64; Self::PARTS],
    written: u64,
    header: Vec<u8>,
    layout: Option<Layout>,
}

impl Ones {
    const PARTS: usize = 32;

    fn of(bits: u64, write: impl FnOnce(&mut Self) -> Result<(), mayhap::Error>) -> Self {
        let mut ones =
            Self { bits, in_parts: [0; Self::PARTS], written: 0, header: Vec::new(), layout: None };
        write(&mut ones).unwrap();
        ones
    }

    /// Every part has its share. How many keys fall into a part is binomial, and a key brings up to `hashes`
    /// bits.
    fn assert_even(&self, hashes: u32) {
        let set: u64 = self.in_parts.iter().sum();
        println!("set bits in each of {} parts: {:?}", Self::PARTS, self.in_parts);
        for (part, ones) in self.in_parts.iter().enumerate() {
            // The last part is shorter when the bits don't divide.
            let (start, end) = (self.part_start(part), self.part_start(part + 1).min(self.bits));
            let share = (end - start) as f64 / self.bits as f64;
            let expected = set as f64 * share;
            let z = (*ones as f64 - expected) / (f64::from(hashes) * expected * (1.0 - share)).sqrt();
            assert!(
                z.abs() <= SIGMAS,
                "part {part} of {} (bits {start} to {end}): {ones} set, {expected:.0} expected: {z:.1} deviations",
                Self::PARTS
            );
        }
    }

    /// Parts are whole bytes.
    fn part_start(&self, part: usize) -> u64 {
        self.bits.div_ceil(8 * Self::PARTS as u64) * 8 * part as u64
    }
}

impl io::Write for Ones {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let layout = match &self.layout {
            Some(layout) => layout,
            None => {
                self.header.extend_from_slice(bytes);
                match Header::parse(&self.header) {
                    Ok(header) => self.layout.insert(header.layout().map_err(io::Error::other)?),
                    Err(_) => {
                        self.written += bytes.len() as u64;
                        return Ok(bytes.len());
                    }
                }
            }
        };
        let body = layout.section(0).ok_or_else(|| io::Error::other("a filter has a section"))?;
        let part_bytes = self.bits.div_ceil(8 * Self::PARTS as u64);
        for (at, byte) in (self.written..).zip(bytes) {
            if body.contains(&at) {
                // Behind the last bit the block is filled up with zeros.
                let part = ((at - body.start) / part_bytes) as usize;
                self.in_parts[part.min(Self::PARTS - 1)] += u64::from(byte.count_ones());
            }
        }
        self.written += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A billion phone numbers whose first digit is fixed: 10^10 bits, 1.25 GB, exact. Every hundredth of them here, spread
/// over the whole universe by an odd multiplier.
#[test]
fn bitmap_of_10_to_the_10() {
    const UNIVERSE: u64 = 10_000_000_000;
    const NUMBERS: u64 = 10_000_000;
    // Coprime to the universe, so that all numbers are different.
    let number = |i: u64| (u128::from(i) * 6_180_339_887 % u128::from(UNIVERSE)) as u64;
    let mut bitmap = Bitmap::dense(UNIVERSE).unwrap();
    assert_eq!(bitmap.len_bytes(), 1_250_000_000);
    for i in 0..NUMBERS {
        assert!(bitmap.insert(number(i)).unwrap(), "number {i}");
    }
    assert!((0..NUMBERS).all(|i| bitmap.contains(number(i))));
    assert!((NUMBERS..2 * NUMBERS).all(|i| !bitmap.contains(number(i))), "exact");
    assert_eq!(bitmap.len(), NUMBERS);
    // Ten parts have a tenth each: no part is the shadow of another.
    for part in 0..10 {
        let len = bitmap.range_len(part * UNIVERSE / 10..(part + 1) * UNIVERSE / 10);
        assert!(len.abs_diff(NUMBERS / 10) < 1000, "part {part}: {len}");
    }
    assert!(bitmap.insert(UNIVERSE).is_err() && bitmap.insert(UNIVERSE - 1).is_ok());
    assert!((0..NUMBERS).all(|i| bitmap.remove(number(i))));
    assert!(bitmap.iter().eq([UNIVERSE - 1]));
}
