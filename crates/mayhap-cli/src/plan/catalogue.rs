//! The kinds that delete, grow, count or forget.
//!
//! Each knows its memory for a number of keys and a rate. The other questions, how many keys fit and which rate is left,
//! are answered by searching, in the same way for all.

use mayhap::counting::CounterWidth;
use mayhap::sizing::{CountingPlan, CuckooPlan, DLeftPlan, GrowthPlan, SizingError, lowest_rate};
use mayhap::{DualBloom, ScalableCuckoo, WindowBloom};

use super::filters::{Candidate, Kind, Question};
use crate::numbers::{format_count, format_rate, format_size};

/// In the order of the table.
const KINDS: [Kind; 9] = [
    Kind::Scalable,
    Kind::Window,
    Kind::Counting(CounterWidth::Four),
    Kind::Counting(CounterWidth::Eight),
    Kind::Counting(CounterWidth::Sixteen),
    Kind::Dual,
    Kind::DLeft,
    Kind::Cuckoo,
    Kind::ScalableCuckoo,
];

/// A key has two buckets, each within a line.
const CUCKOO_LINES: u64 = 2;

/// One candidate of each kind, and a remark for each that has none. Nothing when the question isn't about keys, rate and
/// memory: the number of bits for each key is the Bloom filters' own.
pub(super) fn catalogue(question: &Question) -> (Vec<Candidate>, Vec<String>) {
    let mut found = Vec::new();
    let mut remarks = Vec::new();
    for kind in KINDS {
        let candidate = match (question.keys, question.rate, question.bytes, question.hashes) {
            (Some(keys), Some(rate), None, None) => sized(kind, keys, rate),
            (Some(keys), None, Some(bytes), None) => best_rate(kind, keys, bytes),
            (None, Some(rate), Some(bytes), None) => most_keys(kind, bytes, rate),
            _ => continue,
        };
        match candidate {
            Ok(candidate) => found.push(candidate),
            Err(reason) => remarks.push(format!("No {}: {}.", kind.label(), in_words(question, &reason))),
        }
    }
    if question.hashes.is_some() {
        remarks
            .push("-k is for Bloom filters alone; without it the other kinds stand beside them.".to_owned());
    }
    (found, remarks)
}

/// Why a kind isn't there. Where its memory was given, it is no limit that could be raised.
pub(super) fn in_words(question: &Question, reason: &SizingError) -> String {
    match (question.keys, question.rate, reason) {
        (_, None, SizingError::TooLarge { bytes, .. }) => {
            format!("even at a rate of {} it needs {}", format_rate(WORST_RATE), format_size(*bytes))
        }
        (None, _, SizingError::TooLarge { bytes, .. }) => {
            format!("even for one key it needs {}", format_size(*bytes))
        }
        // What the error advises is for whoever makes one of this kind; here the other kinds stand beside it.
        (_, _, SizingError::RateOutOfReach { lowest, keys, .. }) if *lowest < 1.0 => format!(
            "its fingerprints have 32 bits at most, and the lowest rate that they keep for {} is {}",
            keys_in_words(*keys),
            format_rate(rounded_up(*lowest))
        ),
        (_, _, SizingError::RateTooLow { lowest, keys, .. }) if *lowest < 1.0 => format!(
            "its digests have 64 bits, and the lowest rate that they keep for {} is {}",
            keys_in_words(*keys),
            format_rate(rounded_up(*lowest))
        ),
        (_, None, SizingError::TooSmall { needed, .. }) => format!("it needs {}", format_size(*needed)),
        _ => reason.to_string(),
    }
}

/// To three digits and no lower, so that who asks for it gets it.
fn rounded_up(rate: f64) -> f64 {
    let unit = 10f64.powf(rate.log10().floor() - 2.0);
    // What is three digits already stays as it is, whatever the division made of it.
    (rate / unit * (1.0 - 1e-9)).ceil() * unit
}

fn keys_in_words(keys: u64) -> String {
    if keys == 1 { "a single key".to_owned() } else { format!("{} keys", format_count(keys)) }
}

/// Filters that err more often are none.
pub(super) const WORST_RATE: f64 = 0.5;

/// The filter of a kind for a number of keys at a rate.
fn sized(kind: Kind, keys: u64, rate: f64) -> Result<Candidate, SizingError> {
    let (bytes, lines) = match kind {
        Kind::Scalable => {
            let plan = GrowthPlan::new(keys, rate, 2)?.layer(0)?;
            (plan.bytes(), plan.lines())
        }
        Kind::Window => {
            let plan = WindowBloom::builder().keys(keys).rate(rate).plan()?;
            (plan.bytes(), plan.generation().lines() * (u64::from(plan.generations()) + 1))
        }
        Kind::Counting(width) => {
            let plan = CountingPlan::for_rate(keys, rate, width)?;
            (plan.bytes(), plan.lines())
        }
        Kind::Dual => {
            let plan = DualBloom::builder().keys(keys).rate(rate).plan()?;
            (plan.bytes(), plan.added().lines() + plan.removed().lines())
        }
        Kind::DLeft => {
            let plan = DLeftPlan::for_rate(keys, rate)?;
            (plan.bytes(), plan.lines())
        }
        Kind::Cuckoo => (CuckooPlan::for_rate(keys, rate)?.bytes(), CUCKOO_LINES),
        Kind::ScalableCuckoo => {
            let plan = ScalableCuckoo::builder().keys(keys).rate(rate).plan()?;
            (plan.bytes(), CUCKOO_LINES)
        }
        Kind::Blocked(_) | Kind::Classic => return Err(SizingError::ZeroKeys),
    };
    Ok(Candidate::of(kind, keys, bytes, rate, lines as f64))
}

/// The lowest rate that so many keys have in so much memory.
fn best_rate(kind: Kind, keys: u64, bytes: u64) -> Result<Candidate, SizingError> {
    const STEPS: u32 = 40;
    let fits = |rate: f64| sized(kind, keys, rate).ok().filter(|candidate| candidate.bytes <= Some(bytes));
    let Some(mut best) = fits(WORST_RATE) else {
        let needed = sized(kind, keys, WORST_RATE)?.bytes.unwrap_or(u64::MAX);
        return Err(SizingError::TooLarge { bytes: needed, limit: bytes });
    };
    // Between a rate that is too low and one that isn't, on a logarithmic scale.
    let (mut too_low, mut possible) = (lowest_rate(keys).ln(), WORST_RATE.ln());
    for _ in 0..STEPS {
        let middle = f64::midpoint(too_low, possible);
        match fits(middle.exp()) {
            Some(candidate) => (best, possible) = (candidate, middle),
            None => too_low = middle,
        }
    }
    Ok(best)
}

/// The most keys that so much memory holds at a rate.
fn most_keys(kind: Kind, bytes: u64, rate: f64) -> Result<Candidate, SizingError> {
    let fits = |keys: u64| sized(kind, keys, rate).ok().filter(|candidate| candidate.bytes <= Some(bytes));
    let Some(mut most) = fits(1) else {
        let needed = sized(kind, 1, rate)?.bytes.unwrap_or(u64::MAX);
        return Err(SizingError::TooLarge { bytes: needed, limit: bytes });
    };
    let (mut possible, mut too_many) = (1, 2u64);
    while let Some(candidate) = fits(too_many) {
        most = candidate;
        possible = too_many;
        too_many = too_many.saturating_mul(2);
    }
    // Eight digits are more than anybody reads.
    while too_many - possible > 1 + possible / 100_000_000 {
        let middle = possible.midpoint(too_many);
        match fits(middle) {
            Some(candidate) => (most, possible) = (candidate, middle),
            None => too_many = middle,
        }
    }
    Ok(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Question = Question { keys: None, rate: None, bytes: None, hashes: None };

    #[test]
    fn the_three_questions_agree() {
        let (by_rate, remarks) = catalogue(&Question { keys: Some(1_000_000), rate: Some(0.01), ..NOTHING });
        assert!(remarks.is_empty(), "{remarks:?}");
        assert_eq!(by_rate.len(), KINDS.len());
        for candidate in by_rate {
            let bytes = candidate.bytes;
            let most = most_keys(candidate.kind, bytes.unwrap(), 0.01).unwrap();
            let keys = most.keys.unwrap();
            assert!((1_000_000..1_100_000).contains(&keys), "{:?} holds {keys}", candidate.kind);
            let best = best_rate(candidate.kind, 1_000_000, bytes.unwrap()).unwrap();
            // Not much lower, but for 8-bit counters, which at lower rates lie in two lines and need less.
            assert!(best.rate <= 0.01 && best.rate > 0.003, "{:?} has {}", candidate.kind, best.rate);
            assert!(best.bytes <= bytes && most.bytes <= bytes);
        }
    }

    /// A window of fewer keys than the usual slots has a slot for each.
    #[test]
    fn a_window_of_few_keys_has_few_generations() {
        for keys in 1..=5 {
            let planned = sized(Kind::Window, keys, 0.01).unwrap();
            let filter = WindowBloom::with_rate(keys, 0.01).unwrap();
            assert_eq!(planned.bytes, Some(filter.len_bytes()), "{keys}");
            assert_eq!(planned.lines_if_absent, keys.min(4) as f64 + 1.0, "{keys}");
        }
    }

    #[test]
    fn a_lowest_rate_can_be_had() {
        let mut tried = 0;
        for keys in [1, 2, 100, 1_000_000] {
            for asked in [1e-9, 1e-12] {
                let (_, remarks) = catalogue(&Question { keys: Some(keys), rate: Some(asked), ..NOTHING });
                for remark in &remarks {
                    let name = remark.strip_prefix("No ").and_then(|rest| rest.split(':').next()).unwrap();
                    let kind = KINDS.into_iter().find(|kind| kind.label() == name).unwrap();
                    let rate = remark.rsplit(" is ").next().and_then(|rest| rest.split(' ').next()).unwrap();
                    let lowest: f64 = rate.parse().unwrap();
                    assert!(sized(kind, keys, lowest).is_ok(), "{keys} {remark}");
                    assert!(sized(kind, keys, lowest * 0.99).is_err(), "{keys} {remark}");
                    tried += 1;
                }
            }
        }
        assert!(tried > 10, "{tried}");
    }

    #[test]
    fn the_impossible_is_a_remark() {
        let (found, remarks) = catalogue(&Question { keys: Some(1_000_000), bytes: Some(64), ..NOTHING });
        assert_eq!((found.len(), remarks.len()), (0, KINDS.len()));
        let (found, remarks) = catalogue(&Question { bytes: Some(10), rate: Some(0.01), ..NOTHING });
        assert_eq!((found.len(), remarks.len()), (0, KINDS.len()));
        assert!(remarks[0].starts_with("No ScalableBloom: "), "{remarks:?}");
        let (found, remarks) = catalogue(&Question { bytes: Some(10), hashes: Some(8), ..NOTHING });
        assert!(found.is_empty() && remarks.len() == 1 && remarks[0].starts_with("-k is"), "{remarks:?}");
    }
}
