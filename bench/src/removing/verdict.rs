//! The targets checked against a race: what was promised, what was measured, who was faster.

use super::{DELETE, DOOMED_HIT, OPERATIONS, Race, Standing};
use crate::report;
use crate::verdict::faster as faster_operations;

/// What "as fast as" means.
const MOST_OF_A_HIT: f64 = 1.2;

impl Race {
    /// One sentence for each of ours: against whom, of those it is compared with, is the least ratio reached in all these
    /// operations?
    pub(crate) fn targets(
        &self,
        least: f64,
        operations: &[usize],
        compared: impl Fn(&Standing, &Standing) -> bool,
    ) -> Vec<String> {
        let target = |ours: &Standing| {
            let peers = self.peers().filter(|peer| compared(ours, peer));
            let peers = peers.map(|peer| against(ours, peer, least, operations));
            let outcome = outcome(["met against", "MISSED against"], peers)?;
            let bits = ours.bits_per_key;
            Some(format!("Target of {} ({bits:.2} bits per key), {least}x: {outcome}.", ours.name))
        };
        self.ours().filter_map(target).collect()
    }

    /// One sentence for these of ours: are deletes as fast as hits of the same keys?
    pub(crate) fn deletes_against_hits(&self, admit: impl Fn(&Standing) -> bool) -> Option<String> {
        let removing = self.ours().filter(|ours| admit(ours) && !ours.times.median(DELETE).is_nan());
        let ratios = removing.map(|ours| {
            let ratio = ours.times.cost_ratio(DELETE, DOOMED_HIT);
            (ratio <= MOST_OF_A_HIT, format!("{} ({ratio:.2}x)", ours.name))
        });
        let outcome = outcome(["met by", "MISSED by"], ratios)?;
        Some(format!("Deletes in at most {MOST_OF_A_HIT}x of hits of the same keys: {outcome}."))
    }

    /// One sentence for each peer that is faster at anything than one of ours that it is compared with.
    pub(crate) fn faster_peers(&self, compared: impl Fn(&Standing, &Standing) -> bool) -> Vec<String> {
        let pairs = self.ours().flat_map(|ours| self.peers().map(move |peer| (ours, peer)));
        pairs
            .filter(|(ours, peer)| compared(ours, peer))
            .filter_map(|(ours, peer)| faster(ours, peer))
            .collect()
    }

    /// One sentence for each of ours whose rate is above what was asked for, beyond chance (three standard
    /// deviations of the count); one for all when there is none.
    pub(crate) fn promises(&self, p: f64) -> Vec<String> {
        if self.ours().next().is_none() {
            return Vec::new();
        }
        let kept = |standing: &&Standing| {
            let expected = p * standing.absent_asked as f64;
            standing.false_positives as f64 <= expected + 3.0 * expected.sqrt()
        };
        let broken: Vec<String> = self
            .ours()
            .filter(|ours| !kept(ours))
            .map(|ours| {
                format!(
                    "Promise of {}: rate BROKEN ({} of {}).",
                    ours.name,
                    report::percent(ours.rate()),
                    report::rate(p)
                )
            })
            .collect();
        let all_kept = || vec![format!("Promise of {}: kept by all of ours.", report::rate(p))];
        if broken.is_empty() { all_kept() } else { broken }
    }

    /// One sentence for each contestant that did not take all the keys, or lost some.
    pub(crate) fn accidents(&self, n: usize) -> Vec<String> {
        let full =
            self.standings.iter().filter(|standing| standing.held < n).map(|standing| {
                format!("{} was full with {} of the {n} keys.", standing.name, standing.held)
            });
        let lost = self.standings.iter().filter(|standing| standing.lost > 0).map(|standing| {
            let reason = standing.loses.unwrap_or_default();
            let share = report::percent(standing.lost as f64 / standing.known_asked as f64);
            format!("{} LOST {share} of the keys it was asked for: {reason}.", standing.name)
        });
        full.chain(lost).collect()
    }
}

/// Whether ours is `least` times as fast as a peer in all these operations, and how many times in each. What
/// one of the two doesn't do isn't compared.
fn against(ours: &Standing, peer: &Standing, least: f64, operations: &[usize]) -> (bool, String) {
    let ratio = |&operation: &usize| (OPERATIONS[operation], ours.times.ratio(&peer.times, operation));
    let ratios: Vec<_> = operations.iter().map(ratio).filter(|(_, ratio)| !ratio.is_nan()).collect();
    let mut figures: Vec<String> =
        ratios.iter().map(|(operation, ratio)| format!("{operation} {ratio:.2}x")).collect();
    // The comparison is fair to ours at equal memory or less; a peer that needs less is no less fast for it.
    if peer.bits_per_key < 0.99 * ours.bits_per_key {
        figures.push(format!("in {:.2} bits per key", peer.bits_per_key));
    }
    (ratios.iter().all(|&(_, ratio)| ratio >= least), format!("{} ({})", peer.name, figures.join(", ")))
}

/// Who has met a target and who hasn't, the latter first; nothing when there is nobody.
fn outcome(words: [&str; 2], judged: impl Iterator<Item = (bool, String)>) -> Option<String> {
    let (met, missed): (Vec<_>, Vec<_>) = judged.partition(|(met, _)| *met);
    let outcomes = [(words[1], missed), (words[0], met)].map(|(word, names)| {
        let names: Vec<String> = names.into_iter().map(|(_, name)| name).collect();
        (!names.is_empty()).then(|| format!("{word} {}", names.join("; ")))
    });
    let outcomes: Vec<String> = outcomes.into_iter().flatten().collect();
    (!outcomes.is_empty()).then(|| outcomes.join("; "))
}

fn faster(ours: &Standing, peer: &Standing) -> Option<String> {
    let faster = faster_operations(&OPERATIONS, &peer.times, &ours.times)?;
    let mut price = Vec::new();
    if peer.bits_per_key > 1.1 * ours.bits_per_key {
        price.push(format!("{:.1} bits per key in place of {:.1}", peer.bits_per_key, ours.bits_per_key));
    }
    if peer.rate() > 1.1 * ours.rate() {
        price.push(format!(
            "a rate of {} in place of {}",
            report::percent(peer.rate()),
            report::percent(ours.rate())
        ));
    }
    let price = if price.is_empty() { String::new() } else { format!(", at {}", price.join(" and ")) };
    Some(format!("{} is FASTER than {}: {faster}{price}.", peer.name, ours.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Times;
    use crate::removing::{HIT, INSERT, MISS};
    use crate::single::Role;

    fn standing(name: &'static str, role: Role, times: [f64; 6], bits_per_key: f64) -> Standing {
        Standing {
            name,
            role,
            when_full: "",
            times: Times::of_rounds([times]),
            bits_per_key,
            bits_per_slot: bits_per_key * 0.95,
            held: 1_000,
            false_positives: 10_000,
            absent_asked: 1_000_000,
            lost: 0,
            known_asked: 1_000_000,
            loses: None,
        }
    }

    #[test]
    fn says_what_was_met_missed_and_who_was_faster() {
        let standings = vec![
            standing("slow", Role::Peer, [20.0, 90.0, 20.0, 20.0, f64::NAN, f64::NAN], 17.0),
            standing("small", Role::Peer, [20.0, 90.0, 15.0, 7.0, 9.0, 15.0], 8.0),
            standing("ours", Role::Calls, [10.0, 30.0, 8.0, 8.0, 10.0, 8.0], 16.8),
        ];
        let race = Race { rounds: 1, standings, json: Vec::new() };
        assert_eq!(
            race.targets(2.0, &[INSERT, HIT, MISS, DELETE], |_, _| true),
            ["Target of ours (16.80 bits per key), 2x: MISSED against small (insert 2.00x, hit 1.88x, \
              miss 0.88x, delete 0.90x, in 8.00 bits per key); met against slow (insert 2.00x, hit 2.50x, \
              miss 2.50x)."]
        );
        assert_eq!(
            race.deletes_against_hits(|_| true).as_deref(),
            Some("Deletes in at most 1.2x of hits of the same keys: MISSED by ours (1.25x).")
        );
        let faster = race.faster_peers(|_, _| true);
        assert_eq!(
            faster,
            ["small is FASTER than ours: miss (7.00 against 8.00 ns), delete (9.00 against 10.0 ns)."]
        );
        assert_eq!(race.promises(0.01), ["Promise of 1 %: kept by all of ours."]);
        assert_eq!(race.promises(0.001).len(), 1);
        assert_eq!(race.accidents(1_000).len(), 0);
        assert_eq!(race.accidents(1_001).len(), 3);
    }
}
