//! What a count of hits says about the rate behind it.

/// Both ends of the Clopper-Pearson interval for `hits` of `samples`, at 95 %: the exact one, which also holds where
/// there are few hits or none. A rate outside it would have given so few, or so many, hits in less than 2.5 % of all
/// tries.
pub(super) fn clopper_pearson(hits: u64, samples: u64) -> (f64, f64) {
    const TAIL: f64 = 0.025;
    if samples == 0 {
        return (0.0, 1.0);
    }
    let (hits_f, misses) = (hits as f64, samples.saturating_sub(hits) as f64);
    let high = if hits >= samples { 1.0 } else { quantile(hits_f + 1.0, misses, 1.0 - TAIL) };
    (lower_end(hits, samples, TAIL), high)
}

/// The rate that is certainly exceeded: a lower one would have given so many hits in one of ten thousand tries at most.
pub(super) fn certainly_above(hits: u64, samples: u64) -> f64 {
    lower_end(hits, samples, 1e-4)
}

fn lower_end(hits: u64, samples: u64, tail: f64) -> f64 {
    let misses = samples.saturating_sub(hits) as f64;
    if hits == 0 { 0.0 } else { quantile(hits as f64, misses + 1.0, tail) }
}

/// Where the distribution function of the beta distribution reaches `probability`.
fn quantile(a: f64, b: f64, probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    // Until no float lies between them; at most a thousand halvings for rates as low as floats go.
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high || high - low < 1e-13 * high {
            return middle;
        }
        if incomplete_beta(a, b, middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The regularised incomplete beta function.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let factor = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    // The fraction converges fast on one side of the mean, and the function is symmetric about it.
    if x < (a + 1.0) / (a + b + 2.0) {
        factor * fraction(a, b, x) / a
    } else {
        1.0 - factor * fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction of the incomplete beta function, from the front (Lentz).
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut product = d;
    // About the square root of the larger of a and b is needed.
    for step in 1..1_000_000u32 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        product *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        product *= d * c;
        if (d * c - 1.0).abs() < 1e-14 {
            break;
        }
    }
    product
}

/// The logarithm of the gamma function, for 1 and more: Stirling's series, where it is good to the last digits.
fn ln_gamma(value: f64) -> f64 {
    let (mut x, mut product) = (value, 1.0);
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(got: f64, expected: f64) {
        assert!((got - expected).abs() <= 1e-6 * expected.abs().max(1e-12), "{got}, expected {expected}");
    }

    #[test]
    fn ends_that_can_be_computed_otherwise() {
        // No hit: (1 - high)^n = 0.025; all hits: low^n = 0.025.
        for samples in [1u64, 10, 1_000_000, 100_000_000] {
            let (low, high) = clopper_pearson(0, samples);
            assert_eq!(low, 0.0);
            near(high, -(0.025f64.ln() / samples as f64).exp_m1());
            let (low, high) = clopper_pearson(samples, samples);
            assert_eq!(high, 1.0);
            near(low, (0.025f64.ln() / samples as f64).exp());
        }
        // One hit: 1 - (1 - low)^n = 0.025.
        near(clopper_pearson(1, 1_000).0, -((0.975f64.ln()) / 1_000.0).exp_m1());
    }

    #[test]
    fn ends_from_the_tables() {
        let (low, high) = clopper_pearson(5, 10);
        assert!((low - 0.187_086).abs() < 1e-6 && (high - 0.812_914).abs() < 1e-6, "{low} {high}");
        let (low, high) = clopper_pearson(1, 10);
        assert!((low - 0.002_529).abs() < 1e-6 && (high - 0.445_016).abs() < 1e-6, "{low} {high}");
    }

    #[test]
    fn what_is_certain_is_less() {
        // All hits: low^n = 1e-4.
        near(certainly_above(10, 10), (1e-4f64.ln() / 10.0).exp());
        assert_eq!(certainly_above(0, 10), 0.0);
        assert!(certainly_above(100, 10_000) < clopper_pearson(100, 10_000).0);
    }

    #[test]
    fn many_samples_give_the_normal_interval() {
        for (hits, samples) in [(10_000u64, 1_000_000u64), (1_000_000, 100_000_000), (500_000, 1_000_000)] {
            let (low, high) = clopper_pearson(hits, samples);
            let rate = hits as f64 / samples as f64;
            let half = 1.959_964 * (rate * (1.0 - rate) / samples as f64).sqrt();
            assert!((low - (rate - half)).abs() < 0.02 * half, "{hits}: {low}");
            assert!((high - (rate + half)).abs() < 0.02 * half, "{hits}: {high}");
        }
        assert_eq!(clopper_pearson(0, 0), (0.0, 1.0));
    }
}
