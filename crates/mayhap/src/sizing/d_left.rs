//! Sizing of the d-left counting filter.
//!
//! **Rate.** A key is a pair of one of B buckets and one of R fingerprints, and two keys are taken for each other when
//! their pairs are equal, wherever their cells lie. So with n keys inserted an absent one is answered "mayhap" with
//! probability
//!
//! ```text
//!   p = 1 − (1 − 1 / (B · R))ⁿ ≈ n / (B · R)        (and n / 2⁶⁴ for shared digests)
//! ```
//!
//! **Room.** Of the b cells of a bucket, 1½ are left free on average when the planned keys are in. That does for every
//! size and every b: the loads of the buckets differ by a cell or two from their mean, whatever the mean is, because
//! each key takes the emptier of two, and a cell that finds both full moves another out of its way. Measured in
//! `examples/d_left_loads.rs`; why it is so, in `docs/maths.md`.

use super::classic::Occupancy;
use super::error::SizingError;
use super::limits::{BEYOND_COUNTING, MAX_BYTES, check_bytes, check_promise, shared_digests};
use super::search::{least, rounded_up};
use crate::bits::BLOCK_BYTES;
use crate::d_left::Cell;

/// Bits of a counter, unless asked otherwise: one cell counts up to four copies.
pub const COUNTER_BITS: u32 = 2;

/// Bytes of a pair of buckets, one of each subtable.
const PAIR_BYTES: u64 = 2 * BLOCK_BYTES as u64;
const MAX_BUCKETS: u64 = MAX_BYTES / PAIR_BYTES;

/// A d-left counting filter on paper: keys, rate, cells and buckets that go together.
///
/// ```
/// use mayhap::sizing::DLeftPlan;
///
/// let plan = DLeftPlan::for_rate(1_000_000, 0.01)?;
/// assert_eq!((plan.cell().fingerprint_bits(), plan.cell().counter_bits()), (13, 2));
/// assert_eq!(plan.lines(), 2);
/// assert!(plan.expected_rate() <= plan.rate());
/// assert!(plan.bits_per_key() < 15.8);
/// # Ok::<(), mayhap::sizing::SizingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DLeftPlan {
    keys: u64,
    rate: f64,
    cell: Cell,
    buckets: u64,
}

impl DLeftPlan {
    /// The least memory that holds `keys` distinct keys at a rate of at most `rate`, with counters of
    /// [`COUNTER_BITS`] bits.
    ///
    /// Fails for 0 keys, a rate outside (0, 1) or below [`lowest_rate`](super::lowest_rate), and sizes above
    /// [`MAX_BYTES`].
    pub fn for_rate(keys: u64, rate: f64) -> Result<Self, SizingError> {
        Self::for_rate_with_counters(keys, rate, COUNTER_BITS)
    }

    /// The same with counters of 1 to 16 bits. Fails as [`for_rate`](Self::for_rate) does, and for other counters.
    pub fn for_rate_with_counters(keys: u64, rate: f64, counter_bits: u32) -> Result<Self, SizingError> {
        check_promise(keys, rate)?;
        let cells = (Cell::LEAST_FINGERPRINT_BITS..=Cell::MOST_FINGERPRINT_BITS)
            .filter_map(|fingerprint_bits| Cell::new(fingerprint_bits, counter_bits));
        let mut best: Option<(u64, Cell)> = None;
        for cell in cells {
            let room = buckets_with_room(keys, cell);
            // Longer fingerprints need more room; from here on none can be better.
            if best.is_some_and(|(buckets, _)| buckets <= room) {
                break;
            }
            if let Some(buckets) = buckets_for_rate(keys, rate, cell).map(|buckets| buckets.max(room))
                && best.is_none_or(|(least, _)| buckets < least)
            {
                best = Some((buckets, cell));
            }
        }
        match best {
            Some((buckets, cell)) => Self::from_parts(cell, buckets, keys, rate),
            None if Cell::new(Cell::LEAST_FINGERPRINT_BITS, counter_bits).is_some() => Err(BEYOND_COUNTING),
            None => {
                Err(SizingError::CounterBitsOutOfRange { got: counter_bits, most: Cell::MOST_COUNTER_BITS })
            }
        }
    }

    /// The least memory with cells of a given shape. Fails as [`for_rate`](Self::for_rate) does.
    pub fn for_rate_with_cell(keys: u64, rate: f64, cell: Cell) -> Result<Self, SizingError> {
        check_promise(keys, rate)?;
        let buckets = buckets_for_rate(keys, rate, cell).ok_or(BEYOND_COUNTING)?;
        Self::from_parts(cell, buckets.max(buckets_with_room(keys, cell)), keys, rate)
    }

    /// The plan of a filter that exists already, such as one read from a file, where all numbers are given.
    ///
    /// Fails when a number alone is out of range; that the promise is kept is the filter's own business.
    pub fn from_parts(cell: Cell, buckets: u64, keys: u64, rate: f64) -> Result<Self, SizingError> {
        check_promise(keys, rate)?;
        if buckets == 0 {
            return Err(SizingError::BlocksOutOfRange { got: 0, multiple_of: 2 });
        }
        check_bytes(buckets.saturating_mul(PAIR_BYTES), MAX_BYTES)?;
        Ok(Self { keys, rate, cell, buckets })
    }

    /// This plan, if it needs at most `limit` bytes.
    pub fn within(self, limit: u64) -> Result<Self, SizingError> {
        check_bytes(self.bytes(), limit).map(|()| self)
    }

    /// The distinct keys it is planned for. A key with more copies than a cell counts takes the place of several.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The promised rate: with the planned keys inserted, false positives are at most this frequent.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The rate the model expects with the planned keys inserted.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        rate(self.cell, self.buckets, self.keys)
    }

    /// The shape of a cell.
    #[must_use]
    pub fn cell(&self) -> Cell {
        self.cell
    }

    /// The buckets in each of the two subtables.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.buckets
    }

    /// The cells of all buckets.
    #[must_use]
    pub fn cells(&self) -> u64 {
        2 * self.buckets * self.cell.per_bucket()
    }

    /// The cache lines that one key touches.
    #[must_use]
    pub fn lines(&self) -> u64 {
        2
    }

    /// The bytes of all buckets.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.buckets * PAIR_BYTES
    }

    /// The bits of the filter for each planned key.
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        self.bytes() as f64 * 8.0 / self.keys as f64
    }
}

/// The rate of a filter with `buckets` buckets in each subtable that holds `keys` distinct keys.
///
/// ```
/// use mayhap::d_left::Cell;
/// use mayhap::sizing::d_left::rate;
///
/// let cell = Cell::new(13, 2).unwrap();
/// assert!((rate(cell, 1_000, 65_000) - 65.0 / 8160.0).abs() < 5e-5);
/// ```
#[must_use]
pub fn rate(cell: Cell, buckets: u64, keys: u64) -> f64 {
    let taken = -libm::expm1(keys as f64 * libm::log1p(-1.0 / pairs(cell, buckets)));
    (taken + shared_digests(keys)).min(1.0)
}

/// The standard deviation of the rate among filters that hold `keys` distinct keys each, and differ by their seeds.
///
/// The rate is the share of the P = B · R pairs that are taken. Of n keys about n²/2P share a pair with another, and that
/// number varies as a Poisson variable does: p · √(p / 2n), far less than in a Bloom filter.
///
/// ```
/// use mayhap::d_left::Cell;
/// use mayhap::sizing::d_left::{rate, rate_deviation};
///
/// let cell = Cell::new(13, 2).unwrap();
/// let (rate, deviation) = (rate(cell, 15, 1_000), rate_deviation(cell, 15, 1_000));
/// assert!((deviation / rate - (rate / 2_000.0).sqrt()).abs() < 1e-5);
/// ```
#[must_use]
pub fn rate_deviation(cell: Cell, buckets: u64, keys: u64) -> f64 {
    if buckets == 0 { 0.0 } else { Occupancy::of_cells(keys, pairs(cell, buckets)).fill_deviation() }
}

/// The rate of a filter with so many cells in use: an absent key is one of as many pairs.
///
/// A key of more copies than a cell counts has several cells and is one pair, so it may be a little less.
#[must_use]
pub fn rate_of_cells(cell: Cell, buckets: u64, cells: u64) -> f64 {
    (cells as f64 / pairs(cell, buckets) + shared_digests(cells)).min(1.0)
}

/// The distinct keys that have probably been added when `cells` cells are in use: a little more, because keys that are
/// taken for each other share one.
#[must_use]
pub fn estimated_keys(cell: Cell, buckets: u64, cells: u64) -> u64 {
    let pairs = pairs(cell, buckets);
    if cells as f64 >= pairs {
        return cells;
    }
    let keys = libm::log1p(-(cells as f64) / pairs) / libm::log1p(-1.0 / pairs);
    #[allow(clippy::cast_possible_truncation, reason = "`as` saturates, and keys are not negative")]
    (libm::round(keys) as u64).max(cells)
}

/// The standard error of [`estimated_keys`] when there are `keys` distinct keys: √(P · (e^(n/P) − 1 − n/P)) for the P =
/// B · R pairs, as for any estimate from occupied places; about n / √(2 · P).
#[must_use]
pub fn standard_error(cell: Cell, buckets: u64, keys: u64) -> f64 {
    let pairs = pairs(cell, buckets);
    let load = keys as f64 / pairs;
    libm::sqrt(pairs * (libm::expm1(load) - load))
}

/// How many distinct keys practically always fit: all cells of a single pair of buckets, else all but 1½ of each.
#[must_use]
pub fn capacity(cell: Cell, buckets: u64) -> u64 {
    let cells = 2 * cell.per_bucket();
    if buckets == 1 { cells } else { buckets.saturating_mul(cells - SPARE_OF_A_PAIR) }
}

/// Cells left free of those in two buckets: 1½ of each.
const SPARE_OF_A_PAIR: u64 = 3;

fn buckets_with_room(keys: u64, cell: Cell) -> u64 {
    if keys <= capacity(cell, 1) {
        return 1;
    }
    keys.div_ceil(2 * cell.per_bucket() - SPARE_OF_A_PAIR).max(2)
}

fn buckets_for_rate(keys: u64, promised: f64, cell: Cell) -> Option<u64> {
    let guess = rounded_up(keys as f64 / promised / cell.fingerprints() as f64);
    least(guess, 1..=MAX_BUCKETS, |buckets| rate(cell, buckets, keys) <= promised)
}

fn pairs(cell: Cell, buckets: u64) -> f64 {
    buckets as f64 * cell.fingerprints() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_keeps_its_promise_at_every_size() {
        for keys in [1, 2, 10, 68, 69, 100, 1_000, 1_000_000, 1_000_000_000] {
            for rate in [0.9, 0.5, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6, 1e-9] {
                for counter_bits in [1, 2, 4, 8, 16] {
                    let plan = DLeftPlan::for_rate_with_counters(keys, rate, counter_bits).unwrap();
                    assert_eq!((plan.keys(), plan.rate()), (keys, rate));
                    assert_eq!(plan.cell().counter_bits(), counter_bits);
                    assert!(plan.expected_rate() <= rate, "{plan:?}");
                    assert!(capacity(plan.cell(), plan.buckets()) >= keys, "{plan:?}");
                }
            }
        }
    }

    #[test]
    fn no_other_cell_is_smaller() {
        for keys in [10, 1_000, 1_000_000] {
            for rate in [0.03, 0.01, 1e-3, 1e-6] {
                let plan = DLeftPlan::for_rate(keys, rate).unwrap();
                for fingerprint_bits in 8..=48 {
                    let cell = Cell::new(fingerprint_bits, COUNTER_BITS).unwrap();
                    let other = DLeftPlan::for_rate_with_cell(keys, rate, cell).unwrap();
                    assert!(other.bytes() >= plan.bytes(), "{plan:?} {other:?}");
                }
            }
        }
    }

    /// The figures of the documents. Half of a 4-bit counting Bloom filter is 22.9 bits per key at 1 %, and 20.1 if it has
    /// two lines.
    #[test]
    fn bits_per_key_are_those_of_the_documents() {
        for (counter_bits, rate, expected) in [
            (1, 0.03, 13.66),
            (1, 0.01, 14.84),
            (1, 0.001, 17.97),
            (2, 0.03, 14.84),
            (2, 0.01, 15.76),
            (2, 0.001, 19.33),
            (4, 0.03, 16.48),
            (4, 0.01, 17.97),
            (4, 0.001, 21.79),
        ] {
            let plan = DLeftPlan::for_rate_with_counters(100_000_000, rate, counter_bits).unwrap();
            let got = plan.bits_per_key();
            assert!((got - expected).abs() < 0.01, "{counter_bits} bits, {rate}: {got} {plan:?}");
        }
    }

    #[test]
    fn impossible_plans_are_refused_with_the_reason() {
        use SizingError::{
            BlocksOutOfRange, CounterBitsOutOfRange, RateOutOfRange, RateTooLow, TooLarge, ZeroKeys,
        };
        assert_eq!(DLeftPlan::for_rate(0, 0.01), Err(ZeroKeys));
        for rate in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(DLeftPlan::for_rate(10, rate), Err(RateOutOfRange { .. })), "{rate}");
        }
        assert!(matches!(DLeftPlan::for_rate(1 << 40, 1e-9), Err(RateTooLow { .. })));
        assert!(matches!(DLeftPlan::for_rate(1 << 60, 0.5), Err(TooLarge { .. })));
        for got in [0, 17, u32::MAX] {
            let refused = Err(CounterBitsOutOfRange { got, most: 16 });
            assert_eq!(DLeftPlan::for_rate_with_counters(10, 0.01, got), refused);
        }
        let plan = DLeftPlan::for_rate(1_000_000, 0.01).unwrap();
        assert_eq!(plan.within(plan.bytes()), Ok(plan));
        assert_eq!(plan.within(1_000), Err(TooLarge { bytes: plan.bytes(), limit: 1_000 }));
        assert!(matches!(DLeftPlan::from_parts(plan.cell(), 0, 1, 0.1), Err(BlocksOutOfRange { .. })));
        assert!(matches!(DLeftPlan::from_parts(plan.cell(), u64::MAX, 1, 0.1), Err(TooLarge { .. })));
        assert!(
            DLeftPlan::for_rate(1, super::super::lowest_rate(1)).is_ok(),
            "what a digest can give is given"
        );
    }

    #[test]
    fn estimates_undo_the_sharing_of_cells() {
        let cell = Cell::new(8, 2).unwrap();
        assert_eq!(estimated_keys(cell, 100, 0), 0);
        let cells = rate(cell, 100, 5_000) * pairs(cell, 100);
        // Half a cell of rounding is more than half a key.
        assert!(estimated_keys(cell, 100, cells.round() as u64).abs_diff(5_000) <= 1);
        assert_eq!(estimated_keys(cell, 1, 255), 255, "every pair taken: a lower bound");
    }
}
