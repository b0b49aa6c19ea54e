//! How well a function mixes: avalanche and evenness.

use super::function::Hasher;
use crate::measure::mix;

/// Random keys whose bits are flipped one by one.
const AVALANCHE_KEYS: u64 = 4096;

/// Bits of a key and of a digest.
const BITS: usize = 64;

/// Keys that are sorted into buckets, and how many buckets there are.
const BUCKET_KEYS: u64 = 1 << 18;
const BUCKET_BITS: u32 = 12;

/// What happens to the digest when one bit of a key of eight bytes changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Avalanche {
    /// How often a bit of the digest changes, on average; 0.5 is right.
    pub(super) mean: f64,
    /// The pair of a key's bit and a digest's bit that is furthest from 0.5, and how far.
    pub(super) worst: f64,
}

/// Flips every bit of random keys.
pub(super) fn avalanche(hasher: &Hasher) -> Avalanche {
    let mut flips = [[0u32; BITS]; BITS];
    for number in 0..AVALANCHE_KEYS {
        let key = mix(number);
        let digest = hasher.hash(&key.to_le_bytes());
        for (bit, flips) in flips.iter_mut().enumerate() {
            let changed = digest ^ hasher.hash(&(key ^ 1 << bit).to_le_bytes());
            for (position, flips) in flips.iter_mut().enumerate() {
                *flips += u32::from(changed >> position & 1 == 1);
            }
        }
    }
    let share = |flips: u32| f64::from(flips) / AVALANCHE_KEYS as f64;
    let all = || flips.iter().flatten().copied().map(share);
    Avalanche {
        mean: all().sum::<f64>() / (BITS * BITS) as f64,
        worst: all().map(|share| (share - 0.5).abs()).fold(0.0, f64::max),
    }
}

/// Keys as they come in practice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// 0, 1, 2 … as eight bytes.
    Integers,
    /// Numbered pages of a site.
    Urls,
}

/// How evenly digests fall into buckets, by their highest and by their lowest bits: chi-square as a number of standard
/// deviations, of whichever is further off. Within 4 of 0 is what chance does; far above it the buckets are uneven, far
/// below it they are more even than chance.
pub(super) fn evenness(hasher: &Hasher, pattern: Pattern) -> f64 {
    let mut high = vec![0u32; 1 << BUCKET_BITS];
    let mut low = high.clone();
    let mut url = Vec::new();
    for number in 0..BUCKET_KEYS {
        let digest = match pattern {
            Pattern::Integers => hasher.hash(&number.to_le_bytes()),
            Pattern::Urls => {
                url.clear();
                url.extend_from_slice(b"https://example.org/page/");
                url.extend_from_slice(number.to_string().as_bytes());
                hasher.hash(&url)
            }
        };
        for (buckets, bits) in
            [(&mut high, digest >> (64 - BUCKET_BITS)), (&mut low, digest & ((1 << BUCKET_BITS) - 1))]
        {
            if let Some(count) = usize::try_from(bits).ok().and_then(|bits| buckets.get_mut(bits)) {
                *count += 1;
            }
        }
    }
    let (high, low) = (deviations(&high), deviations(&low));
    if high.abs() > low.abs() { high } else { low }
}

/// Chi-square of the counts, as standard deviations from what it is expected to be.
fn deviations(counts: &[u32]) -> f64 {
    let total: f64 = counts.iter().map(|count| f64::from(*count)).sum();
    let expected = total / counts.len() as f64;
    let chi_square: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    let freedom = counts.len() as f64 - 1.0;
    (chi_square - freedom) / (2.0 * freedom).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::function::Function;
    use mayhap::hash::NamedHash;

    fn hasher(function: Function) -> Hasher {
        Hasher::with_key(function, 0, None, false)
    }

    #[test]
    fn a_good_function_is_within_chance() {
        for function in [Function::Xxh3, Function::Sip13] {
            let hasher = hasher(function);
            let avalanche = avalanche(&hasher);
            assert!((avalanche.mean - 0.5).abs() < 0.002, "{avalanche:?}");
            // The furthest of 4096 shares of 4096 keys, each with a standard deviation of 0.0078.
            assert!(avalanche.worst < 0.047, "{avalanche:?}");
            for pattern in [Pattern::Integers, Pattern::Urls] {
                let off = evenness(&hasher, pattern);
                assert!(off.abs() < 6.0, "{function:?} {pattern:?}: {off}");
            }
        }
    }

    #[test]
    fn a_weak_one_is_seen() {
        let hasher = hasher(Function::Named(NamedHash::Fnv1));
        assert!(avalanche(&hasher).worst > 0.4);
        // With the finaliser it serves.
        let finished = Hasher::with_key(Function::Named(NamedHash::Fnv1), 0, None, true);
        assert!(avalanche(&finished).worst < 0.06);
    }

    #[test]
    fn even_counts_are_more_even_than_chance() {
        assert!(deviations(&[64; 4096]) < -40.0);
        let mut uneven = [64; 4096];
        uneven[0] = 6_400;
        assert!(deviations(&uneven) > 1_000.0);
    }
}
