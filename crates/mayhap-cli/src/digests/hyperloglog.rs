//! How many different digests, in 64 KiB.
//!
//! A HyperLogLog: a digest's first bits choose a register, which remembers the longest run of zeros that followed them.
//! The estimate is Ertl's improved one ("New cardinality estimation algorithms for HyperLogLog sketches", 2017), which
//! has no bias to correct from tables, neither for few digests nor for very many.

/// First bits of a digest: the register.
const PRECISION: u32 = 16;
const REGISTERS: usize = 1 << PRECISION;
/// Bits that are left for the run of zeros.
const REST: u32 = 64 - PRECISION;
/// 1 / (2 ln 2).
const ALPHA: f64 = 0.5 / std::f64::consts::LN_2;

/// Counts different digests, about.
#[derive(Clone)]
pub(super) struct HyperLogLog(Box<[u8]>);

impl HyperLogLog {
    /// The standard error of [`estimate`](Self::estimate), as a share of it.
    pub(super) const STANDARD_ERROR: f64 = 1.04 / 256.0;

    pub(super) fn new() -> Self {
        Self(vec![0; REGISTERS].into_boxed_slice())
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // A run has at most 49 bits.
    pub(super) fn add(&mut self, digest: u64) {
        // 16 bits are always a register.
        let register = &mut self.0[(digest >> REST) as usize];
        // A one below the last bit ends every run, so that its length and one more fit a byte.
        let run = (digest << PRECISION | 1 << (PRECISION - 1)).leading_zeros() as u8 + 1;
        *register = (*register).max(run);
    }

    /// Counts what the other has counted too.
    pub(super) fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.0.iter_mut().zip(&other.0) {
            *ours = (*ours).max(*theirs);
        }
    }

    /// How many different digests were added, about.
    pub(super) fn estimate(&self) -> f64 {
        let mut registers_with = [0u32; REST as usize + 2];
        for &run in &self.0 {
            registers_with[usize::from(run)] += 1;
        }
        let all = REGISTERS as f64;
        let share = |run: usize| f64::from(registers_with[run]) / all;
        let longest = REST as usize + 1;
        let mut sum = all * tau(1.0 - share(longest));
        for run in (1..longest).rev() {
            sum = 0.5 * (sum + f64::from(registers_with[run]));
        }
        sum += all * sigma(share(0));
        if sum.is_finite() { ALPHA * all * all / sum } else { 0.0 }
    }
}

/// What the registers at zero add: x + the sum of x^(2^k) 2^(k-1).
fn sigma(mut x: f64) -> f64 {
    let (mut y, mut sum) = (1.0, x);
    if x >= 1.0 {
        return f64::INFINITY;
    }
    loop {
        x *= x;
        let before = sum;
        sum += x * y;
        y += y;
        if sum <= before {
            return sum;
        }
    }
}

/// What the registers at their end add.
fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut y, mut sum) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = sum;
        y *= 0.5;
        sum -= (1.0 - x) * (1.0 - x) * y;
        if sum >= before {
            return sum / 3.0;
        }
    }
}

impl std::fmt::Debug for HyperLogLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HyperLogLog(about {:.0})", self.estimate())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mayhap::hash::KeyHasher;

    fn counted(seed: u64, keys: u64) -> HyperLogLog {
        let hasher = KeyHasher::xxh3(seed);
        let mut counter = HyperLogLog::new();
        for key in 0..keys {
            counter.add(hasher.digest(&key).get());
        }
        counter
    }

    #[test]
    fn the_error_is_what_it_is_said_to_be_at_every_size() {
        // Through the range where other estimators switch from one formula to the next, at 2.5 and 5 registers.
        for keys in [10_000, 65_536, 163_840, 327_680, 1_000_000] {
            let errors: Vec<f64> =
                (0..20).map(|seed| counted(seed, keys).estimate() / keys as f64 - 1.0).collect();
            let bias = errors.iter().sum::<f64>() / 20.0;
            let spread = (errors.iter().map(|error| error * error).sum::<f64>() / 20.0).sqrt();
            // Four standard errors of a mean of twenty; and a spread that twenty draws of the error hardly exceed.
            assert!(bias.abs() < 4.0 * HyperLogLog::STANDARD_ERROR / 20f64.sqrt(), "{keys}: bias {bias}");
            assert!(spread < 1.6 * HyperLogLog::STANDARD_ERROR, "{keys}: spread {spread}");
        }
    }

    #[test]
    fn few_and_none() {
        assert_eq!(counted(0, 0).estimate(), 0.0);
        assert!((counted(0, 1).estimate() - 1.0).abs() < 0.01);
        assert!((counted(1, 100).estimate() - 100.0).abs() < 3.0);
    }

    #[test]
    fn repeats_do_not_count_and_halves_make_a_whole() {
        let all = counted(3, 200_000);
        let mut twice = all.clone();
        twice.merge(&all);
        assert_eq!(twice.estimate(), all.estimate());

        let hasher = KeyHasher::xxh3(3);
        let mut halves = [HyperLogLog::new(), HyperLogLog::new()];
        for key in 0..200_000u64 {
            halves[usize::from(key % 2 == 0)].add(hasher.digest(&key).get());
        }
        let [mut one, other] = halves;
        one.merge(&other);
        assert_eq!(one.estimate(), all.estimate());
    }

    #[test]
    fn extreme_digests_fit_the_registers() {
        let mut counter = HyperLogLog::new();
        for digest in [0, u64::MAX, 1, 1 << 63, u64::MAX >> 16] {
            counter.add(digest);
        }
        assert!(counter.estimate().is_finite());
        let mut full = HyperLogLog::new();
        for register in 0..REGISTERS as u64 {
            full.add(register << REST);
        }
        assert!(full.estimate() > 1e18);
    }
}
