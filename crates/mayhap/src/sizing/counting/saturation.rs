//! How often a counter sticks.

use libm::{exp, lgamma, log, log1p};

use crate::counting::CounterLayout;

/// Terms below this share of the sum are left out.
const NEGLIGIBLE: f64 = 1e-17;

/// The probability that a given counter reaches its maximum, and so sticks, when `keys` distinct keys are added once
/// each to `blocks` lines.
///
/// A key raises a given counter with probability 1 / (N·G), for N lines in a half and G counters in a group, whatever the
/// shape. So a counter's number is binomial, and this is the tail of it: P(at least 15) for 4 bits. Copies come on top: a
/// key that is added as often as the [maximum](crate::counting::CounterWidth::max) makes its own counters stick.
///
/// ```
/// use mayhap::counting::CounterWidth;
/// use mayhap::sizing::CountingPlan;
///
/// // In a filter filled to its plan no counter of four bits sticks, not even among a billion keys.
/// let plan = CountingPlan::for_rate(1_000_000_000, 0.01, CounterWidth::Four)?;
/// assert!(plan.saturation() < 1e-14 && plan.stuck_counters() < 0.001);
/// # Ok::<(), mayhap::sizing::SizingError>(())
/// ```
#[must_use]
pub fn saturation(layout: CounterLayout, keys: u64, blocks: u64) -> f64 {
    let places = (blocks / layout.shape.lines()) as f64 * layout.counters_per_group() as f64;
    let (n, max) = (keys as f64, layout.width.max() as f64);
    if n < max {
        return 0.0;
    }
    if places < 2.0 {
        return 1.0;
    }
    let share = 1.0 / places;
    if n * share > max {
        // Above the middle the sum would have to start far below its largest term; it is the other end that is short.
        return 1.0 - below(n, share, max);
    }
    // From the maximum upwards the terms fall by a ratio that falls itself.
    let mut term = exp(log_probability(n, share, max));
    let (mut sum, mut t) = (term, max);
    while t < n && term > sum * NEGLIGIBLE {
        term *= (n - t) / (t + 1.0) * share / (1.0 - share);
        t += 1.0;
        sum += term;
    }
    sum.min(1.0)
}

/// How many counters are expected to stick when `keys` distinct keys are added once each to `blocks` lines.
#[must_use]
pub fn stuck_counters(layout: CounterLayout, keys: u64, blocks: u64) -> f64 {
    saturation(layout, keys, blocks) * blocks as f64 * layout.counters_per_line() as f64
}

/// P(fewer than `max`), from `max - 1` downwards.
fn below(n: f64, share: f64, max: f64) -> f64 {
    let mut t = max - 1.0;
    let mut term = exp(log_probability(n, share, t));
    let mut sum = term;
    while t > 0.0 && term > sum * NEGLIGIBLE {
        term *= t / (n - t + 1.0) * (1.0 - share) / share;
        t -= 1.0;
        sum += term;
    }
    sum.min(1.0)
}

/// ln P(exactly t) of the binomial distribution.
///
/// The factorials of n and n - t are huge and nearly cancel; their quotient is taken factor by factor instead, which is
/// at most 65 535 of them.
fn log_probability(n: f64, share: f64, t: f64) -> f64 {
    let mut falling = 0.0;
    let mut i = 0.0;
    while i < t {
        falling += log1p(-i / n);
        i += 1.0;
    }
    t * log(n * share) + falling - lgamma(t + 1.0) + (n - t) * log1p(-share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counting::{CounterShape, CounterWidth};

    const NARROW: CounterLayout = CounterLayout { shape: CounterShape::Eight, width: CounterWidth::Four };

    #[test]
    fn the_tail_of_the_poisson_distribution() {
        // A billion keys at one key for every group of 16 counters, and at half of it.
        for (keys, blocks, mean) in
            [(1_u64 << 34, 1_u64 << 30, 1.0_f64), (1 << 33, 1 << 30, 0.5), (1 << 37, 1 << 30, 8.0)]
        {
            let mut term = exp(-mean);
            let mut below = 0.0;
            for t in 0..15_u32 {
                below += term;
                term *= mean / f64::from(t + 1);
            }
            let (mut tail, mut t) = (0.0, 15.0);
            while term > 1e-40 {
                tail += term;
                t += 1.0;
                term *= mean / t;
            }
            let got = saturation(NARROW, keys, blocks);
            assert!((got / tail - 1.0).abs() < 1e-6, "{mean}: {got}, not {tail} ({below} below)");
        }
    }

    #[test]
    fn small_cases_by_hand() {
        // One line: each of 15 keys hits a given counter of 16 with probability 1/16.
        let by_hand = libm::pow(1.0 / 16.0, 15.0);
        assert!((saturation(NARROW, 15, 1) / by_hand - 1.0).abs() < 1e-9);
        assert_eq!(saturation(NARROW, 14, 1), 0.0);
        assert!((saturation(NARROW, 100_000, 1) - 1.0).abs() < 1e-12);
        // The two ends of the distribution meet in the middle.
        let (before, after) = (saturation(NARROW, 15 * 16, 1), saturation(NARROW, 15 * 16 + 1, 1));
        assert!(before < after && after - before < 0.02, "{before} {after}");
        let plenty = CounterLayout { width: CounterWidth::Sixteen, ..NARROW };
        assert_eq!(saturation(plenty, 1_000_000, 1_000), 0.0);
        assert_eq!(saturation(plenty, 10, 0), 0.0);
        assert_eq!(saturation(NARROW, 100, 0), 1.0);
    }

    /// Counted in simulated counters: 20 000 counters at a mean of 8 give 345 stuck ones, within five deviations.
    #[test]
    fn simulated_counters_stick_as_often_as_the_formula_says() {
        let (counters, keys) = (20_000_usize, 160_000);
        let mut state = 7_u64;
        let mut counts = std::vec![0_u32; counters];
        for _ in 0..keys {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mixed = (state ^ (state >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
            counts[((u128::from(mixed ^ (mixed >> 29)) * counters as u128) >> 64) as usize] += 1;
        }
        let stuck = counts.iter().filter(|count| **count >= 15).count() as f64;
        // 1 250 lines of 16 places in each of eight groups: a group is these 20 000 counters.
        let expected = saturation(NARROW, keys, 1_250) * counters as f64;
        assert!((stuck - expected).abs() < 5.0 * libm::sqrt(expected), "{stuck}, not {expected}");
    }
}
