//! How evenly the keys fell: how many blocks are how full, beside how many should be.

use mayhap::bits::Blocks;
use mayhap::{AnyFilter, BloomFilter};
use serde_json::{Value, json};

/// How many blocks (or lines, or buckets) have 0, 1, 2 … bits (or counters, or places) in use.
#[derive(Debug)]
pub(super) struct Loads {
    /// What is counted in each: "bits set in a block".
    pub(super) what: &'static str,
    /// Of which there are so many: "blocks".
    pub(super) of: &'static str,
    pub(super) counts: Vec<u64>,
    /// How many the model expects, for the keys that there are.
    pub(super) expected: Option<Vec<f64>>,
}

/// A block as the model sees it: equal groups of cells; each key draws so many in each group.
#[derive(Clone, Copy, Debug)]
struct Geometry {
    groups: u32,
    group_cells: u32,
    draws: u32,
}

impl Loads {
    /// Nothing for kinds without blocks.
    pub(super) fn of<S: Blocks>(filter: &AnyFilter<S>) -> Option<Self> {
        match filter {
            AnyFilter::Bloom(filter) => Some(Self::of_blooms(&[filter])),
            AnyFilter::Dual(filter) => Some(Self::of_blooms(&[filter.added()])),
            AnyFilter::Scalable(filter) => Some(Self::of_blooms(&filter.layer_filters().collect::<Vec<_>>())),
            AnyFilter::Window(filter) => {
                Some(Self::of_blooms(&filter.generation_filters().collect::<Vec<_>>()))
            }
            AnyFilter::Counting(filter) => {
                let shape = filter.layout().shape;
                let counters = u32::try_from(filter.layout().counters_per_line()).ok()?;
                let geometry =
                    Geometry { groups: shape.groups(), group_cells: counters / shape.groups(), draws: 1 };
                let lines = filter.block_count();
                let expected = geometry.expected(filter.estimated_len(), lines, shape.lines());
                let counts = filter.line_loads();
                Some(Self {
                    what: "counters above zero in a line",
                    of: "lines",
                    counts,
                    expected: Some(expected),
                })
            }
            AnyFilter::Cuckoo(filter) => {
                Some(Self::of_buckets("places taken in a bucket", filter.bucket_loads()))
            }
            AnyFilter::ScalableCuckoo(filter) => {
                Some(Self::of_buckets("places taken in a bucket", filter.bucket_loads()))
            }
            AnyFilter::DLeft(filter) => {
                Some(Self::of_buckets("cells in use in a bucket", filter.bucket_loads()))
            }
            _ => None,
        }
    }

    /// No model is simple enough: a key goes to the emptier of two buckets.
    fn of_buckets(what: &'static str, counts: Vec<u64>) -> Self {
        Self { what, of: "buckets", counts, expected: None }
    }

    /// The blocks of several filters, together.
    fn of_blooms<S: Blocks>(filters: &[&BloomFilter<S>]) -> Self {
        let (mut counts, mut sums) = (vec![0; 513], vec![0.0; 513]);
        for filter in filters {
            let shape = filter.shape();
            let geometry = Geometry {
                groups: shape.groups(),
                group_cells: 512 / shape.groups(),
                draws: shape.bits_per_group(),
            };
            for (count, load) in counts.iter_mut().zip(filter.block_loads()) {
                *count += load;
            }
            if filters.len() <= MOST_MODELLED {
                let expected = geometry.expected(filter.estimated_len(), filter.block_count(), shape.lines());
                for (sum, expected) in sums.iter_mut().zip(expected) {
                    *sum += expected;
                }
            }
        }
        let expected = (filters.len() <= MOST_MODELLED).then_some(sums);
        Self { what: "bits set in a block", of: "blocks", counts, expected }
    }

    pub(super) fn json(&self) -> Value {
        // Thousandths of a block are more than anybody can use; all digits would be pages of them.
        let round = |expected: &f64| (expected * 1_000.0).round() / 1_000.0;
        let expected: Option<Vec<f64>> =
            self.expected.as_ref().map(|expected| expected.iter().map(round).collect());
        json!({ "what": self.what, "of": self.of, "counts": self.counts, "expected": expected })
    }
}

/// The model takes some milliseconds for each filter.
const MOST_MODELLED: usize = 64;

/// Above this many keys in a block every cell is in use, as far as a float can tell.
const CERTAINLY_FULL: f64 = 8192.0;

impl Geometry {
    /// How many of `blocks` blocks have 0, 1, 2 … cells in use when `keys` keys have fallen into them, each into
    /// `lines` of them: the number of keys in a block is Poisson's, and each of its groups is filled on its own.
    fn expected(self, keys: u64, blocks: u64, lines: u64) -> Vec<f64> {
        let cells = self.groups as usize * self.group_cells as usize;
        let mut expected = vec![0.0; cells + 1];
        // Each line of a key falls into its own part of the blocks.
        let mean = keys as f64 * lines as f64 / blocks as f64;
        if mean > CERTAINLY_FULL {
            expected[cells] = blocks as f64;
            return expected;
        }
        let deviation = mean.sqrt().max(1.0);
        let (first, last) = (mean - 7.0 * deviation, mean + 7.0 * deviation + 4.0);
        let mut group = vec![0.0; self.group_cells as usize + 1];
        group[0] = 1.0;
        // The logarithm, because e to the minus mean may be too small for a float.
        let mut weight = -mean;
        let mut load = 0.0;
        while load <= last {
            if load >= first {
                let share = weight.exp() * blocks as f64;
                for (sum, chance) in expected.iter_mut().zip(repeated(&group, self.groups)) {
                    *sum += share * chance;
                }
            }
            load += 1.0;
            weight += (mean / load).ln();
            (0..self.draws).for_each(|_| draw(&mut group));
        }
        expected
    }
}

/// One more draw, with replacement: the chances that 0, 1, 2 … cells are in use.
fn draw(chances: &mut [f64]) {
    let cells = (chances.len() - 1) as f64;
    let mut below = 0.0;
    for (used, chance) in chances.iter_mut().enumerate() {
        let used = used as f64;
        let here = *chance;
        // It hits one in use, or comes from one fewer.
        *chance = here * used / cells + below * (cells - used + 1.0) / cells;
        below = here;
    }
}

/// The chances of the sum over so many groups, a power of two of them.
fn repeated(group: &[f64], groups: u32) -> Vec<f64> {
    let mut sum = group.to_vec();
    for _ in 0..groups.ilog2() {
        let mut twice = vec![0.0; 2 * sum.len() - 1];
        for (i, a) in sum.iter().enumerate().filter(|(_, a)| **a > 1e-18) {
            for (twice, b) in twice[i..].iter_mut().zip(&sum) {
                *twice += a * b;
            }
        }
        sum = twice;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use mayhap::CountingBloom;

    fn mean_and_total(counts: impl Iterator<Item = f64>) -> (f64, f64) {
        let (mut sum, mut total) = (0.0, 0.0);
        for (load, count) in counts.enumerate() {
            sum += load as f64 * count;
            total += count;
        }
        (sum / total, total)
    }

    /// The distance of two histograms as a part of the blocks: 0 to 2.
    fn distance(loads: &Loads) -> f64 {
        let expected = loads.expected.as_ref().unwrap();
        let blocks: u64 = loads.counts.iter().sum();
        let difference: f64 =
            loads.counts.iter().zip(expected).map(|(count, expected)| (*count as f64 - expected).abs()).sum();
        difference / blocks as f64
    }

    #[test]
    fn the_model_is_what_filters_do() {
        for rate in [0.1, 0.01, 1e-6] {
            let mut filter = BloomFilter::with_rate(200_000, rate).unwrap();
            for key in 0..200_000u32 {
                let _ = filter.insert(&key);
            }
            let loads = Loads::of(&AnyFilter::from(filter)).unwrap();
            let expected = mean_and_total(loads.expected.iter().flatten().copied());
            let real = mean_and_total(loads.counts.iter().map(|count| *count as f64));
            assert!((expected.1 / real.1 - 1.0).abs() < 1e-6, "{rate}: {expected:?} {real:?}");
            assert!((expected.0 / real.0 - 1.0).abs() < 0.003, "{rate}: {expected:?} {real:?}");
            assert!(distance(&loads) < 0.35, "{rate}: {}", distance(&loads));
        }
        let mut filter = CountingBloom::with_rate(100_000, 0.01).unwrap();
        for key in 0..100_000u32 {
            let _ = filter.insert(&key);
        }
        let loads = Loads::of(&AnyFilter::from(filter)).unwrap();
        assert!(distance(&loads) < 0.2, "{}", distance(&loads));
    }

    #[test]
    fn nothing_and_everything() {
        let geometry = Geometry { groups: 8, group_cells: 64, draws: 1 };
        let empty = geometry.expected(0, 10, 1);
        assert!((empty[0] - 10.0).abs() < 1e-9);
        let full = geometry.expected(u64::MAX, 10, 1);
        assert_eq!(full[512], 10.0);
    }
}
