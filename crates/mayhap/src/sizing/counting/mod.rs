//! Sizing of the counting filter: counters instead of bits, in lines of 64 bytes.
//!
//! A counter above zero is what a set bit is in a Bloom filter, so the rate is that of [`blocked`](super::blocked) with
//! fewer, larger cells: a line has 128, 64 or 32 counters where it would have 512 bits. Fewer keys share a line, and the
//! fewer there are, the more their number varies from line to line. That is paid in memory, or halved by taking a
//! second line.
//!
//! Bits per key of a large filter, by [`bits_per_key`]; in brackets the textbook's, with the best number of counters
//! spread over all of the memory:
//!
//! | width, rate | one line | two lines | chosen |
//! |---|---|---|---|
//! | 4 bits, 3 % (29.2) | 31.8 | 31.7 | one |
//! | 4 bits, 1 % (38.4) | 45.7 | 40.2 | one |
//! | 4 bits, 0.1 % (57.5) | 77.6 | 62.3 | one |
//! | 8 bits, 3 % (58.4) | 67.9 | 65.2 | one |
//! | 8 bits, 1 % (76.7) | 102.8 | 83.5 | one |
//! | 8 bits, 0.1 % (115) | 203 | 133 | two |
//! | 16 bits, 1 % (153) | 250 | 180 | two |

mod plan;
mod saturation;
mod size;

pub use plan::CountingPlan;
pub use saturation::{saturation, stuck_counters};
pub use size::{bits_per_key, blocks, capacity, shape_for};

use super::blocked::Geometry;
use crate::counting::CounterLayout;
use crate::plan::OVER_PLAN_SIGMAS;

impl From<CounterLayout> for Geometry {
    fn from(layout: CounterLayout) -> Self {
        Self {
            lines: layout.shape.lines(),
            groups: layout.shape.groups(),
            group_cells: layout.counters_per_group() as f64,
            draws: 1,
        }
    }
}

/// The expected rate of false positives of a filter of `blocks` lines that holds `keys` distinct keys.
///
/// Exact for independent uniform positions, as [`blocked::rate`](super::blocked::rate()) is. Copies of a key don't count:
/// they raise counters that are above zero already.
///
/// ```
/// use mayhap::counting::{CounterLayout, CounterShape, CounterWidth};
/// use mayhap::sizing::counting;
///
/// // A thousand keys in 90 lines: about 46 bits per key.
/// let layout = CounterLayout { shape: CounterShape::Eight, width: CounterWidth::Four };
/// assert!((counting::rate(layout, 1_000, 90) - 0.01).abs() < 0.001);
/// ```
#[must_use]
pub fn rate(layout: CounterLayout, keys: u64, blocks: u64) -> f64 {
    Geometry::from(layout).rate(keys, blocks)
}

/// The standard deviation of the rate among filters of `blocks` lines that hold `keys` distinct keys each, and differ by
/// their seeds.
///
/// As [`blocked::rate_deviation`](super::blocked::rate_deviation()). Fewer keys share a line, so that it is more than in a
/// Bloom filter of as many keys.
///
/// ```
/// use mayhap::counting::{CounterLayout, CounterShape, CounterWidth};
/// use mayhap::sizing::counting;
///
/// // Twenty thousand keys at 1 %: filters differ by 2.4 % of their rate.
/// let layout = CounterLayout { shape: CounterShape::Eight, width: CounterWidth::Four };
/// assert!((counting::rate_deviation(layout, 20_000, 1_785) - 0.000_24).abs() < 0.000_01);
/// ```
#[must_use]
pub fn rate_deviation(layout: CounterLayout, keys: u64, blocks: u64) -> f64 {
    Geometry::from(layout).rate_deviation(keys, blocks)
}

/// The number of distinct keys that most likely raised `counters` counters of `blocks` lines above zero.
///
/// As [`blocked::estimated_keys`](super::blocked::estimated_keys()): when no counter is zero the answer is a lower bound.
#[must_use]
pub fn estimated_keys(layout: CounterLayout, counters: u64, blocks: u64) -> u64 {
    Geometry::from(layout).estimated_keys(counters, blocks)
}

/// The standard error of [`estimated_keys`] when the filter holds `keys` distinct keys, in keys.
#[must_use]
pub fn standard_error(layout: CounterLayout, keys: u64, blocks: u64) -> f64 {
    Geometry::from(layout).standard_error(keys, blocks)
}

/// The number of counters above zero that a filter of `blocks` lines stays below when it holds `keys` distinct keys, but
/// for one in ten thousand filters or fewer.
///
/// Four standard deviations above the mean, and half a counter for filters so small that nothing varies. It is the
/// number of counters that is nearly normal: that of keys estimated from it is not, where only a few counters are zero.
pub(crate) fn most_counters(layout: CounterLayout, keys: u64, blocks: u64) -> f64 {
    let spread = Geometry::from(layout).spread(keys, blocks);
    spread.mean + OVER_PLAN_SIGMAS * spread.deviation + 0.5
}
