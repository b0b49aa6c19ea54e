//! `mayhap plan --exact-sets`: a filter beside exact sets, from 10 thousand to a billion keys.

use mayhap::sizing::BlockedPlan;
use mayhap::sizing::bitmap::dense_bytes;
use serde_json::{Value, json};

use super::exact::HashSet;
use crate::columns::table;
use crate::failure::{Failure, print};
use crate::numbers::{format_count, format_rate};

const SIZES: [u64; 6] = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];
/// Length of the strings in the table.
const STRING: u64 = 30;

/// Bytes for each element of Java's `HashSet<Long>` and `HashSet<String>` (15 characters), elements included, measured
/// on OpenJDK 17 for the first four sizes.
const JAVA_LONGS: [f64; 4] = [62.4, 66.5, 64.4, 62.7];
const JAVA_STRINGS: [f64; 4] = [94.3, 98.5, 96.4, 94.7];

/// Bytes for each number in a `BTreeSet<u64>`, added in random order: measured, and the same for 10⁴ to 10⁸ of them.
const B_TREE: f64 = 15.4;

/// The universe of the bitmap in the table, in numbers for each key.
const UNIVERSE: u64 = 10;

/// Bytes for each key.
struct Row {
    keys: u64,
    integers: f64,
    strings: f64,
    b_tree: f64,
    sorted: f64,
    bitmap: f64,
    java_longs: Option<f64>,
    java_strings: Option<f64>,
    filter: f64,
}

/// Runs the comparison.
pub(super) fn run(rate: f64, as_json: bool) -> Result<(), Failure> {
    let rows = (0..SIZES.len()).map(|size| row(size, rate)).collect::<Result<Vec<_>, _>>()?;
    print(&if as_json { to_json(rate, &rows) } else { text(rate, &rows) })
}

fn row(size: usize, rate: f64) -> Result<Row, Failure> {
    let keys = SIZES[size];
    let plan = BlockedPlan::for_rate(keys, rate).map_err(|error| Failure::Message(error.to_string()))?;
    let bytes = |set: HashSet| set.bits_per_key().unwrap_or(f64::NAN) / 8.0;
    Ok(Row {
        keys,
        integers: bytes(HashSet::of_integers(keys)),
        strings: bytes(HashSet::of_strings(keys, STRING)),
        b_tree: B_TREE,
        sorted: 8.0,
        bitmap: dense_bytes(keys * UNIVERSE) as f64 / keys as f64,
        java_longs: JAVA_LONGS.get(size).copied(),
        java_strings: JAVA_STRINGS.get(size).copied(),
        filter: plan.bits_per_key() / 8.0,
    })
}

fn text(rate: f64, rows: &[Row]) -> String {
    let header = [
        "keys".to_owned(),
        "HashSet<u64>".to_owned(),
        format!("<{STRING}-byte string>"),
        "BTreeSet<u64>".to_owned(),
        "sorted Vec".to_owned(),
        format!("Bitmap, 1 in {UNIVERSE}"),
        "Java Set<Long>".to_owned(),
        "<String>".to_owned(),
        format!("BloomFilter at {}", format_rate(rate)),
    ];
    let measured = |bytes: Option<f64>| bytes.map_or_else(|| "-".to_owned(), |bytes| format!("{bytes:.1}"));
    let exactly = |bytes: f64| format!("{bytes:.2}");
    let mut cells = vec![header];
    cells.extend(rows.iter().map(|row| {
        [
            format_count(row.keys),
            exactly(row.integers),
            exactly(row.strings),
            measured(Some(row.b_tree)),
            exactly(row.sorted),
            exactly(row.bitmap),
            measured(row.java_longs),
            measured(row.java_strings),
            exactly(row.filter),
        ]
    }));
    format!(
        "Bytes for each key.\n\n{}\n\
         Rust's HashSet is grown to its keys: a power of two of buckets, at most 7/8 full; a String has 24 bytes in\n\
         its bucket and its bytes in a heap block, with what malloc adds to that.\n\
         The bitmap has a bit for each of {UNIVERSE} numbers to a key. The filter is wrong for some absent keys; all others are exact.\n\
         BTreeSet (added in random order) and Java's HashSet (OpenJDK 17, strings of 15 characters) were measured, the rest is computed.\n",
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
                "b_tree_set_u64": row.b_tree,
                "sorted_vec_u64": row.sorted,
                "bitmap": row.bitmap,
                "java_hash_set_long": row.java_longs,
                "java_hash_set_string": row.java_strings,
                "bloom_filter": row.filter,
            })
        })
        .collect();
    let report = json!({
        "planned_rate": rate,
        "string_bytes": STRING,
        "bitmap_numbers_per_key": UNIVERSE,
        "bytes_per_key": rows,
    });
    format!("{report:#}\n")
}
