//! `mayhap plan --exact-sets`: a filter beside exact sets, from 10 thousand to a billion keys.

use mayhap::sizing::BlockedPlan;
use serde_json::{Value, json};

use super::exact::HashSet;
use crate::columns::table;
use crate::failure::{Failure, print};
use crate::numbers::{format_count, format_rate};

const SIZES: [u64; 6] = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];
/// Length of the strings in the table.
const STRING: u64 = 30;

/// Bytes for each element of Java's `HashSet<Long>` and `HashSet<String>` (15 characters), elements included, measured
/// on OpenJDK 17 for 10⁴ to 10⁷ of them; the lowest and highest of four sizes.
const JAVA_LONGS: [f64; 2] = [62.4, 66.5];
const JAVA_STRINGS: [f64; 2] = [94.3, 98.5];

/// Bytes for each key.
struct Row {
    keys: u64,
    integers: f64,
    strings: f64,
    sorted: f64,
    filter: f64,
}

/// Runs the comparison.
pub(super) fn run(rate: f64, as_json: bool) -> Result<(), Failure> {
    let rows = SIZES.into_iter().map(|keys| row(keys, rate)).collect::<Result<Vec<_>, _>>()?;
    print(&if as_json { to_json(rate, &rows) } else { text(rate, &rows) })
}

fn row(keys: u64, rate: f64) -> Result<Row, Failure> {
    let plan = BlockedPlan::for_rate(keys, rate).map_err(|error| Failure::Message(error.to_string()))?;
    let bytes = |set: HashSet| set.bits_per_key().unwrap_or(f64::NAN) / 8.0;
    Ok(Row {
        keys,
        integers: bytes(HashSet::of_integers(keys)),
        strings: bytes(HashSet::of_strings(keys, STRING)),
        sorted: 8.0,
        filter: plan.bits_per_key() / 8.0,
    })
}

fn text(rate: f64, rows: &[Row]) -> String {
    let header = [
        String::from("keys"),
        String::from("HashSet of u64"),
        format!("of {STRING}-byte Box<[u8]>"),
        String::from("sorted Vec of u64"),
        format!("BloomFilter at {}", format_rate(rate)),
    ];
    let mut cells = vec![header];
    cells.extend(rows.iter().map(|row| {
        let bytes = [row.integers, row.strings, row.sorted, row.filter].map(|bytes| format!("{bytes:.2}"));
        let [integers, strings, sorted, filter] = bytes;
        [format_count(row.keys), integers, strings, sorted, filter]
    }));
    let [low, high] = JAVA_LONGS;
    let [string_low, string_high] = JAVA_STRINGS;
    format!(
        "Bytes for each key.\n\n{}\n\
         Rust's HashSet is grown to its keys: a power of two of buckets, at most 7/8 full; a string has a heap block of its own.\n\
         Java's HashSet took {low} to {high} bytes for each Long and {string_low} to {string_high} for each String of 15 characters\n\
         (OpenJDK 17, 10 k to 10 M elements, measured).\n",
        table(&cells)
    )
}

fn to_json(rate: f64, rows: &[Row]) -> String {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "keys": row.keys,
                "hash_set_u64": row.integers,
                "hash_set_strings": row.strings,
                "sorted_vec_u64": row.sorted,
                "bloom_filter": row.filter,
            })
        })
        .collect();
    let report = json!({
        "rate": rate,
        "string_bytes": STRING,
        "bytes_per_key": rows,
        "java_hash_set_long": JAVA_LONGS,
        "java_hash_set_string": JAVA_STRINGS,
    });
    format!("{report:#}\n")
}
