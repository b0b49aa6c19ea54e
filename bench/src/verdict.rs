//! The project's targets, checked against a cell: what was promised, what was measured, who was faster.

use crate::contestants::YARDSTICK;
use crate::measure::Times;
use crate::report;
use crate::single::{Cell, KeyKind, Limit, OPERATIONS, Role, Standing, textbook_bits_per_key};

/// From here on a filter lives in memory and not in a cache.
const IN_MEMORY_KEYS: usize = 100_000_000;

/// One sentence for each target of this cell, and one for each peer that beat us at equal rate and memory.
pub(crate) fn of(cell: Cell, standings: &[Standing], limit: &Limit) -> Vec<String> {
    let mut verdicts = Vec::new();
    let yardstick = standings.iter().find(|standing| standing.name == YARDSTICK);
    for ours in standings.iter().filter(|standing| standing.role != Role::Peer) {
        if let (Some(yardstick), Some(targets)) = (yardstick, targets(cell, ours.role)) {
            verdicts.push(against_yardstick(ours, yardstick, targets));
        }
        if ours.role == Role::Batches && cell.n >= IN_MEMORY_KEYS && cell.kind == KeyKind::Integers {
            verdicts.push(against_limit(ours, limit));
        }
        if matches!(ours.role, Role::Calls | Role::Batches) {
            let peers = standings.iter().filter(|standing| standing.role == Role::Peer);
            verdicts.extend(peers.filter_map(|peer| beaten_by(ours, peer)));
        }
    }
    if let Some(ours) = standings.iter().find(|standing| standing.role == Role::Calls) {
        verdicts.push(promise(cell, ours));
    }
    verdicts
}

/// The least ratios of insert, hit and miss against the yardstick.
fn targets(cell: Cell, role: Role) -> Option<[f64; 3]> {
    let in_memory = cell.n >= IN_MEMORY_KEYS;
    match (role, cell.kind) {
        (Role::Peer, _) => None,
        (Role::Calls, KeyKind::Integers) if in_memory => Some([2.5, 2.0, 1.5]),
        (Role::Batches, KeyKind::Integers) if in_memory => Some([6.0, 5.0, 3.5]),
        (Role::Calls, KeyKind::Integers) => Some([2.0, 2.0, 3.0]),
        (Role::Batches, KeyKind::Integers) => Some([3.0, 3.0, 4.5]),
        (Role::Calls, KeyKind::Urls) => Some([1.8; 3]),
        (Role::Batches, KeyKind::Urls) => Some([2.2; 3]),
        (Role::PortableCalls | Role::PortableBatches, _) if in_memory => Some([1.0; 3]),
        (Role::PortableCalls | Role::PortableBatches, _) => Some([1.0 / 1.3; 3]),
    }
}

fn against_yardstick(ours: &Standing, yardstick: &Standing, targets: [f64; 3]) -> String {
    let mut missed = Vec::new();
    let mut measured = Vec::new();
    for (operation, target) in targets.into_iter().enumerate() {
        let ratio = ours.times.ratio(&yardstick.times, operation);
        measured.push(format!("{} {ratio:.2}x of {target:.2}x", OPERATIONS[operation]));
        if ratio < target {
            missed.push(OPERATIONS[operation]);
        }
    }
    let outcome =
        if missed.is_empty() { String::from("met") } else { format!("MISSED for {}", missed.join(", ")) };
    format!("Target of {}: {outcome} ({}).", ours.name, measured.join(", "))
}

fn against_limit(ours: &Standing, limit: &Limit) -> String {
    let worst = ours.times.medians().into_iter().fold(0.0, f64::max) / limit.huge_pages;
    let outcome = if worst <= 1.5 { "met" } else { "MISSED" };
    format!(
        "Target of 1.5x of the random line (huge pages): {outcome}, the slowest operation is at {worst:.2}x."
    )
}

/// Rate at or below the promise (beyond chance: three standard deviations of the count), memory near the
/// textbook's.
fn promise(cell: Cell, ours: &Standing) -> String {
    let expected = cell.p * ours.absent_asked as f64;
    let rate_kept = ours.false_positives as f64 <= expected + 3.0 * expected.sqrt();
    let excess = ours.bits_per_key / textbook_bits_per_key(cell.p) - 1.0;
    let allowed = if cell.p < 0.005 { 0.10 } else { 0.06 };
    format!(
        "Promise of {}: rate {} ({} of {}); memory {} ({:.1} % over the textbook, {:.0} % allowed).",
        ours.name,
        if rate_kept { "kept" } else { "BROKEN" },
        report::percent(ours.rate()),
        report::rate(cell.p),
        if excess <= allowed { "kept" } else { "BROKEN" },
        excess * 100.0,
        allowed * 100.0,
    )
}

/// A peer that is faster with no worse a rate and no more memory than 10 % above ours.
fn beaten_by(ours: &Standing, peer: &Standing) -> Option<String> {
    let comparable = peer.rate() <= ours.rate() * 1.1 && peer.bits_per_key <= ours.bits_per_key * 1.1;
    let faster = faster(&OPERATIONS, &peer.times, &ours.times)?;
    comparable.then(|| format!("{} is FASTER than {}: {faster}.", peer.name, ours.name))
}

/// The operations a peer is faster at, with both times.
pub(crate) fn faster<const N: usize>(
    operations: &[&str; N],
    peer: &Times<N>,
    ours: &Times<N>,
) -> Option<String> {
    let faster: Vec<String> = (0..N)
        .filter(|&operation| peer.ratio(ours, operation) > 1.0)
        .map(|operation| {
            let [peer, ours] = [peer, ours].map(|times| report::nanoseconds(times.median(operation)));
            format!("{} ({peer} against {ours} ns)", operations[operation])
        })
        .collect();
    (!faster.is_empty()).then(|| faster.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(name: &'static str, role: Role, times: [f64; 3], bits_per_key: f64) -> Standing {
        let times = Times::of_rounds([times]);
        Standing { name, role, times, bits_per_key, false_positives: 10_000, absent_asked: 1_000_000 }
    }

    #[test]
    fn says_what_was_met_missed_and_who_was_faster() {
        let cell = Cell { kind: KeyKind::Integers, n: 10_000, p: 0.01 };
        let standings = [
            standing(YARDSTICK, Role::Peer, [12.0, 12.0, 12.0], 9.59),
            standing("quick", Role::Peer, [1.0, 7.0, 7.0], 10.0),
            standing("large", Role::Peer, [1.0, 1.0, 1.0], 100.0),
            standing("ours", Role::Calls, [4.0, 4.0, 6.0], 10.1),
        ];
        let limit = Limit { bytes: 1.0, small_pages: 1.0, huge_pages: 1.0 };
        let verdicts = of(cell, &standings, &limit);
        assert_eq!(verdicts.len(), 3, "{verdicts:?}");
        assert!(verdicts[0].contains("MISSED for miss (insert 3.00x of 2.00x"), "{}", verdicts[0]);
        assert!(
            verdicts[1].starts_with("quick is FASTER than ours: insert (1.00 against 4.00 ns)"),
            "{}",
            verdicts[1]
        );
        assert!(verdicts[2].contains("rate kept") && verdicts[2].contains("memory kept"), "{}", verdicts[2]);
    }
}
