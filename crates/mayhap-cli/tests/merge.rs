//! `mayhap merge`, as a user runs it.

#![allow(clippy::unwrap_used)] // What a test stands on either is there, or the test fails.

mod run;

use std::fs;

use mayhap::codec::Existing;
use mayhap::formats::{ForeignFile, ForeignFilter, Format};
use mayhap::hash::SecretKey;
use mayhap::{AnyFilter, Bitmap, BloomFilter, ClassicBloom, CountingBloom, CuckooFilter};
use run::{Directory, fails, mayhap};
use serde_json::Value;

/// Saves a filter of the numbers of a range, as text, and gives its path.
fn bloom(directory: &Directory, name: &str, keys: u64, numbers: std::ops::Range<u64>) -> String {
    let mut filter = BloomFilter::with_rate(keys, 0.01).unwrap();
    filter.extend(numbers.map(|number| number.to_string()));
    save(directory, name, &filter.into())
}

fn save(directory: &Directory, name: &str, filter: &AnyFilter) -> String {
    let path = path(directory, name);
    filter.save(&path, Existing::Replace).unwrap();
    path
}

fn path(directory: &Directory, name: &str) -> String {
    format!("{}/{name}", directory.path())
}

/// Runs it and gives the JSON that it printed.
fn merge(arguments: &[&str]) -> Value {
    let output = mayhap(&[&["merge", "--json"], arguments].concat(), b"");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_union_is_the_filter_of_all_keys() {
    let directory = Directory::new("merge-union");
    let parts = [0..300, 300..600, 500..900].map(|numbers| {
        let name = format!("{numbers:?}.mayhap");
        bloom(&directory, &name, 1_000, numbers)
    });
    let whole = bloom(&directory, "whole.mayhap", 1_000, 0..900);
    let out = path(&directory, "out.mayhap");
    let json = merge(&["-o", &out, &parts[0], &parts[1], &parts[2]]);
    assert_eq!(fs::read(&out).unwrap(), fs::read(&whole).unwrap(), "bit for bit");
    assert_eq!(
        (&json["inputs"], &json["over_plan"], &json["folded"], &json["kind"]),
        (&3.into(), &false.into(), &false.into(), &"bloom".into())
    );
    assert!((850..950).contains(&json["keys_now"].as_u64().unwrap()), "{json}");
    assert!(json["rate_now"].as_f64().unwrap() < 0.01 && json["warnings"] == serde_json::json!([]), "{json}");
}

#[test]
fn nobody_is_warned_of_a_rate_that_is_kept() {
    let directory = Directory::new("merge-room");
    let parts = [bloom(&directory, "a.mayhap", 4, 0..4), bloom(&directory, "b.mayhap", 4, 4..8)];
    let json = merge(&["-o", &path(&directory, "out.mayhap"), &parts[0], &parts[1]]);
    assert_eq!((&json["over_plan"], &json["warnings"]), (&true.into(), &Value::Array(Vec::new())), "{json}");
    assert!(json["rate_now"].as_f64().unwrap() < 0.01, "{json}");
}

/// As everywhere else, options may stand between the files.
#[test]
fn the_output_may_be_named_between_the_filters() {
    let directory = Directory::new("merge-between");
    let parts = [0..300, 300..600].map(|numbers| bloom(&directory, &format!("{numbers:?}"), 600, numbers));
    let out = path(&directory, "out.mayhap");
    assert_eq!(merge(&[&parts[0], "-o", &out, &parts[1]])["inputs"], 2);
    fails(&["merge", &parts[0], "-o", &path(&directory, "one.mayhap")], b"", "<FILTER>...");
}

#[test]
fn the_larger_ones_are_folded_in_whichever_order_they_come() {
    let directory = Directory::new("merge-fold");
    // 12, 4 and 8 times the least: the first and the last fit neither of the two, but both fit the second.
    let make = |name: &str, blocks: u64, numbers: std::ops::Range<u64>| {
        let mut filter = BloomFilter::with_rate(100, 0.01).unwrap();
        let small = filter.block_count();
        filter = BloomFilter::with_bytes(small * 64 * blocks, 0.01).unwrap();
        filter.extend(numbers.map(|number| number.to_string()));
        (filter.len_bytes(), save(&directory, name, &filter.into()))
    };
    let (large, a) = make("a", 12, 0..50);
    let (small, b) = make("b", 4, 50..100);
    let (middle, c) = make("c", 8, 100..150);
    if large % small != 0 || middle % small != 0 {
        panic!("sizes of {large}, {small} and {middle} bytes test nothing");
    }
    let out = path(&directory, "out");
    let json = merge(&["-o", &out, &a, &c, &b]);
    assert_eq!((&json["folded"], &json["memory_bytes"]), (&true.into(), &small.into()));
    let merged = BloomFilter::open(&out).unwrap();
    assert!((0..150u64).all(|number| merged.contains(&*number.to_string())));
    let output = mayhap(&["merge", "--force", "-o", &out, &a, &b], b"");
    assert!(String::from_utf8_lossy(&output.stdout).contains("folded to the smallest"), "{output:?}");
}

#[test]
fn too_many_keys_are_warned_about_or_refused() {
    let directory = Directory::new("merge-over");
    let (a, b) = (bloom(&directory, "a", 1_000, 0..1_000), bloom(&directory, "b", 1_000, 1_000..2_000));
    let out = path(&directory, "out");
    fails(&["merge", "-o", &out, &a, &b, "--max-rate", "1%"], b"", "above the 1% of --max-rate");
    assert_eq!(directory.names(), ["a", "b"], "nothing was written");

    let output = mayhap(&["merge", "-o", &out, &a, &b], b"");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let warning = String::from_utf8_lossy(&output.stderr);
    assert!(
        warning.contains("warning: the result holds about") && warning.contains("made for 1 000"),
        "{warning}"
    );
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("expected rate now"), "{text}");

    let json = merge(&["--force", "-o", &out, &a, &b]);
    assert_eq!(json["over_plan"], true);
    assert!(json["rate_now"].as_f64().unwrap() > 0.02, "{json}");
    assert!(json["warnings"][0].as_str().unwrap().contains("build one filter of all the keys"));

    let quiet = mayhap(&["merge", "-q", "--force", "-o", &out, &a, &b], b"");
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty(), "{quiet:?}");
}

#[test]
fn the_intersection_keeps_what_is_in_both() {
    let directory = Directory::new("merge-intersect");
    let (a, b) = (bloom(&directory, "a", 1_000, 0..600), bloom(&directory, "b", 1_000, 400..1_000));
    let out = path(&directory, "out");
    merge(&["--intersect", "-o", &out, &a, &b]);
    let both = BloomFilter::open(&out).unwrap();
    assert!((400..600u64).all(|number| both.contains(&*number.to_string())));
    let outside = (0..400u64).chain(600..1_000).filter(|number| both.contains(&*number.to_string())).count();
    assert!(outside < 40, "{outside} of 800");

    let classic = |name: &str, numbers: std::ops::Range<u64>| {
        let mut filter = ClassicBloom::with_rate(1_000, 0.01).unwrap();
        filter.extend(numbers);
        save(&directory, name, &filter.into())
    };
    let (c, d) = (classic("c", 0..600), classic("d", 400..1_000));
    merge(&["--intersect", "--force", "-o", &out, &c, &d]);
    assert!(matches!(AnyFilter::open(&out).unwrap(), AnyFilter::Classic(both) if both.contains(&500u64)));
    fails(&["merge", "--intersect", "--force", "-o", &out, &a, &c], b"", "don't keep keys in the same way");
    let counting = CountingBloom::with_rate(1_000, 0.01).unwrap();
    let counting = save(&directory, "counting", &counting.into());
    fails(
        &["merge", "--intersect", "--force", "-o", &out, &counting, &counting],
        b"",
        "a counting Bloom filter can't be intersected",
    );
}

#[test]
fn bitmaps_of_all_forms_are_united() {
    let directory = Directory::new("merge-bitmap");
    let dense = |name: &str, universe: u64, numbers: &[u64]| {
        let mut bitmap = Bitmap::dense(universe).unwrap();
        bitmap.extend(numbers.iter().copied());
        bitmap.save(path(&directory, name), Existing::Refuse).unwrap();
        path(&directory, name)
    };
    let (small, large) = (dense("small", 10, &[1, 2]), dense("large", 1_000, &[2, 999]));
    let mut sparse = Bitmap::sparse();
    sparse.insert(u64::MAX).unwrap();
    sparse.save(path(&directory, "sparse"), Existing::Refuse).unwrap();
    let sparse = path(&directory, "sparse");
    let out = path(&directory, "out");
    let numbers = || Bitmap::open(&out).unwrap().iter().collect::<Vec<u64>>();

    assert_eq!(merge(&["-o", &out, &small, &large])["keys_now"], 3);
    assert_eq!(numbers(), [1, 2, 999]);
    merge(&["--force", "-o", &out, &large, &sparse, &small]);
    assert_eq!(numbers(), [1, 2, 999, u64::MAX]);
    merge(&["--force", "-o", &out, &large, &small, "--intersect"]);
    assert_eq!(numbers(), [2]);
}

#[test]
fn filters_of_other_systems_are_united_as_there() {
    let directory = Directory::new("merge-foreign");
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/golden/guava_union.jsonl");
    let (a, b, out) = (path(&directory, "a"), path(&directory, "b"), path(&directory, "out"));
    for line in fs::read_to_string(golden).unwrap().lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let bytes = |field: &str| {
            let hex = case[field].as_str().unwrap();
            let digit = |place| u8::from_str_radix(&hex[place..place + 2], 16).unwrap();
            (0..hex.len()).step_by(2).map(digit).collect::<Vec<u8>>()
        };
        for (path, field) in [(&a, "a_hex"), (&b, "b_hex")] {
            let filter = ForeignFilter::from_bytes(Format::Guava, &bytes(field)).unwrap();
            ForeignFile::from(filter).save(path, Existing::Replace).unwrap();
        }
        merge(&["--force", "-o", &out, &a, &b]);
        let merged = ForeignFile::open(&out).unwrap().filter.to_bytes().unwrap();
        assert_eq!(merged, bytes("union_hex"), "what A.putAll(B) gave: {}", case["id"]);
    }
}

#[test]
fn what_does_not_fit_is_said_with_both_names() {
    let directory = Directory::new("merge-unfit");
    let a = bloom(&directory, "a", 1_000, 0..10);
    let out = path(&directory, "out");
    let unfit = |other: &AnyFilter, reason: &str| {
        let other = save(&directory, "other", other);
        let output = mayhap(&["merge", "-o", &out, &a, &other], b"");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(reason) && message.contains(&a) && message.contains(&other), "{message}");
    };
    let seeded = BloomFilter::builder().keys(1_000).rate(0.01).seed(7).build().unwrap();
    unfit(&seeded.into(), "the filters hash keys differently");
    unfit(&BloomFilter::with_rate(1_000, 1e-6).unwrap().into(), "different rates");
    // Of so few keys that another shape is best at the same rate.
    unfit(
        &BloomFilter::with_rate(10, 0.01).unwrap().into(),
        "build both for the same number of keys and rate",
    );
    unfit(&BloomFilter::with_rate(1_337, 0.01).unwrap().into(), "not multiples of one another");
    unfit(&CuckooFilter::with_rate(1_000, 0.01).unwrap().into(), "don't keep keys in the same way");

    let cuckoo = save(&directory, "cuckoo", &CuckooFilter::with_rate(1_000, 0.01).unwrap().into());
    fails(&["merge", "-o", &out, &cuckoo, &cuckoo], b"", "a cuckoo filter can't be merged");
    let bitmap = path(&directory, "bitmap");
    Bitmap::sparse().save(&bitmap, Existing::Refuse).unwrap();
    fails(&["merge", "-o", &out, &a, &bitmap], b"", "don't keep keys in the same way");
    assert_eq!(directory.names(), ["a", "bitmap", "cuckoo", "other"], "nothing was written");
}

#[test]
fn secret_keys_are_needed_and_kept() {
    let directory = Directory::new("merge-key");
    let keyed = |name: &str, key: [u8; 16]| {
        let filter = BloomFilter::builder().keys(100).rate(0.01).secret_key(SecretKey::new(key));
        save(&directory, name, &filter.build().unwrap().into())
    };
    let (a, b, other) = (keyed("a", [7; 16]), keyed("b", [7; 16]), keyed("c", [8; 16]));
    let key = directory.file("key", "07".repeat(16).as_bytes());
    let out = path(&directory, "out");
    fails(&["merge", "-o", &out, &a, &b], b"", "built with a secret key");
    fails(&["merge", "-o", &out, "--key-file", &key, &a, &other], b"", "another secret key");
    merge(&["-o", &out, "--key-file", &key, &a, &b]);
}

#[test]
fn bad_files_are_refused_before_anything_is_written() {
    let directory = Directory::new("merge-bad");
    let a = bloom(&directory, "a", 1_000, 0..10);
    let missing = path(&directory, "missing");
    let out = path(&directory, "out");
    fails(&["merge", "-o", &out, &a, &missing], b"", &format!("cannot read {missing}: no such file"));
    fails(&["merge", "-o", &out, &a, directory.path()], b"", "is a directory");
    fails(&["merge", "-o", &out, &a, &directory.file("text", b"apple\n")], b"", "not a mayhap file");
    let mut bytes = fs::read(&a).unwrap();
    bytes[300] ^= 1;
    fails(&["merge", "-o", &out, &a, &directory.file("damaged", &bytes)], b"", "the file is damaged");
    fails(&["merge", "-o", &out, &a, &directory.file("cut", &bytes[..200])], b"", "the file is cut off");
    fails(&["merge", "-o", &a, &a, &a], b"", "is there already; --force replaces it");
    fails(&["merge", "-o", directory.path(), &a, &a], b"", "is a directory");
    fails(&["merge", "-o", "/nowhere/out", &a, &a], b"", "there is no directory /nowhere");
    fails(&["merge", "-o", &out, &a], b"", "<FILTER>...");
    assert_eq!(directory.names(), ["a", "cut", "damaged", "text"]);
}

#[test]
fn what_was_removed_from_one_dual_filter_is_warned_of() {
    let directory = Directory::new("merge-dual");
    let [a, b, both] = ["a", "b", "both"].map(|name| format!("{}/{name}", directory.path()));
    let keys: String = (0..1_000).map(|number| format!("{number}\n")).collect();
    for path in [&a, &b] {
        assert!(
            mayhap(&["build", "-q", "--kind", "dual", "-n", "2000", "-o", path], keys.as_bytes())
                .status
                .success()
        );
    }
    let merge = |more: &[&str]| {
        let output = mayhap(&[&["merge", "--force", "-o", &both, &a, &b], more].concat(), b"");
        assert!(output.status.success());
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    assert!(!merge(&[]).contains("warning"));
    assert!(mayhap(&["remove", "-q", &b], b"1\n2\n3\n").status.success());
    let warning = "a key that was removed from one of the filters is removed from the result";
    assert!(merge(&[]).contains(warning));
    assert!(merge(&["--json"]).contains(warning));
}

/// The smallest is the first, in whichever order they are given.
#[test]
fn sizes_are_named_in_the_order_of_the_files() {
    let directory = Directory::new("merge-sizes");
    let file = |name: &str, keys: &str| {
        let path = format!("{}/{name}", directory.path());
        let output = mayhap(&["build", "-q", "--kind", "classic", "-n", keys, "-o", &path], b"a\n");
        assert!(output.status.success(), "{output:?}");
        path
    };
    let (small, large, out) = (file("small", "1000"), file("large", "3700"), file("out", "10"));
    let expected = format!(
        "{small} can't be merged with {large}: the filters' sizes, 9600 and 35520, are not multiples"
    );
    fails(&["merge", "--force", "-o", &out, &large, &small], b"", &expected);
    fails(&["merge", "--force", "-o", &out, &small, &large], b"", &expected);
}
