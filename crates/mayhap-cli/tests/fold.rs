//! `mayhap fold`, as a user runs it.

#![allow(clippy::unwrap_used)] // What a test stands on either is there, or the test fails.

mod run;

use std::fs;

use mayhap::codec::Existing;
use mayhap::formats::leveldb::LevelDbFilter;
use mayhap::formats::{ForeignFile, ForeignFilter};
use mayhap::{AnyFilter, Bitmap, BloomFilter, ClassicBloom, CountingBloom, CuckooFilter};
use run::{Directory, fails, mayhap};
use serde_json::Value;

fn path(directory: &Directory, name: &str) -> String {
    format!("{}/{name}", directory.path())
}

fn save(directory: &Directory, name: &str, filter: &AnyFilter) -> String {
    let path = path(directory, name);
    filter.save(&path, Existing::Replace).unwrap();
    path
}

/// A filter of ten thousand numbers, as text.
fn bloom(directory: &Directory) -> (BloomFilter, String) {
    let mut filter = BloomFilter::with_rate(100_000, 0.001).unwrap();
    filter.extend((0..10_000u64).map(|number| number.to_string()));
    let path = save(directory, "big.mayhap", &filter.clone().into());
    (filter, path)
}

fn fold(arguments: &[&str]) -> Value {
    let output = mayhap(&[&["fold", "--json"], arguments].concat(), b"");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn each_way_to_say_how_small() {
    let directory = Directory::new("fold-ways");
    let (filter, big) = bloom(&directory);
    let out = path(&directory, "small.mayhap");

    let json = fold(&[&big, "-o", &out, "--by", "2"]);
    let mut halved = filter.clone();
    halved.fold(2).unwrap();
    assert_eq!(fs::read(&out).unwrap(), halved.to_bytes().unwrap());
    assert_eq!(
        (&json["factor"], &json["after"]["memory_bytes"]),
        (&2.into(), &(filter.len_bytes() / 2).into())
    );
    assert_eq!(json["before"]["memory_bytes"], filter.len_bytes());

    let json = fold(&[&big, "-o", &out, "--rate", "1%", "--force"]);
    let small = BloomFilter::open(&out).unwrap();
    assert!(small.expected_rate() <= 0.01 && small.contains("9999"));
    assert!(json["warnings"] == serde_json::json!([]), "{json}");
    assert!(json["factor"].as_u64().unwrap() >= 8, "{json}");
    assert!(json["after"]["rate_now"].as_f64().unwrap() > json["before"]["rate_now"].as_f64().unwrap());

    let json = fold(&[&big, "-o", &out, "--to-size", "64KiB", "--force"]);
    assert!(json["after"]["memory_bytes"].as_u64().unwrap() <= 64 << 10, "{json}");
    // The next smaller factor would not have done.
    let factor = json["factor"].as_u64().unwrap();
    assert!((2..factor).rev().all(|less| {
        let mut other = filter.clone();
        other.fold(less).is_err() || other.len_bytes() > 64 << 10
    }));
}

#[test]
fn classic_and_counting_filters_fold_too() {
    let directory = Directory::new("fold-kinds");
    let out = path(&directory, "out");
    let mut classic = ClassicBloom::with_rate(10_000, 0.001).unwrap();
    classic.extend(0..100u64);
    fold(&[&save(&directory, "classic", &classic.into()), "-o", &out, "--rate", "1%"]);
    assert!(matches!(AnyFilter::open(&out).unwrap(), AnyFilter::Classic(small) if small.contains(&99u64)));
    let mut counting = CountingBloom::with_rate(10_000, 0.001).unwrap();
    counting.extend(0..100u64);
    fold(&[&save(&directory, "counting", &counting.into()), "-o", &out, "--rate", "1%", "--force"]);
    assert!(matches!(AnyFilter::open(&out).unwrap(), AnyFilter::Counting(small) if small.contains(&99u64)));
}

#[test]
fn a_dry_run_shows_and_writes_nothing() {
    let directory = Directory::new("fold-dry");
    let (_, big) = bloom(&directory);
    let output = mayhap(&["fold", &big, "--by", "2", "--dry-run"], b"");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("would be folded by 2\n"), "{text}");
    for label in ["before", "after", "size", "expected rate now"] {
        assert!(text.contains(label), "{text}");
    }
    let json = fold(&[&big, "-o", &big, "--rate", "1%", "--dry-run"]);
    assert!(json["output"].is_null(), "{json}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn what_is_small_already_is_copied() {
    let directory = Directory::new("fold-small");
    let (_, big) = bloom(&directory);
    let out = path(&directory, "out");
    let output = mayhap(&["fold", &big, "-o", &out, "--to-size", "1G"], b"");
    assert!(output.stdout.starts_with(b"not folded, and copied to"), "{output:?}");
    assert_eq!(fs::read(&out).unwrap(), fs::read(&big).unwrap());
    let json = fold(&[&big, "-o", &out, "--force", "--rate", "1e-30"]);
    assert_eq!(json["factor"], 1);
    // And not as good as was asked for.
    assert!(json["warnings"][0].as_str().unwrap().contains("above the 1e-30 asked for"), "{json}");
    let output = mayhap(&["fold", &big, "-o", &out, "--force", "--rate", "1e-30"], b"");
    assert!(String::from_utf8_lossy(&output.stderr).contains("folding can't make it better"), "{output:?}");
    let quiet = mayhap(&["fold", &big, "-o", &out, "--force", "--by", "1", "-q"], b"");
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty(), "{quiet:?}");
}

#[test]
fn factors_that_do_not_divide_get_a_list_of_those_that_do() {
    let directory = Directory::new("fold-factor");
    let (filter, big) = bloom(&directory);
    let wrong = (2..).find(|factor| filter.clone().fold(*factor).is_err()).unwrap();
    let output = mayhap(&["fold", &big, "-o", "x", "--by", &wrong.to_string()], b"");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    let (_, listed) = message.trim_end().rsplit_once("that do: ").unwrap();
    let listed: Vec<u64> = listed.split(", ").map(|factor| factor.parse().unwrap()).collect();
    assert!(!listed.is_empty() && listed.is_sorted());
    assert!(listed.iter().all(|factor| *factor > 1 && filter.clone().fold(*factor).is_ok()), "{message}");
    // A size without divisors.
    let prime = BloomFilter::with_bytes(64, 0.01).unwrap();
    let prime = save(&directory, "prime", &prime.into());
    fails(&["fold", &prime, "-o", "x", "--by", "2"], b"", "has no divisors");
    fails(&["fold", &prime, "-o", "x", "--to-size", "1"], b"", "the least it can take are 64 B");
}

#[test]
fn what_cannot_be_folded_is_refused() {
    let directory = Directory::new("fold-refused");
    let out = path(&directory, "out");
    let cuckoo = save(&directory, "cuckoo", &CuckooFilter::with_rate(1_000, 0.01).unwrap().into());
    fails(&["fold", &cuckoo, "-o", &out, "--by", "2"], b"", "a cuckoo filter can't be folded");
    let bitmap = path(&directory, "bitmap");
    Bitmap::dense(1_000).unwrap().save(&bitmap, Existing::Refuse).unwrap();
    fails(&["fold", &bitmap, "-o", &out, "--by", "2"], b"", "is a bitmap, which can't be folded");
    let foreign = path(&directory, "foreign");
    let filter = ForeignFilter::LevelDb(LevelDbFilter::new(100, 10).unwrap());
    ForeignFile::from(filter).save(&foreign, Existing::Refuse).unwrap();
    fails(&["fold", &foreign, "-o", &out, "--by", "2"], b"", "is a filter of another system");

    let (_, big) = bloom(&directory);
    let missing = path(&directory, "missing");
    fails(&["fold", &missing, "-o", &out, "--by", "2"], b"", "no such file");
    fails(&["fold", directory.path(), "-o", &out, "--by", "2"], b"", "is a directory");
    fails(&["fold", &big, "-o", &big, "--by", "2"], b"", "is there already");
    fails(&["fold", &big, "-o", &out], b"", "required");
    fails(&["fold", &big, "--by", "2"], b"", "--output");
    fails(&["fold", &big, "-o", &out, "--by", "2", "--rate", "1%"], b"", "cannot be used with");
    fails(&["fold", &big, "-o", &out, "--by", "0"], b"", "can't be folded by 0");
    fails(&["fold", &big, "-o", &out, "--rate", "0"], b"", "a rate of `0` is zero");
    fails(&["fold", &big, "-o", &out, "--rate", "2"], b"", "did you mean 2%?");
    let mut bytes = fs::read(&big).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fails(&["fold", &directory.file("bad", &bytes), "-o", &out, "--by", "2"], b"", "the file is damaged");
    assert!(!fs::exists(&out).unwrap());
}
