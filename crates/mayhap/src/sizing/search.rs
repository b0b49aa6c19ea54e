//! Finding the turning point of a monotone question over whole numbers.

use core::ops::RangeInclusive;

/// The least number in `range` that satisfies `meets`, which must stay true once it is true; `None` if none does.
///
/// Walks away from `guess` in growing steps until the turning point lies between two numbers, then halves the gap. With
/// a guess within a few per cent it takes some twenty questions at any size. Where `meets` is not quite monotone (the
/// last digits of a float), the answer still meets it and its predecessor doesn't.
pub(super) fn least(guess: u64, range: RangeInclusive<u64>, meets: impl Fn(u64) -> bool) -> Option<u64> {
    let (floor, ceiling) = range.into_inner();
    let guess = guess.clamp(floor, ceiling);
    let mut step = guess / 32 + 1;
    let (mut fails, mut holds);
    if meets(guess) {
        holds = guess;
        loop {
            if holds == floor {
                return Some(floor);
            }
            let next = holds.saturating_sub(step).max(floor);
            if !meets(next) {
                fails = next;
                break;
            }
            holds = next;
            step = step.saturating_mul(2);
        }
    } else {
        fails = guess;
        loop {
            if fails == ceiling {
                return None;
            }
            let next = fails.saturating_add(step).min(ceiling);
            if meets(next) {
                holds = next;
                break;
            }
            fails = next;
            step = step.saturating_mul(2);
        }
    }
    while holds - fails > 1 {
        let middle = fails + (holds - fails) / 2;
        if meets(middle) {
            holds = middle;
        } else {
            fails = middle;
        }
    }
    Some(holds)
}

/// The most of `range` that satisfies `meets`, which must stay false once it is false; `None` if not even the first does.
pub(super) fn most(guess: u64, range: RangeInclusive<u64>, meets: impl Fn(u64) -> bool) -> Option<u64> {
    let (floor, ceiling) = range.into_inner();
    match least(guess, floor..=ceiling, |candidate| !meets(candidate)) {
        None => Some(ceiling),
        Some(first) if first == floor => None,
        Some(first) => Some(first - 1),
    }
}

/// A size computed in floating point as a whole number, rounded up; negative and NaN become 0, too large `u64::MAX`.
#[allow(clippy::cast_possible_truncation)] // `as` saturates, which is what is wanted.
pub(super) fn rounded_up(size: f64) -> u64 {
    libm::ceil(size) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_turning_point_from_any_guess() {
        for turn in [1, 2, 63, 64, 1_000_003, 1 << 40, u64::MAX - 1, u64::MAX] {
            for guess in [0, 1, 2, 70, 1 << 20, 1 << 41, u64::MAX] {
                assert_eq!(least(guess, 1..=u64::MAX, |x| x >= turn), Some(turn), "{turn} from {guess}");
                assert_eq!(most(guess, 1..=u64::MAX, |x| x <= turn), Some(turn), "{turn} from {guess}");
            }
        }
        assert_eq!(least(5, 1..=10, |_| false), None);
        assert_eq!(least(5, 1..=10, |_| true), Some(1));
        assert_eq!(most(5, 1..=10, |_| true), Some(10));
        assert_eq!(most(5, 1..=10, |_| false), None);
    }

    #[test]
    fn a_good_guess_takes_few_questions() {
        let turn = 95_850_584_u64;
        let asked = core::cell::Cell::new(0);
        let found = least(turn + turn / 50, 1..=u64::MAX, |x| {
            asked.set(asked.get() + 1);
            x >= turn
        });
        assert_eq!(found, Some(turn));
        assert!(asked.get() < 30, "{}", asked.get());
    }

    #[test]
    fn sizes_saturate() {
        assert_eq!(rounded_up(2.1), 3);
        assert_eq!(rounded_up(-4.0), 0);
        assert_eq!(rounded_up(f64::NAN), 0);
        assert_eq!(rounded_up(1e300), u64::MAX);
    }
}
