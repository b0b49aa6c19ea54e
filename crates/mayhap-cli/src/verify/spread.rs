//! How much the rate differs between sound filters of one layout and number of keys.
//!
//! A plan promises the mean over hash functions. A filter has one of them, with a seed, and its own rate is a little
//! above the mean or below it, by how the keys fell. For small filters that is more than what a million questions can
//! tell apart, so that it has to be known before a filter is called wrong.

use mayhap::bits::Blocks;
use mayhap::{AnyFilter, BloomFilter, CountingBloom};

/// The standard deviation of the rate among filters such as this, each with another seed and the keys that it was made
/// for.
pub(super) fn deviation<S: Blocks>(filter: &AnyFilter<S>) -> f64 {
    match filter {
        AnyFilter::Bloom(filter) => variance_of_bloom(filter).sqrt(),
        // What the removed side hides makes the rate lower, and is small.
        AnyFilter::Dual(filter) => variance_of_bloom(filter.added()).sqrt(),
        // An absent key is asked for in all of them, and their rates are small: they add up.
        AnyFilter::Scalable(filter) => filter.layer_filters().map(variance_of_bloom).sum::<f64>().sqrt(),
        AnyFilter::Window(filter) => filter.generation_filters().map(variance_of_bloom).sum::<f64>().sqrt(),
        AnyFilter::Counting(filter) => variance_of_counting(filter).sqrt(),
        AnyFilter::Classic(filter) => classic(filter.planned_keys(), filter.bits(), filter.hashes()),
        AnyFilter::DLeft(filter) => table(filter.planned_keys(), filter.planned_rate()),
        AnyFilter::Cuckoo(filter) => table(filter.planned_keys(), filter.planned_rate()),
        AnyFilter::ScalableCuckoo(filter) => table(filter.planned_keys(), filter.planned_rate()),
        _ => 0.0,
    }
}

/// The same of the keys that a dual filter hides.
pub(super) fn hidden_deviation<S: Blocks>(removed: &BloomFilter<S>) -> f64 {
    variance_of_bloom(removed).sqrt()
}

fn variance_of_bloom<S: Blocks>(filter: &BloomFilter<S>) -> f64 {
    let shape = filter.shape();
    let block = Block {
        groups: shape.groups(),
        cells: 512.0 / f64::from(shape.groups()),
        draws: shape.bits_per_group(),
    };
    block.variance_of_filter(filter.planned_keys(), filter.block_count(), shape.lines())
}

fn variance_of_counting<S: Blocks>(filter: &CountingBloom<S>) -> f64 {
    let layout = filter.layout();
    let block = Block { groups: layout.shape.groups(), cells: layout.counters_per_group() as f64, draws: 1 };
    block.variance_of_filter(filter.planned_keys(), filter.block_count(), layout.shape.lines())
}

/// Of a filter whose bits lie anywhere, the share of set bits varies alone; it is to the power of k in the rate.
fn classic(keys: u64, bits: u64, hashes: u32) -> f64 {
    let (bits, hashes) = (bits as f64, f64::from(hashes));
    let load = hashes * keys as f64 / bits;
    let unset = (-load).exp();
    let fill = 1.0 - unset;
    let deviation_of_fill = (unset * (1.0 - (1.0 + load) * unset) / bits).max(0.0).sqrt();
    hashes * fill.powf(hashes - 1.0) * deviation_of_fill
}

/// A table of fingerprints errs in proportion to the different ones it holds. Of n keys about n · p / 2 share theirs with
/// another, and the number of those varies as a Poisson variable does.
fn table(keys: u64, rate: f64) -> f64 {
    rate * (rate / (2.0 * keys as f64)).sqrt()
}

/// A block of a Bloom filter, or a line of counters: equal groups of cells, in each of which a key sets some.
#[derive(Clone, Copy, Debug)]
struct Block {
    groups: u32,
    /// Cells of a group.
    cells: f64,
    /// Those that a key sets in each group, perhaps the same twice: 1 or 2.
    draws: u32,
}

impl Block {
    /// The variance of the rate. With two lines the filter has two halves, which both must say "mayhap".
    fn variance_of_filter(self, keys: u64, blocks: u64, lines: u64) -> f64 {
        let (mean, variance) = self.mean_and_variance(keys, (blocks / lines).max(1));
        match lines {
            1 => variance,
            _ => (mean * mean + variance).powi(2) - mean.powi(4),
        }
    }

    /// Mean and variance of the rate of so many blocks.
    ///
    /// The rate of a filter is the mean over its blocks. How many keys a block holds varies as a Poisson variable does, and
    /// with that and where their bits lie, its rate. But the loads of all blocks add up to the number of keys: what is
    /// proportional to the load doesn't vary in the sum, and is taken off.
    fn mean_and_variance(self, keys: u64, blocks: u64) -> (f64, f64) {
        let load = keys as f64 / blocks as f64;
        // Every cell is set, as far as a float can tell.
        if load > 8192.0 {
            return (1.0, 0.0);
        }
        let (mut sum, mut rates, mut squares, mut products) = (0.0, 0.0, 0.0, 0.0);
        for_each_poisson(load, |held, weight| {
            let rate = self.chance(held, self.draws);
            sum += weight;
            rates += weight * rate;
            // Two independent questions to one block, both of them answered "mayhap".
            squares += weight * self.chance(held, 2 * self.draws);
            products += weight * held * rate;
        });
        let (mean, square, covariance) = (rates / sum, squares / sum, products / sum - load * rates / sum);
        let explained = if load > 0.0 { covariance * covariance / load } else { 0.0 };
        (mean, (square - mean * mean - explained).max(0.0) / blocks as f64)
    }

    /// The chance that so many cells of every group, chosen anew each, are all set when the block holds `held` keys.
    fn chance(self, held: f64, asked: u32) -> f64 {
        let sets = held * f64::from(self.draws);
        // That `different` given cells are set, by inclusion and exclusion of those that aren't.
        let all_set = |different: usize| -> f64 {
            let row = BINOMIALS[different];
            (0..=different)
                .map(|unset| row[unset] * (1.0 - unset as f64 / self.cells).max(0.0).powf(sets))
                .sum::<f64>()
        };
        let group: f64 = (1..=asked as usize)
            .map(|different| {
                // Ways to choose cells of which so many are different, of all ways.
                let ordered: f64 = (0..different).map(|taken| self.cells - taken as f64).product();
                PARTITIONS[asked as usize][different] * ordered / self.cells.powf(f64::from(asked))
                    * all_set(different)
            })
            .sum();
        group.clamp(0.0, 1.0).powf(f64::from(self.groups))
    }
}

/// Binomial coefficients, with the sign of inclusion and exclusion.
const BINOMIALS: [[f64; 5]; 5] = [
    [1.0, 0.0, 0.0, 0.0, 0.0],
    [1.0, -1.0, 0.0, 0.0, 0.0],
    [1.0, -2.0, 1.0, 0.0, 0.0],
    [1.0, -3.0, 3.0, -1.0, 0.0],
    [1.0, -4.0, 6.0, -4.0, 1.0],
];

/// In how many ways so many things fall into so many parts: Stirling numbers of the second kind.
const PARTITIONS: [[f64; 5]; 5] = [
    [1.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 1.0, 0.0, 0.0],
    [0.0, 1.0, 3.0, 1.0, 0.0],
    [0.0, 1.0, 7.0, 6.0, 1.0],
];

/// All numbers that a Poisson variable takes, with weights in proportion to their probabilities, from the likeliest outward
/// as far as they count.
fn for_each_poisson(mean: f64, mut take: impl FnMut(f64, f64)) {
    const NEGLIGIBLE: f64 = 1e-18;
    let start = mean.floor();
    let (mut number, mut weight) = (start, 1.0);
    while weight > NEGLIGIBLE {
        take(number, weight);
        number += 1.0;
        weight *= mean / number;
    }
    (number, weight) = (start, 1.0);
    while number > 0.0 && weight > NEGLIGIBLE {
        weight *= number / mean;
        number -= 1.0;
        take(number, weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mayhap::ClassicBloom;
    use mayhap::counting::CounterWidth;
    use mayhap::hash::KeyHasher;
    use mayhap::sizing::ClassicPlan;

    const KEYS: u64 = 2_000;

    /// Makes filters that differ by their seeds, and compares how much their rates do. The deviation of 300 of them is
    /// known within 4 %: five times that is allowed, and a curve that isn't quite normal.
    fn spreads_as_said(name: &str, make: impl Fn(u64) -> AnyFilter) {
        let rates: Vec<f64> = (0..300)
            .map(|seed| {
                let mut filter = make(seed);
                for key in 0..KEYS {
                    let digest = filter.hash(&key);
                    filter.insert_hashes(&[digest], &mut [false]).unwrap();
                }
                filter.expected_rate()
            })
            .collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let squares = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>();
        let got = (squares / (rates.len() - 1) as f64).sqrt();
        let expected = deviation(&make(0));
        assert!((got / expected - 1.0).abs() < 0.25, "{name}: {got}, expected {expected}");
        assert!((mean / make(0).planned_rate() - 1.0).abs() < 0.1, "{name}: {mean}");
    }

    #[test]
    fn rates_of_bloom_filters_spread_as_said() {
        // One block with four and with eight bits, and two blocks.
        for rate in [0.03, 0.01, 1e-4] {
            spreads_as_said(&rate.to_string(), |seed| {
                BloomFilter::builder().keys(KEYS).rate(rate).seed(seed).build().unwrap().into()
            });
        }
        spreads_as_said("classic", |seed| {
            let plan = ClassicPlan::for_rate(KEYS, 0.01).unwrap();
            ClassicBloom::with_plan(plan, KeyHasher::xxh3(seed)).unwrap().into()
        });
    }

    #[test]
    fn rates_of_counting_filters_spread_as_said() {
        for (rate, width) in
            [(0.03, CounterWidth::Four), (0.01, CounterWidth::Four), (0.01, CounterWidth::Sixteen)]
        {
            spreads_as_said(&format!("{rate} {width:?}"), |seed| {
                let builder = CountingBloom::builder().keys(KEYS).rate(rate).width(width);
                builder.seed(seed).build().unwrap().into()
            });
        }
    }

    #[test]
    fn nothing_is_lost_where_there_is_nothing_to_vary() {
        let block = Block { groups: 8, cells: 64.0, draws: 1 };
        assert_eq!(block.variance_of_filter(0, 10, 1), 0.0);
        assert_eq!(block.variance_of_filter(u64::MAX, 1, 1), 0.0);
        assert!(block.chance(0.0, 1) == 0.0 && block.chance(1e6, 2) > 1.0 - 1e-9);
        // One key in a block: one cell of each group.
        assert!((block.chance(1.0, 1) / 64f64.powi(-8) - 1.0).abs() < 1e-6);
    }
}
