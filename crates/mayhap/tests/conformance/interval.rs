//! How far a measurement may lie from what was expected.
//!
//! Every interval here is one of 4.5 standard deviations, or of the same tail probability: 3.4 in a million
//! on each side. With some thousand comparisons in the suite a right implementation would fall outside one of
//! them for about one in a hundred choices of seeds; the seeds are fixed, so the choice was made once.
#![allow(dead_code, reason = "each test target that includes this file uses a part of it")]

/// Standard deviations that are still taken for chance.
pub(crate) const SIGMAS: f64 = 4.5;
/// The probability of more than that, on one side of a normal distribution.
pub(crate) const TAIL: f64 = 3.4e-6;
/// Expected counts below this are compared by the exact Poisson distribution instead of the normal one.
const FEW: f64 = 30.0;

/// Counts of false positives, each among the same number of questions to a filter of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    filters: f64,
    questions: f64,
    sum: f64,
    sum_of_squares: f64,
    filters_with_any: u64,
}

impl Pool {
    /// For filters that are asked this many questions each.
    pub(crate) fn of_questions(questions: u64) -> Self {
        Self { questions: questions as f64, ..Self::default() }
    }

    pub(crate) fn add(&mut self, positives: u64) {
        self.filters += 1.0;
        self.sum += positives as f64;
        self.sum_of_squares += (positives * positives) as f64;
        self.filters_with_any += u64::from(positives > 0);
    }

    /// Panics when the measured rate is above what a rate of at most `promise` explains.
    pub(crate) fn assert_at_most(&self, promise: f64, context: &str) {
        self.assert_below(promise, "the promise", context);
    }

    /// Panics when the measured rate is further from `model` than chance explains. Where fewer than 30 false
    /// positives are expected there is no lower limit.
    pub(crate) fn assert_agrees(&self, model: f64, context: &str) {
        self.assert_below(model, "the model", context);
        if self.expected(model) >= FEW {
            let z = (self.rate() - model) / self.standard_error();
            assert!(z >= -SIGMAS, "{context}: {}", self.describe(model, "the model"));
        }
    }

    fn assert_below(&self, limit: f64, whose: &str, context: &str) {
        let fits = if self.expected(limit) >= FEW {
            self.rate() <= limit + SIGMAS * self.standard_error()
        } else {
            // Positives of one filter come in company, filters with any at all do not: their number is
            // binomial with a mean of at most the expected number of positives, whatever the distribution of
            // those.
            poisson_at_least(self.expected(limit), self.filters_with_any) >= TAIL
        };
        assert!(fits, "{context}: {}", self.describe(limit, whose));
    }

    /// The measured rate.
    fn rate(&self) -> f64 {
        self.sum / (self.filters * self.questions)
    }

    /// The standard error of the measured rate: from the variance between the filters, which contains that of
    /// asking (binomial) and that of filters differing in how full they happen to be.
    fn standard_error(&self) -> f64 {
        let mean = self.sum / self.filters;
        let variance =
            (self.sum_of_squares / self.filters - mean * mean) * self.filters / (self.filters - 1.0);
        (variance / self.filters).sqrt() / self.questions
    }

    fn expected(&self, rate: f64) -> f64 {
        rate * self.filters * self.questions
    }

    fn describe(&self, limit: f64, whose: &str) -> String {
        format!(
            "measured {:.4e}, {whose} says {limit:.4e}: {:.3} times, {:.1} standard errors ({} false positives in {} \
             of {} filters, {} questions to each, {:.1} expected)",
            self.rate(),
            self.rate() / limit,
            (self.rate() - limit) / self.standard_error(),
            self.sum,
            self.filters_with_any,
            self.filters,
            self.questions,
            self.expected(limit),
        )
    }
}

/// Panics when `count` of `questions` is further from `rate` than chance explains.
///
/// `spread` is the relative variance of the rate between filters: 0 when `rate` is that of this very filter.
pub(crate) fn assert_count(count: u64, questions: u64, rate: f64, spread: f64, context: &str) {
    assert_count_at_most(count, questions, rate, spread, context);
    let expected = questions as f64 * rate;
    let enough = if expected >= FEW {
        deviations(count, questions, rate, spread) >= -SIGMAS
    } else {
        poisson_at_most(expected, count) >= TAIL
    };
    assert!(
        enough,
        "{context}: {count} of {questions}, {expected:.1} expected ({rate:.4e}): {:.1} standard deviations, too few",
        deviations(count, questions, rate, spread)
    );
}

/// Panics when `count` of `questions` is above what a rate of at most `rate` explains.
pub(crate) fn assert_count_at_most(count: u64, questions: u64, rate: f64, spread: f64, context: &str) {
    let expected = questions as f64 * rate;
    let fits = if expected >= FEW {
        deviations(count, questions, rate, spread) <= SIGMAS
    } else {
        poisson_at_least(expected, count) >= TAIL
    };
    assert!(
        fits,
        "{context}: {count} of {questions}, {expected:.1} expected ({rate:.4e}): {:.1} standard deviations, too many",
        deviations(count, questions, rate, spread)
    );
}

fn deviations(count: u64, questions: u64, rate: f64, spread: f64) -> f64 {
    let expected = questions as f64 * rate;
    (count as f64 - expected) / (expected * (1.0 - rate) + expected * expected * spread).sqrt()
}

/// The mean of some numbers, and its standard error.
pub(crate) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// P(X ≥ count) for a Poisson X.
pub(crate) fn poisson_at_least(mean: f64, count: u64) -> f64 {
    if count == 0 { 1.0 } else { 1.0 - poisson_at_most(mean, count - 1) }
}

/// P(X ≤ count) for a Poisson X of a mean below a few hundred.
pub(crate) fn poisson_at_most(mean: f64, count: u64) -> f64 {
    let (mut term, mut sum) = ((-mean).exp(), 0.0);
    for i in 0..=count {
        sum += term;
        term *= mean / (i + 1) as f64;
    }
    sum
}
