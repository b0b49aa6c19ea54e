//! `mayhap info`, as a user runs it.

mod run;

use mayhap::codec::Existing;
use mayhap::formats::guava::{GuavaBloom, Sizing};
use mayhap::hash::SecretKey;
use mayhap::{
    AnyFilter, Bitmap, BloomFilter, ClassicBloom, CountingBloom, CuckooFilter, DLeftCounting, DualBloom,
    ScalableBloom, ScalableCuckoo, WindowBloom,
};
use run::{Directory, command, fails, mayhap};
use serde_json::Value;

fn fill(filter: impl Into<AnyFilter>, keys: u64) -> AnyFilter {
    let mut filter = filter.into();
    for number in 0..keys {
        let digest = filter.hash(&number);
        filter.insert_hashes(&[digest], &mut [false]).expect("room for a key");
    }
    filter
}

fn save(directory: &Directory, name: &str, filter: &AnyFilter) -> String {
    let path = format!("{}/{name}", directory.path());
    filter.save(&path, Existing::Replace).expect("a filter file");
    path
}

#[track_caller]
fn info(arguments: &[&str], code: i32) -> String {
    let output = mayhap(&[&["info"], arguments].concat(), b"");
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_blocked_filter_in_words_and_numbers() {
    let directory = Directory::new("info-bloom");
    let filter = fill(BloomFilter::builder().keys(20_000).rate(0.01).seed(42).build().unwrap(), 20_000);
    let path = save(&directory, "filter", &filter);
    let text = info(&[&path], 0);
    for expected in [
        &format!("{path}: blocked Bloom filter\n"),
        "xxh3, seed 42\n",
        "20 000 keys at a rate of 1%\n",
        "file       version 1.0\n",
        "all are right\n",
        "over plan  no\n",
        "bits set in a block",
        "█",
        "|",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let values = json(&info(&["--json", &path], 0));
    assert_eq!(values["kind"], "bloom");
    assert_eq!((&values["planned_keys"], &values["planned_rate"]), (&20_000.into(), &0.01.into()));
    assert_eq!((&values["hash"]["function"], &values["hash"]["seed"]), (&"xxh3".into(), &42.into()));
    assert_eq!((&values["checksums"], &values["over_plan"]), (&"good".into(), &false.into()));
    assert_eq!(values["file_bytes"], std::fs::metadata(&path).unwrap().len());
    let keys = values["keys_now"].as_f64().unwrap();
    assert!((keys / 20_000.0 - 1.0).abs() < 0.03, "{keys}");
    let rate = values["rate_now"].as_f64().unwrap();
    assert!(rate > 0.005 && rate <= 0.0105, "{rate}");
    let counts: Vec<u64> =
        values["loads"]["counts"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).collect();
    assert_eq!(counts.len(), 513);
    assert_eq!(counts.iter().sum::<u64>(), values["blocks"].as_u64().unwrap());
    let bits: u64 = (0..).zip(&counts).map(|(load, count): (u64, _)| load * count).sum();
    let fill = bits as f64 / (512 * counts.iter().sum::<u64>()) as f64;
    assert!((values["fill"].as_f64().unwrap() - fill).abs() < 1e-9);
    let expected = values["loads"]["expected"].as_array().unwrap();
    let sum: f64 = expected.iter().map(|expected| expected.as_f64().unwrap()).sum();
    assert!((sum / counts.iter().sum::<u64>() as f64 - 1.0).abs() < 1e-3, "{sum}");
}

#[test]
fn every_kind_has_something_to_say() {
    let directory = Directory::new("info-kinds");
    let mut dual = DualBloom::builder().keys(5_000).rate(0.01).removals(500).build().unwrap();
    for key in 0..5_000u64 {
        let _ = dual.insert(&key);
    }
    for key in 0..500u64 {
        let _ = dual.remove(&key);
    }
    let tightening = ScalableBloom::builder().keys(1_000).tightening(0.5).build().unwrap();
    let kinds: [(AnyFilter, &[&str]); 9] = [
        (
            fill(ClassicBloom::with_rate(5_000, 0.01).unwrap(), 5_000),
            &["classic Bloom filter", "a key sets 7"],
        ),
        (
            fill(ScalableBloom::with_rate(1_000, 0.01).unwrap(), 5_000),
            &["scalable Bloom filter", "layer 1", "layer 3", "keys before it grows"],
        ),
        (fill(tightening, 5_000), &["each layer has 0.5 times the rate of the last"]),
        (
            fill(CountingBloom::with_rate(5_000, 0.01).unwrap(), 5_000),
            &["counting Bloom filter", "counters up to 15", "counters above zero in a line"],
        ),
        (AnyFilter::from(dual), &["dual Bloom filter", "hidden", "added", "removed"]),
        (
            fill(DLeftCounting::with_rate(5_000, 0.01).unwrap(), 5_000),
            &["d-left counting filter", "cells in use in a bucket"],
        ),
        (
            fill(CuckooFilter::with_rate(5_000, 0.01).unwrap(), 5_000),
            &["cuckoo filter", "keys now   5 000", "places taken in a bucket", "made for   5 000 keys"],
        ),
        (
            fill(ScalableCuckoo::with_rate(1_000, 0.01).unwrap(), 5_000),
            &["scalable cuckoo filter", "layer 1", "layer 2", "places taken in a bucket"],
        ),
        (
            fill(WindowBloom::by_count(5_000, 4, 0.01).unwrap(), 5_000),
            &["window Bloom filter", "the last 5 000 insertions, in 4 slots", "newest", "4 slots ago"],
        ),
    ];
    for (number, (filter, expected)) in kinds.iter().enumerate() {
        let path = save(&directory, &number.to_string(), filter);
        let text = info(&[&path], 0);
        for expected in *expected {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        let values = json(&info(&["--json", &path], 0));
        assert_eq!(values["keys_now"], filter.estimated_len());
        // A float is printed to its last digit and read to the one before.
        let rate = values["rate_now"].as_f64().unwrap();
        assert!((rate / filter.expected_rate() - 1.0).abs() < 1e-12, "{rate}");
        assert_eq!(values["checksums"], "good");
    }
    let layers = json(&info(&["--json", &format!("{}/1", directory.path())], 0));
    let keys: u64 =
        layers["layers"].as_array().unwrap().iter().map(|layer| layer["keys_now"].as_u64().unwrap()).sum();
    assert!((4_900..=5_000).contains(&keys), "{layers}");
}

#[test]
fn more_keys_than_planned_are_said() {
    let directory = Directory::new("info-over");
    let path = save(&directory, "filter", &fill(BloomFilter::with_rate(1_000, 0.01).unwrap(), 5_000));
    let text = info(&[&path], 0);
    assert!(text.contains("over plan  yes"), "{text}");
    assert_eq!(json(&info(&["--json", &path], 0))["over_plan"], true);
}

#[test]
fn bitmaps_and_other_systems() {
    let directory = Directory::new("info-others");
    let mut bitmap = Bitmap::dense(1_000).unwrap();
    bitmap.insert_range(10..=12).unwrap();
    let path = format!("{}/bitmap", directory.path());
    bitmap.save(&path, Existing::Refuse).unwrap();
    let text = info(&[&path], 0);
    assert!(
        text.contains(": bitmap\n") && text.contains("below 1 000\n") && text.contains("exact"),
        "{text}"
    );
    assert_eq!(json(&info(&["--json", &path], 0))["keys_now"], 3);

    let mut guava = GuavaBloom::with_rate(1_000, 0.01, Sizing::Guava31).unwrap();
    for key in 0..1_000u32 {
        let _ = guava.insert(&key);
    }
    let path = directory.file("guava", &guava.to_bytes().unwrap());
    let text = info(&["--format", "guava", &path], 0);
    assert!(text.contains("Guava") && text.contains("bits set"), "{text}");
    let values = json(&info(&["--json", "--format", "guava", &path], 0));
    assert_eq!((&values["hashes"], &values["bits"]), (&7.into(), &guava.bits().into()));
    fails(&["info", &path], b"", "not a mayhap file");
}

#[test]
fn a_secret_key_is_neither_needed_nor_shown() {
    let directory = Directory::new("info-secret");
    let key = SecretKey::new([0xab; 16]);
    let filter = BloomFilter::builder().keys(1_000).rate(0.01).secret_key(key.clone()).build().unwrap();
    let path = save(&directory, "filter", &fill(filter, 1_000));
    for text in [info(&[&path], 0), info(&["--json", &path], 0)] {
        assert!(text.contains("sip13"), "{text}");
        assert!(text.contains(&format!("{:#018x}", key.id())), "{text}");
        assert!(!text.contains("abab") && !text.contains("171,171"), "{text}");
    }
    let keys = json(&info(&["--json", &path], 0))["keys_now"].as_u64().unwrap();
    assert!((900..1_100).contains(&keys), "{keys}");
}

#[test]
fn quick_looks_at_the_header_alone() {
    let directory = Directory::new("info-quick");
    let path = save(&directory, "filter", &fill(BloomFilter::with_rate(1_000, 0.01).unwrap(), 1_000));
    let values = json(&info(&["--json", "--quick", &path], 0));
    assert_eq!((&values["planned_keys"], &values["checksums"]), (&1_000.into(), &"not checked".into()));
    assert_eq!((&values["fill"], &values["loads"]), (&Value::Null, &Value::Null));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[300] ^= 1;
    info(&["--quick", &directory.file("damaged", &bytes)], 0);
}

#[test]
fn damage_is_told_apart() {
    let directory = Directory::new("info-damage");
    let path = save(&directory, "filter", &fill(BloomFilter::with_rate(1_000, 0.01).unwrap(), 1_000));
    let bytes = std::fs::read(&path).unwrap();
    let mut body = bytes.clone();
    body[300] ^= 1;
    let body = directory.file("body", &body);
    let text = info(&[&body], 1);
    assert!(text.contains("checksums  DAMAGED: the checksum of MiB 0 of section 0"), "{text}");
    assert!(text.contains("keys now"), "{text}");
    let values = json(&info(&["--json", &body], 1));
    assert_eq!(values["checksums"], "damaged");
    let mut header = bytes.clone();
    header[40] ^= 1;
    fails(&["info", &directory.file("header", &header)], b"", "damaged");
    fails(&["info", &directory.file("short", &bytes[..200])], b"", "cut off");
    fails(&["info", &directory.file("text", b"hello")], b"", "not a mayhap file");
    fails(&["info", &directory.file("empty", b"")], b"", "cut off");
    fails(&["info", directory.path()], b"", "is a directory");
    fails(&["info", "/dev/stdin"], &bytes, "/dev/stdin is a pipe or a device, and a filter must be a file");
    fails(&["info", &format!("{}/missing", directory.path())], b"", "no such file");
    fails(&["info"], b"", "FILTER");
}

#[test]
fn several_files_and_one_of_them_bad() {
    let directory = Directory::new("info-several");
    let one = save(&directory, "one", &fill(BloomFilter::with_rate(1_000, 0.01).unwrap(), 1_000));
    let two = save(&directory, "two", &fill(CuckooFilter::with_rate(1_000, 0.01).unwrap(), 1_000));
    let text = info(&["--json", &one, &two], 0);
    let kinds: Vec<Value> = text.lines().map(|line| json(line)["kind"].clone()).collect();
    assert_eq!(kinds, ["bloom", "cuckoo"]);
    let missing = format!("{}/missing", directory.path());
    let output = mayhap(&["info", "--json", &missing, &two], b"");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(json(std::str::from_utf8(&output.stdout).unwrap())["kind"], "cuckoo");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no such file"));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let directory = Directory::new("info-closed");
    let path = save(&directory, "filter", &fill(BloomFilter::with_rate(1_000, 0.01).unwrap(), 1_000));
    let mut child = command(&["info", &path]).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
