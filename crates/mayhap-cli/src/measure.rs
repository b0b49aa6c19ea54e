//! What measurements share: keys that look random, and medians.

/// The number behind number: a bijection, so that different numbers make different keys and nobody has to keep a list
/// of them. (The finaliser of `SplitMix64`, which shares nothing with the hash functions of the filters.)
#[inline]
pub(crate) fn mix(number: u64) -> u64 {
    let word = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The median, the mean of the middle two for an even number; NaN of none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.get(middle) {
        None => f64::NAN,
        Some(upper) if sorted.len() % 2 == 1 => *upper,
        Some(upper) => f64::midpoint(sorted[middle - 1], *upper),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_numbers() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }
}
