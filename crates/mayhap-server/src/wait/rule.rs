//! Whether to look for events before sleeping: learnt from how it went so far. There is no clock in here.

use std::time::Duration;

/// What a look in vain costs, in looks that found something.
const PRICE: u32 = 8;

/// More credit than this isn't kept: two looks in vain, one after the other, end it.
const MOST_CREDIT: u32 = 2 * PRICE;

/// Short sleeps before the first look, and the most before another, when look after look was in vain.
const FIRST_NEEDED: u32 = 4;
const MOST_NEEDED: u32 = 512;

/// What a worker has learnt about its clients.
///
/// It starts asleep. Sleeps that were short, and ended by somebody who had just been answered, count as evidence that looking would have found something, and enough of
/// them give credit for a try. A look that finds something adds to the credit; one in vain takes away what eight have
/// added. Without credit there are no looks, and after every failed try twice as much evidence is needed for the next.
///
/// So a server that nobody asks doesn't look at all, one whose clients are slow hardly ever, and of all waits at most
/// one in nine is a look in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    credit: u32,
    evidence: u32,
    needed: u32,
}

impl Default for Rule {
    fn default() -> Self {
        Self { credit: 0, evidence: 0, needed: FIRST_NEEDED }
    }
}

impl Rule {
    /// Whether to look for events now.
    pub(super) fn is_to_poll(&self) -> bool {
        self.credit > 0
    }

    /// It has looked: with success, or in vain.
    pub(super) fn note_polled(&mut self, is_caught: bool) {
        if is_caught {
            self.credit = (self.credit + 1).min(MOST_CREDIT);
            if self.credit == MOST_CREDIT {
                self.needed = FIRST_NEEDED;
            }
            return;
        }
        self.credit = self.credit.saturating_sub(PRICE);
        if self.credit == 0 {
            self.evidence = 0;
            self.needed = self.needed.saturating_mul(2).min(MOST_NEEDED);
        }
    }

    /// It has slept, for so long, where it might have looked for as long as `limit`; whether who came was expected.
    pub(super) fn note_slept(&mut self, slept: Duration, limit: Duration, is_expected: bool) {
        // Waking up is a part of the time: who looks doesn't spend it.
        if slept > limit.saturating_mul(2) || !is_expected {
            self.evidence = self.evidence.saturating_sub(PRICE);
            return;
        }
        self.evidence += 1;
        if self.evidence >= self.needed {
            self.evidence = 0;
            self.credit = self.credit.max(PRICE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_micros(100);
    const SHORT: Duration = Duration::from_micros(150);
    const LONG: Duration = Duration::from_micros(201);

    /// Waits as often as this: looks find something if `is_caught` says so for their number, sleeps take `slept`. How
    /// often it looked, and how often in vain.
    fn play(
        rule: &mut Rule,
        waits: u32,
        slept: impl Fn(u32) -> Duration,
        is_caught: impl Fn(u32) -> bool,
    ) -> (u32, u32) {
        let (mut looks, mut in_vain) = (0, 0);
        for wait in 0..waits {
            if rule.is_to_poll() {
                let is_caught = is_caught(looks);
                looks += 1;
                in_vain += u32::from(!is_caught);
                rule.note_polled(is_caught);
            } else {
                rule.note_slept(slept(wait), LIMIT, true);
            }
        }
        (looks, in_vain)
    }

    #[test]
    fn it_starts_asleep_and_learns_from_short_sleeps() {
        let mut rule = Rule::default();
        assert!(!rule.is_to_poll());
        assert_eq!(play(&mut rule, 1_000, |_| SHORT, |_| true), (1_000 - FIRST_NEEDED, 0));
    }

    #[test]
    fn slow_clients_are_never_looked_for() {
        assert_eq!(play(&mut Rule::default(), 1_000_000, |_| LONG, |_| true), (0, 0));
        // A pause after every three short waits, and evidence never comes together.
        let slept = |wait| if wait % 4 == 0 { LONG } else { SHORT };
        assert_eq!(play(&mut Rule::default(), 1_000_000, slept, |_| true), (0, 0));
    }

    #[test]
    fn a_crowd_in_which_everybody_comes_seldom_is_not_looked_for() {
        let mut rule = Rule::default();
        for wait in 0..100_000 {
            rule.note_slept(SHORT, LIMIT, wait % 4 == 0);
            assert!(!rule.is_to_poll());
        }
    }

    #[test]
    fn looks_in_vain_end_soon_and_are_tried_ever_more_seldom() {
        let mut rule = Rule::default();
        play(&mut rule, 1_000, |_| SHORT, |_| true);
        // With all the credit there is: two.
        rule.note_polled(false);
        assert!(rule.is_to_poll());
        rule.note_polled(false);
        assert!(!rule.is_to_poll());
        // Sleeps that look promising and never are: 8, 16, … 512 of them before each try.
        let mut gap = 0;
        let mut gaps = Vec::new();
        for _ in 0..3_000 {
            if rule.is_to_poll() {
                rule.note_polled(false);
                gaps.push(std::mem::take(&mut gap));
            } else {
                rule.note_slept(SHORT, LIMIT, true);
                gap += 1;
            }
        }
        assert_eq!(gaps, [8, 16, 32, 64, 128, 256, 512, 512, 512, 512]);
    }

    #[test]
    fn of_many_waits_few_are_looks_in_vain() {
        for every in 2..40 {
            let waits = 100_000;
            let (looks, in_vain) = play(&mut Rule::default(), waits, |_| SHORT, |look| look % every != 0);
            assert!(in_vain <= waits / 9 + 1, "one in {every}: {in_vain} of {looks}");
            if every > PRICE + 1 {
                assert!(looks > waits * 9 / 10, "one in {every}: only {looks} looks");
            }
        }
    }

    #[test]
    fn success_is_trusted_again() {
        let mut rule = Rule::default();
        play(&mut rule, 100_000, |_| SHORT, |_| false);
        assert_eq!(rule.needed, MOST_NEEDED);
        play(&mut rule, 2 * MOST_NEEDED, |_| SHORT, |_| true);
        assert_eq!((rule.credit, rule.needed), (MOST_CREDIT, FIRST_NEEDED));
    }
}
