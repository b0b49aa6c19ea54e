//! `mayhap verify`, as a user runs it.

mod run;

use mayhap::codec::Existing;
use mayhap::formats::guava::{GuavaBloom, Sizing, UnencodedChars};
use mayhap::hash::SecretKey;
use mayhap::{
    AnyFilter, Bitmap, BloomFilter, CountingBloom, CuckooFilter, DLeftCounting, Digest, DualBloom,
    ScalableBloom, WindowBloom,
};
use run::{Directory, fails, mayhap};
use serde_json::Value;

fn lines(count: u64) -> String {
    (0..count).map(|number| format!("key {number}\n")).collect()
}

fn fill(mut filter: AnyFilter, keys: u64) -> AnyFilter {
    for number in 0..keys {
        let digest = filter.hash(&format!("key {number}"));
        filter.insert_hashes(&[digest], &mut [false]).expect("room for a key");
    }
    filter
}

fn save(directory: &Directory, name: &str, filter: &AnyFilter) -> String {
    let path = format!("{}/{name}", directory.path());
    filter.save(&path, Existing::Replace).expect("a filter file");
    path
}

/// Runs it, expects this exit code and gives what it printed.
#[track_caller]
fn verify(arguments: &[&str], input: &[u8], code: i32) -> String {
    let output = mayhap(&[&["verify"], arguments].concat(), input);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn filters_of_all_kinds_keep_their_promise() {
    let directory = Directory::new("verify-kinds");
    let source = directory.file("source", lines(10_000).as_bytes());
    let kinds: [AnyFilter; 5] = [
        BloomFilter::with_rate(10_000, 0.01).unwrap().into(),
        ScalableBloom::with_rate(1_000, 0.01).unwrap().into(),
        CuckooFilter::with_rate(10_000, 0.01).unwrap().into(),
        DLeftCounting::with_rate(10_000, 0.01).unwrap().into(),
        WindowBloom::with_rate(10_000, 0.01).unwrap().into(),
    ];
    for (number, filter) in kinds.into_iter().enumerate() {
        let path = save(&directory, &number.to_string(), &fill(filter, 10_000));
        let text = verify(&[&path, &source, "--samples", "200k"], b"", 0);
        assert!(text.contains("checksums: all are right\n"), "{text}");
        assert!(text.contains("keys: all 10 000 of the source were found\n"), "{text}");
        assert!(text.contains(" of 200 000 absent keys were answered \"mayhap\""), "{text}");
        assert!(text.contains("95 % Clopper-Pearson interval"), "{text}");
        assert!(text.ends_with("result: the filter keeps its promise\n"), "{text}");
    }
}

#[test]
fn json_has_all_numbers() {
    let directory = Directory::new("verify-json");
    let path = save(&directory, "f", &fill(BloomFilter::with_rate(10_000, 0.01).unwrap().into(), 10_000));
    let result = json(&verify(&[&path, "--json", "-"], lines(10_000).as_bytes(), 0));
    assert_eq!(result["verified"], true);
    assert_eq!(result["checksums"], "good");
    assert_eq!((&result["source"]["lines"], &result["source"]["missing"]), (&10_000.into(), &0.into()));
    let rate = &result["sample"];
    assert_eq!((&rate["absent_asked"], &rate["promised_rate"]), (&1_000_000.into(), &0.01.into()));
    let [low, measured, high] =
        ["lowest_rate", "measured_rate", "highest_rate"].map(|name| rate[name].as_f64().unwrap());
    assert!(low < measured && measured < high && high - low < 0.001, "{rate}");
    assert!((0.007..0.011).contains(&measured), "{rate}");
    // The same keys are asked for again, whatever the number of threads; another seed has others.
    let again = json(&verify(&[&path, "--json", "--no-keys"], b"", 0));
    assert_eq!(again["sample"], *rate);
    let other = json(&verify(&[&path, "--json", "--no-keys", "--seed", "2"], b"", 0));
    assert_ne!(other["sample"]["wrong"], rate["wrong"]);
    assert_eq!(other["source"], Value::Null);
}

#[test]
fn a_missing_key_is_a_failure_and_shown() {
    let directory = Directory::new("verify-missing");
    let path = save(&directory, "f", &fill(BloomFilter::with_rate(10_000, 1e-6).unwrap().into(), 100));
    let text = verify(&[&path, "--samples", "1000"], lines(103).as_bytes(), 1);
    assert!(text.contains("keys: 3 of the source's 103 were NOT found\n"), "{text}");
    for number in [100, 101, 102] {
        assert!(text.contains(&format!("  missing: \"key {number}\"\n")), "{text}");
    }
    assert!(text.ends_with("result: the filter does NOT keep its promise\n"), "{text}");
    let result = json(&verify(&[&path, "--json", "--samples", "1000"], lines(200).as_bytes(), 1));
    assert_eq!((&result["verified"], &result["source"]["missing"]), (&false.into(), &100.into()));
    assert_eq!(result["source"]["missing_first"].as_array().unwrap().len(), 5);
    assert_eq!(verify(&[&path, "-q", "--samples", "1000"], lines(103).as_bytes(), 1), "");
    assert_eq!(verify(&[&path, "-q", "--samples", "1000"], lines(100).as_bytes(), 0), "");
}

#[test]
fn a_rate_above_the_promise_is_a_failure() {
    let directory = Directory::new("verify-rate");
    // Twice as many keys as planned.
    let path = save(&directory, "f", &fill(BloomFilter::with_rate(5_000, 0.01).unwrap().into(), 10_000));
    let text = verify(&[&path], lines(10_000).as_bytes(), 1);
    assert!(text.contains(", ABOVE the 1% promised"), "{text}");
    assert!(text.contains("plan: it holds about"), "{text}");
    assert!(text.contains("keys: all 10 000 of the source were found"), "{text}");
    // Another promise, another answer.
    let text = verify(&[&path, "-p", "50%"], lines(10_000).as_bytes(), 0);
    assert!(text.contains(", below the 50% promised"), "{text}");
    let good = save(&directory, "g", &fill(BloomFilter::with_rate(10_000, 0.01).unwrap().into(), 10_000));
    verify(&[&good, "--no-keys"], b"", 0);
    verify(&[&good, "--no-keys", "--rate", "1e-4"], b"", 1);
}

/// Of twenty sound filters, exactly as full as planned, about half have a rate above the promise: which is chance, and
/// none of them is called wrong.
#[test]
fn sound_filters_of_any_seed_keep_their_promise() {
    const KEYS: u64 = 20_000;
    let directory = Directory::new("verify-seeds");
    for rate in [0.01, 0.03] {
        for seed in 0..20 {
            let mut dual =
                DualBloom::builder().keys(KEYS).rate(rate).removals(2_000).seed(seed).build().unwrap();
            for number in 0..KEYS {
                dual.insert(&format!("key {number}")).unwrap();
            }
            for number in 18_000..KEYS {
                let _ = dual.remove(&format!("key {number}"));
            }
            let filters: [AnyFilter; 5] = [
                fill(BloomFilter::builder().keys(KEYS).rate(rate).seed(seed).build().unwrap().into(), KEYS),
                fill(CountingBloom::builder().keys(KEYS).rate(rate).seed(seed).build().unwrap().into(), KEYS),
                fill(DLeftCounting::builder().keys(KEYS).rate(rate).seed(seed).build().unwrap().into(), KEYS),
                fill(CuckooFilter::builder().keys(KEYS).rate(rate).seed(seed).build().unwrap().into(), KEYS),
                dual.into(),
            ];
            for filter in filters {
                let path = save(&directory, "f", &filter);
                let source = if let AnyFilter::Dual(_) = filter { lines(18_000) } else { String::new() };
                verify(&[&path, "-"], source.as_bytes(), 0);
            }
        }
    }
}

#[test]
fn an_overfilled_filter_of_any_seed_does_not() {
    let directory = Directory::new("verify-overfilled");
    for rate in [0.01, 0.03] {
        for seed in 0..5 {
            let filters: [AnyFilter; 3] = [
                BloomFilter::builder().keys(20_000).rate(rate).seed(seed).build().unwrap().into(),
                CountingBloom::builder().keys(20_000).rate(rate).seed(seed).build().unwrap().into(),
                DualBloom::builder().keys(20_000).rate(rate).seed(seed).build().unwrap().into(),
            ];
            for filter in filters {
                let path = save(&directory, "f", &fill(filter, 26_000));
                let text = verify(&[&path, "--no-keys"], b"", 1);
                assert!(text.contains("plan: it holds about 2"), "{text}");
            }
        }
    }
}

/// Bits that were not set by keys: no more of them than planned, but in one place.
#[test]
fn a_filter_that_is_filled_wrongly_does_not() {
    let directory = Directory::new("verify-uneven");
    let mut filter = AnyFilter::from(BloomFilter::with_rate(20_000, 0.01).unwrap());
    // Digests whose upper half is small: all in the first blocks.
    let digests: Vec<Digest> =
        (0..20_000u64).map(|number| Digest::new(filter.hash(&number).get() >> 1)).collect();
    let mut new = vec![false; digests.len()];
    filter.insert_hashes(&digests, &mut new).unwrap();
    let text = verify(&[&save(&directory, "f", &filter), "--no-keys"], b"", 1);
    assert!(text.contains("as far as the seed alone explains"), "{text}");
}

#[test]
fn what_is_chance_and_what_is_not_is_said() {
    let directory = Directory::new("verify-chance");
    let mut is_above = 0;
    for seed in 0..20 {
        let filter = CountingBloom::builder().keys(20_000).rate(0.01).seed(seed).build().unwrap();
        let path = save(&directory, "f", &fill(filter.into(), 20_000));
        let rate = json(&verify(&[&path, "--no-keys", "--json"], b"", 0))["sample"].clone();
        let [low, promised, allowed] =
            ["lowest_rate", "promised_rate", "allowed_rate"].map(|name| rate[name].as_f64().unwrap());
        assert!(allowed > 1.02 * promised && allowed < 1.3 * promised, "{rate}");
        if low > promised {
            is_above += 1;
            let text = verify(&[&path, "--no-keys"], b"", 0);
            assert!(text.contains("filters of this size differ by their seeds, and up to 1."), "{text}");
        }
    }
    assert!(is_above > 0, "or this test shows nothing");
}

#[test]
fn a_bitmap_is_exact() {
    let directory = Directory::new("verify-bitmap");
    let mut bitmap = Bitmap::dense(1_000).unwrap();
    bitmap.insert_range(10..=12).unwrap();
    let path = format!("{}/bitmap", directory.path());
    bitmap.save(&path, Existing::Refuse).unwrap();
    let text = verify(&[&path], b"10\n11\n12\n", 0);
    assert!(text.contains("rate: a bitmap is exact"), "{text}");
    let text = verify(&[&path], b"10\n13\n", 1);
    assert!(text.contains("missing: \"13\""), "{text}");
    fails(&["verify", &path], b"ten\n", "is no whole number");
}

#[test]
fn a_dual_filter_may_hide_a_few() {
    let directory = Directory::new("verify-dual");
    let filter = DualBloom::builder().keys(20_000).rate(0.01).removals(10_000).hidden_rate(0.01);
    let mut dual = filter.build().unwrap();
    for number in 0..20_000u64 {
        let _ = dual.insert(&format!("key {number}"));
    }
    for number in 10_000..20_000u64 {
        let _ = dual.remove(&format!("key {number}"));
    }
    let path = save(&directory, "f", &dual.into());
    let text = verify(&[&path], lines(10_000).as_bytes(), 0);
    assert!(text.contains("of the source's 10 000 were NOT found"), "{text}");
    assert!(text.contains("a dual Bloom filter may hide 1% of its keys"), "{text}");
    assert!(text.ends_with("result: the filter keeps its promise\n"), "{text}");
    // The removed ones are more than that.
    verify(&[&path], lines(20_000).as_bytes(), 1);
}

#[test]
fn other_systems_and_secret_keys() {
    let directory = Directory::new("verify-foreign");
    let mut guava = GuavaBloom::with_rate(1_000, 0.01, Sizing::Guava31).unwrap();
    for number in 0..1_000 {
        let _ = guava.insert(&format!("key {number}"));
    }
    let path = directory.file("guava", &guava.to_bytes().unwrap());
    let text = verify(&[&path, "--format", "guava"], lines(1_000).as_bytes(), 0);
    assert!(text.contains("keys: all 1 000 of the source were found"), "{text}");
    assert!(text.contains("promises none"), "{text}");
    assert!(text.ends_with("result: every key was found; no rate was promised\n"), "{text}");
    let json = verify(&[&path, "--format", "guava", "--json"], lines(1_000).as_bytes(), 0);
    assert!(json.contains(r#""promised_rate":null"#) && json.contains(r#""kept":null"#), "{json}");
    verify(&[&path, "--format", "guava", "-p", "0.1%"], lines(1_000).as_bytes(), 1);

    // Keys in UTF-16 are made of UTF-8, which not every byte is.
    let mut guava = GuavaBloom::with_rate(1_000, 0.01, Sizing::Guava31).unwrap();
    for number in 0..1_000 {
        let _ = guava.insert(&UnencodedChars(format!("key {number}")));
    }
    let path = directory.file("utf16", &guava.to_bytes().unwrap());
    let utf16 = [&path, "--format", "guava", "--key-type", "utf16", "--samples", "20000"];
    let text = verify(&[&utf16[..], &["-p", "1.5%"]].concat(), lines(1_000).as_bytes(), 0);
    assert!(text.contains("keys: all 1 000 of the source were found"), "{text}");
    assert!(text.contains("of 20 000 absent keys were answered"), "{text}");
    verify(&[&utf16[..], &["-p", "0.1%", "--no-keys"]].concat(), b"", 1);

    let secret = SecretKey::new([1; 16]);
    let filter = BloomFilter::builder().keys(100).rate(0.01).secret_key(secret).build().unwrap();
    let path = save(&directory, "f", &fill(filter.into(), 100));
    let key = directory.file("key", b"01010101010101010101010101010101");
    verify(&[&path, "--key-file", &key], lines(100).as_bytes(), 0);
    fails(&["verify", &path], lines(100).as_bytes(), "--key-file");
}

#[test]
fn damage_is_an_error() {
    let directory = Directory::new("verify-damage");
    let path = save(&directory, "f", &fill(BloomFilter::with_rate(10_000, 0.01).unwrap().into(), 10_000));
    let bytes = std::fs::read(&path).unwrap();
    let source = directory.file("source", lines(10).as_bytes());
    for (name, place, expected) in [("header", 40, "header"), ("body", 5_000, "MiB 0 of section 0")] {
        let mut flipped = bytes.clone();
        flipped[place] ^= 4;
        fails(&["verify", &directory.file(name, &flipped), &source], b"", expected);
    }
    fails(&["verify", &directory.file("short", &bytes[..bytes.len() - 1]), &source], b"", "cut off");
    fails(&["verify", &directory.file("text", b"some text"), &source], b"", "not a mayhap file");
    fails(&["verify", directory.path(), &source], b"", "is a directory");
    fails(&["verify", &format!("{}/missing", directory.path()), &source], b"", "no such file");
    fails(&["verify", &path, &format!("{}/missing", directory.path())], b"", "no such file");
    fails(&["verify", &path, "-p", "0"], b"", "is zero");
}

#[test]
fn one_is_one() {
    let directory = Directory::new("verify-one");
    let empty = AnyFilter::from(BloomFilter::with_rate(10, 1e-6).expect("a small filter"));
    let path = save(&directory, "filter", &fill(empty, 1));
    for (input, code, expected) in [
        ("key 0\n", 0, "keys: the only one of the source was found\n"),
        ("pear\n", 1, "keys: the only one of the source was NOT found\n"),
        ("key 0\npear\n", 1, "keys: 1 of the source's 2 was NOT found\n"),
        ("key 0\npear\nplum\n", 1, "keys: 2 of the source's 3 were NOT found\n"),
    ] {
        let text = verify(&[&path, "--samples", "1"], input.as_bytes(), code);
        assert!(text.contains(expected) && text.contains("rate: 0 of 1 absent key was answered"), "{text}");
    }
}

#[test]
fn an_empty_source_is_said() {
    let directory = Directory::new("verify-empty");
    let path = save(&directory, "f", &fill(BloomFilter::with_rate(100, 0.01).unwrap().into(), 100));
    let text = verify(&[&path], b"", 0);
    assert!(text.contains("keys: the source has none"), "{text}");
    let text = verify(&[&path, "--no-keys"], b"never read", 0);
    assert!(text.contains("keys: no source was given"), "{text}");
    assert!(text.ends_with("result: the filter keeps its promise\n"), "of the rate: {text}");
    let text = verify(&[&path, "--no-keys", "--samples", "0"], b"", 0);
    assert!(text.ends_with("result: the file is whole, and that is all that was looked at\n"), "{text}");
    fails(&["verify", &path, "--no-keys", &path], b"", "cannot be used with");
}
