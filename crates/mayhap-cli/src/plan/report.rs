//! The candidates side by side, for people and for programs.

use mayhap::codec;
use serde_json::{Value, json};

use super::catalogue::WORST_RATE;
use super::exact::{ExactBitmap, HashSet};
use super::filters::{Candidate, Kind};
use crate::columns::table;
use crate::kind_word::kind_word;
use crate::numbers::{counted, format_count, format_rate, format_size};

/// Below this rate the smallest filter is recommended: a blocked one would need over a sixth more memory, and more and
/// more of it the lower the rate.
const BLOCKED_DOWN_TO: f64 = 1e-6;

/// Up to this size an exact set is recommended: it fits into the innermost cache, and no filter saves anything that
/// would be noticed.
const EXACT_UP_TO: u64 = 16 << 10;

/// What can be recommended.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Choice {
    Filter(Kind),
    Bitmap,
    HashSet,
}

impl Choice {
    /// The name of its type.
    const fn name(self) -> &'static str {
        match self {
            Self::Filter(kind) => kind.name(),
            Self::Bitmap => "Bitmap",
            Self::HashSet => "HashSet",
        }
    }

    /// The same for programs: what `build --kind` calls it, where that can make one.
    fn word(self) -> &'static str {
        match self {
            Self::Filter(kind) => kind.word(),
            Self::Bitmap => kind_word(codec::Kind::BITMAP),
            Self::HashSet => "hash-set",
        }
    }
}

/// Everything there is to say.
#[derive(Debug)]
pub(super) struct Report {
    /// At least one.
    pub(super) candidates: Vec<Candidate>,
    /// If the number of keys is known.
    pub(super) hash_set: Option<HashSet>,
    /// If the keys are integers from a known range.
    pub(super) bitmap: Option<ExactBitmap>,
    pub(super) remarks: Vec<String>,
}

impl Report {
    /// A table with a recommendation.
    pub(super) fn text(&self) -> String {
        let mut rows = vec![HEADER.map(str::to_owned)];
        rows.extend(self.candidates.iter().map(filter_row));
        rows.extend(self.bitmap.as_ref().map(bitmap_row));
        rows.extend(self.hash_set.as_ref().map(hash_set_row));
        let mut text = table(&rows);
        text += "\n";
        for remark in &self.remarks {
            text += &format!("{remark}\n");
        }
        match self.recommended() {
            Some((choice, reason)) => text += &format!("Recommended: {}, {reason}.\n", choice.name()),
            None => text += "Nothing to recommend: so little memory leaves no filter worth having.\n",
        }
        text += "Cache lines are those a question touches: for a present key / an absent one.\n";
        for kind in [Kind::Scalable, Kind::Window, Kind::Dual] {
            if self.candidates.iter().any(|candidate| candidate.kind == kind) {
                text += assumption(kind);
            }
        }
        if let Some(bitmap) = &self.bitmap {
            let pays = self.recommended().is_some_and(|(choice, _)| choice == Choice::Bitmap);
            text += &format!("{}.\n", bitmap.explained(pays));
        }
        if let Some(hash_set) = &self.hash_set {
            text += &format!("The hash set is Rust's, grown to its size:\n  {}.\n", hash_set.assumes);
        }
        text
    }

    /// The same as JSON.
    pub(super) fn json(&self) -> String {
        let filters: Vec<Value> = self.candidates.iter().map(filter_json).collect();
        let hash_set = self.hash_set.as_ref().map(|set| {
            json!({
                "planned_keys": set.keys,
                "memory_bytes": set.bytes,
                "bits_per_key": set.bits_per_key(),
                "cache_lines_if_present": set.lines_if_present,
                "cache_lines_if_absent": set.lines_if_absent,
                "assumes": set.assumes,
            })
        });
        let report = json!({
            "filters": filters,
            "hash_set": hash_set,
            "bitmap": self.bitmap.as_ref().map(|bitmap| json!({
                "numbers": bitmap.range,
                "memory_bytes": bitmap.bytes(),
                "dense_bytes": bitmap.dense_bytes(),
                "sparse_bytes": bitmap.sparse_bytes(),
            })),
            "recommended": self.recommended().map(|(choice, _)| choice.word()),
            "remarks": self.remarks,
        });
        format!("{report:#}\n")
    }

    /// What to use, and why: a bitmap as soon as it is no larger than what would be used instead.
    fn recommended(&self) -> Option<(Choice, String)> {
        let instead = self.recommended_instead();
        if let (Some(bitmap), Some(Instead { choice, bytes: Some(bytes), .. })) = (&self.bitmap, &instead)
            && bitmap.bytes() <= *bytes
        {
            let name = choice.name();
            let reason = format!("which is exact, and no larger than a {name} of keys from this range");
            return Some((Choice::Bitmap, reason));
        }
        instead.map(|instead| (instead.choice, instead.reason))
    }

    /// What to use if the keys are anything.
    fn recommended_instead(&self) -> Option<Instead> {
        let filter = |candidate: &Candidate, reason: &str| {
            let choice = Choice::Filter(candidate.kind);
            Some(Instead { choice, reason: reason.to_owned(), bytes: candidate.bytes })
        };
        let smallest = |is_it: fn(Kind) -> bool| {
            let candidates = self
                .candidates
                .iter()
                .filter(|candidate| is_it(candidate.kind) && candidate.rate <= WORST_RATE);
            candidates.min_by(|a, b| a.bits_per_key.total_cmp(&b.bits_per_key))
        };
        let blocked = smallest(|kind| matches!(kind, Kind::Blocked(_)));
        let classic = smallest(|kind| kind == Kind::Classic);
        let cuckoo = smallest(|kind| kind == Kind::Cuckoo);
        if let Some(hash_set) = self.hash_set.as_ref().and_then(|set| set.bytes)
            && hash_set <= EXACT_UP_TO
        {
            let reason = "which is exact, and small for so few keys".to_owned();
            return Some(Instead { choice: Choice::HashSet, reason, bytes: Some(hash_set) });
        }
        match (blocked, classic) {
            (Some(blocked), Some(classic)) if blocked.rate >= BLOCKED_DOWN_TO => {
                let lines =
                    if blocked.lines_if_present > 1.0 { "two cache misses" } else { "one cache miss" };
                let more = (blocked.bits_per_key / classic.bits_per_key - 1.0) * 100.0;
                let cost = if blocked.bytes == classic.bytes || more < 0.5 {
                    String::new()
                } else {
                    format!(", for {more:.0}% more memory per key than ClassicBloom")
                };
                filter(blocked, &format!("with {lines} for each question{cost}"))
            }
            (None, Some(classic)) => filter(classic, "the only one that fits"),
            (_, Some(classic)) => match cuckoo {
                Some(cuckoo) if cuckoo.bits_per_key < classic.bits_per_key => {
                    let reason = "which needs the least memory at rates this low, and two cache misses for each question";
                    filter(cuckoo, reason)
                }
                _ => filter(classic, "which needs the least memory of all Bloom filters at rates this low"),
            },
            (Some(blocked), None) => filter(blocked, "the only one that fits"),
            (None, None) => None,
        }
    }
}

/// What would be used if the keys were anything.
struct Instead {
    choice: Choice,
    reason: String,
    bytes: Option<u64>,
}

/// What a row of the table assumes, where its name doesn't say it.
fn assumption(kind: Kind) -> &'static str {
    match kind {
        Kind::Scalable => {
            "ScalableBloom and ScalableCuckoo are made for so many keys at once; grown from less they take more.\n"
        }
        Kind::Window => "WindowBloom is for so many keys in a window.\n",
        Kind::Dual => {
            "DualBloom is for one removal to ten keys; it alone may answer no for a key that is there.\n"
        }
        _ => "",
    }
}

const COLUMNS: usize = 9;
const HEADER: [&str; COLUMNS] =
    ["", "keys", "rate", "memory", "bits per key", "cache lines", "deletes", "grows", "counts"];

fn filter_row(candidate: &Candidate) -> [String; COLUMNS] {
    let Candidate { kind, .. } = *candidate;
    let label = match (kind, candidate.hashes) {
        (Kind::Classic, Some(hashes)) => format!("{}, {}", kind.label(), counted(u64::from(hashes), "bit")),
        _ => kind.label(),
    };
    [
        label,
        candidate.keys.map_or_else(|| "any".to_owned(), format_count),
        format_rate(candidate.rate),
        candidate.bytes.map_or_else(|| "by the keys".to_owned(), format_size),
        format!("{:.2}", candidate.bits_per_key),
        format!("{:.0} / {:.1}", candidate.lines_if_present, candidate.lines_if_absent).replace(".0", ""),
        yes(kind.deletes()),
        yes(kind.grows()),
        yes(kind.counts()),
    ]
}

/// An empty cell is easier to overlook than a "no", which is what it is for.
fn yes(ability: bool) -> String {
    if ability { "yes" } else { "" }.to_owned()
}

fn bitmap_row(bitmap: &ExactBitmap) -> [String; COLUMNS] {
    [
        if bitmap.sparse_bytes().is_some() { "exact: Bitmap, sparse" } else { "exact: Bitmap" }.to_owned(),
        bitmap.keys.map_or_else(|| "any".to_owned(), format_count),
        "0".to_owned(),
        format_size(bitmap.bytes()),
        bitmap.bits_per_key().map_or_else(|| "-".to_owned(), |bits| format!("{bits:.2}")),
        if bitmap.sparse_bytes().is_some() { "several" } else { "1 / 1" }.to_owned(),
        yes(true),
        yes(false),
        yes(false),
    ]
}

fn hash_set_row(set: &HashSet) -> [String; COLUMNS] {
    [
        "exact: HashSet".to_owned(),
        format_count(set.keys),
        "0".to_owned(),
        set.bytes.map_or_else(|| "over 2^64 B".to_owned(), format_size),
        set.bits_per_key().map_or_else(|| "-".to_owned(), |bits| format!("{bits:.2}")),
        format!("{} / {}", set.lines_if_present, set.lines_if_absent),
        yes(true),
        yes(true),
        yes(false),
    ]
}

fn filter_json(candidate: &Candidate) -> Value {
    let Candidate { kind, .. } = *candidate;
    let blocks = if let Kind::Blocked(shape) = kind { Some(shape.lines()) } else { None };
    let counter_bits = if let Kind::Counting(width) = kind { Some(width.bits()) } else { None };
    json!({
        "kind": kind.word(),
        "blocks_per_key": blocks,
        "counter_bits": counter_bits,
        "planned_keys": candidate.keys,
        "planned_rate": candidate.rate,
        "memory_bytes": candidate.bytes,
        "bits_per_key": candidate.bits_per_key,
        "hashes": candidate.hashes,
        "cache_lines_if_present": candidate.lines_if_present,
        "cache_lines_if_absent": candidate.lines_if_absent,
        "can_remove": kind.deletes(),
        "can_grow": kind.grows(),
        "can_count": kind.counts(),
    })
}
