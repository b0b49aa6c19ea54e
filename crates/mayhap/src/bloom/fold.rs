//! Making two sizes meet: fast-range positions in N places, each divided by d, are the positions in N/d places.

use alloc::vec::Vec;

use crate::merge_error::MergeError;

/// How two filters of one recipe come to one size.
pub(crate) enum Fit {
    Same,
    /// Fold the filter that is to be changed, by this factor.
    FoldOurs(u64),
    /// Fold a copy of the other one.
    FoldTheirs(u64),
}

impl Fit {
    /// Nothing when neither size is a multiple of the other.
    pub(crate) fn of(ours: u64, theirs: u64) -> Option<Self> {
        if ours == theirs {
            Some(Self::Same)
        } else if ours.is_multiple_of(theirs) {
            Some(Self::FoldOurs(ours / theirs))
        } else if theirs.is_multiple_of(ours) {
            Some(Self::FoldTheirs(theirs / ours))
        } else {
            None
        }
    }
}

/// Refuses rates that no filter has.
pub(crate) fn check_rate(rate: f64) -> Result<(), MergeError> {
    crate::sizing::check_rate(rate).map_err(|_| MergeError::Rate { got: rate })
}

/// The largest divisor of `size` that is acceptable, where all below some number are; at least 1.
pub(crate) fn largest_divisor(size: u64, acceptable: impl Fn(u64) -> bool) -> u64 {
    let divisors = divisors(size);
    let accepted = divisors.partition_point(|factor| *factor == 1 || acceptable(*factor));
    divisors[accepted - 1]
}

/// All divisors, in order. Sizes are products of small primes and one larger rest, so trial division ends early.
fn divisors(mut size: u64) -> Vec<u64> {
    let mut divisors = alloc::vec![1];
    let mut multiply = |prime: u64, times: u32| {
        let known = divisors.len();
        let mut power = 1;
        for _ in 0..times {
            power *= prime;
            for i in 0..known {
                divisors.push(divisors[i] * power);
            }
        }
    };
    let mut prime = 2;
    // A rest without a divisor up to here is taken as one prime: a factor of it would be of no practical use.
    while prime <= TRIAL_LIMIT && prime <= size / prime {
        let mut times = 0;
        while size.is_multiple_of(prime) {
            size /= prime;
            times += 1;
        }
        multiply(prime, times);
        prime += 1;
    }
    if size > 1 {
        multiply(size, 1);
    }
    divisors.sort_unstable();
    divisors
}

const TRIAL_LIMIT: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_divisor() {
        for size in 1..2_000u64 {
            let expected: Vec<u64> = (1..=size).filter(|factor| size.is_multiple_of(*factor)).collect();
            assert_eq!(divisors(size), expected);
        }
        assert_eq!(divisors(720_720).len(), 240);
        assert_eq!(divisors(u64::MAX).len(), 128 / 2 * 2);
    }

    #[test]
    fn the_largest_acceptable_divisor() {
        assert_eq!(largest_divisor(360, |factor| factor <= 100), 90);
        assert_eq!(largest_divisor(360, |_| false), 1);
        assert_eq!(largest_divisor(360, |_| true), 360);
        assert_eq!(largest_divisor(1, |_| true), 1);
        assert_eq!(largest_divisor((1 << 61) - 1, |factor| factor < 1000), 1, "a prime");
    }
}
