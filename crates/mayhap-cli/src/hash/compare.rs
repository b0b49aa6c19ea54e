//! `mayhap hash --compare`: all functions side by side.

use mayhap::hash::SecretKey;
use serde_json::{Value, json};

use super::function::{Function, Hasher};
use super::quality::{Avalanche, Pattern, avalanche, evenness};
use super::speed::{Keys, LENGTHS, ROUNDS};
use crate::columns::{paragraph, table};
use crate::failure::{Failure, print};
use crate::measure::median;
use crate::progress::Progress;

/// What was found out about a function.
struct Finding {
    function: Function,
    /// For each length.
    nanoseconds: [f64; LENGTHS.len()],
    avalanche: Avalanche,
    integers: f64,
    urls: f64,
}

/// Runs the comparison.
pub(super) fn run(
    seed: u64,
    key: Option<&SecretKey>,
    for_filter: bool,
    as_json: bool,
) -> Result<(), Failure> {
    let hashers: Vec<(Function, Hasher)> = Function::all()
        .into_iter()
        .map(|function| (function, Hasher::with_key(function, seed, key.cloned(), for_filter)))
        .collect();
    let progress = Progress::steps((ROUNDS + 3) as u64, !as_json);
    let speeds = speeds(&hashers, &progress);
    let mut findings = Vec::new();
    for ((function, hasher), nanoseconds) in hashers.iter().zip(speeds) {
        findings.push(Finding {
            function: *function,
            nanoseconds,
            avalanche: avalanche(hasher),
            integers: evenness(hasher, Pattern::Integers),
            urls: evenness(hasher, Pattern::Urls),
        });
        if findings.len().is_multiple_of(hashers.len() / 3) {
            progress.advance(1, || "mixing".to_owned());
        }
    }
    progress.finish();
    print(&if as_json { to_json(&findings) } else { text(&findings, for_filter) })
}

/// Functions take turns, so that a busy moment of the machine hits them all alike.
fn speeds(hashers: &[(Function, Hasher)], progress: &Progress) -> Vec<[f64; LENGTHS.len()]> {
    let keys = Keys::new();
    let mut samples = vec![[const { Vec::new() }; LENGTHS.len()]; hashers.len()];
    for _ in 0..ROUNDS {
        for ((_, hasher), samples) in hashers.iter().zip(&mut samples) {
            for (length, samples) in LENGTHS.into_iter().zip(samples) {
                samples.push(keys.nanoseconds(hasher, length));
            }
        }
        progress.advance(1, || "speed".to_owned());
    }
    samples.into_iter().map(|each| each.map(|values| median(&values))).collect()
}

/// A key of so many bytes in so many nanoseconds: bytes per nanosecond are gigabytes per second.
fn gigabytes_per_second(length: usize, nanoseconds: f64) -> f64 {
    length as f64 / nanoseconds
}

fn text(findings: &[Finding], for_filter: bool) -> String {
    let mut header = vec![String::from("function")];
    header.extend(LENGTHS.map(|length| format!("{length} B: ns")));
    header.extend(["GB/s", "flips", "worst", "integers", "URLs"].map(str::to_owned));
    let mut rows = vec![cells(header)];
    rows.extend(findings.iter().map(|finding| {
        let longest = LENGTHS.len() - 1;
        let mut row = vec![finding.function.name().to_owned()];
        row.extend(finding.nanoseconds.map(|nanoseconds| format!("{nanoseconds:.1}")));
        row.extend([
            format!("{:.2}", gigabytes_per_second(LENGTHS[longest], finding.nanoseconds[longest])),
            format!("{:.1}%", finding.avalanche.mean * 100.0),
            format!("{:.1}%", finding.avalanche.worst * 100.0),
            format!("{:.1}", finding.integers),
            format!("{:.1}", finding.urls),
        ]);
        cells(row)
    }));
    let finished = if for_filter {
        "The digests are those that a filter takes, after the finaliser."
    } else {
        "The digests are the functions' own; a filter lets all but xxh3 and SipHash pass a finaliser (--filter)."
    };
    let notes = [
        &format!(
            "ns: for a key of 8, 30, 256 bytes; GB/s: of the longest. Medians of {ROUNDS} rounds on one core; a hint, where \
             the machine has other work."
        ),
        "flips: how often a bit of the digest changes with a bit of an 8-byte key; 50% is right. worst: the pair of bits \
         that is furthest from that; chance alone gives about 3%.",
        "integers, URLs: how unevenly 262 144 numbered keys fall into 4096 buckets, in standard deviations; up to 4 is \
         chance, far below 0 is more even than chance.",
        finished,
    ];
    format!("{}\n{}", table(&rows), notes.map(paragraph).concat())
}

const COLUMNS: usize = LENGTHS.len() + 6;

fn cells(row: Vec<String>) -> [String; COLUMNS] {
    let mut row = row.into_iter();
    std::array::from_fn(|_| row.next().unwrap_or_default())
}

fn to_json(findings: &[Finding]) -> String {
    let functions: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let speeds: Vec<Value> = LENGTHS
                .into_iter()
                .zip(finding.nanoseconds)
                .map(|(length, ns)| {
                    json!({"key_bytes": length, "ns": ns, "gb_per_s": gigabytes_per_second(length, ns)})
                })
                .collect();
            json!({
                "function": finding.function.name(),
                "function_id": finding.function.id(),
                "for": finding.function.purpose().name(),
                "speed": speeds,
                "flip_mean": finding.avalanche.mean,
                "flip_worst_bias": finding.avalanche.worst,
                "chi_square_z_integers": finding.integers,
                "chi_square_z_urls": finding.urls,
            })
        })
        .collect();
    format!("{:#}\n", json!({"functions": functions}))
}
