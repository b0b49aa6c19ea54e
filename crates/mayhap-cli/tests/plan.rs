//! `mayhap plan`, as a user runs it.

mod run;

use run::{fails, mayhap};
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    let output = mayhap(&[&["plan", "--json"], arguments].concat(), b"");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("stdout is JSON")
}

fn filter<'a>(report: &'a Value, kind: &str) -> &'a Value {
    let filters = report["filters"].as_array().expect("an array");
    filters.iter().find(|filter| filter["kind"] == kind).unwrap_or_else(|| panic!("no {kind} in {report}"))
}

#[test]
fn text_shows_every_kind_and_a_recommendation() {
    let output = mayhap(&["plan", "-n", "100M", "-p", "1%"], b"");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    let text = String::from_utf8(output.stdout).unwrap();
    for part in
        ["BloomFilter", "ClassicBloom", "HashSet", "100 M", "1%", "126 MB", "120 MB", "1.21 GB", "9.59"]
    {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    assert!(text.contains("Recommended: BloomFilter"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
}

#[test]
fn every_kind_says_what_it_can_do() {
    let report = json(&["-n", "1M", "-p", "1%"]);
    let abilities = |kind: &str| {
        let filter = filter(&report, kind);
        ["deletes", "grows", "counts"].map(|ability| filter[ability].as_bool().unwrap())
    };
    assert_eq!(abilities("BloomFilter"), [false, false, false]);
    assert_eq!(abilities("ScalableBloom"), [false, true, false]);
    assert_eq!(abilities("WindowBloom"), [false, false, false]);
    assert_eq!(abilities("CountingBloom"), [true, false, true]);
    assert_eq!(abilities("DualBloom"), [true, false, false]);
    assert_eq!(abilities("DLeftCounting"), [true, false, true]);
    assert_eq!(abilities("CuckooFilter"), [true, false, true]);
    assert_eq!(abilities("ScalableCuckoo"), [true, true, true]);
    let widths: Vec<_> = report["filters"].as_array().unwrap().iter().map(|f| &f["counter_bits"]).collect();
    assert!([4, 8, 16].into_iter().all(|bits| widths.contains(&&Value::from(bits))), "{widths:?}");

    let memory = |kind: &str| filter(&report, kind)["bits_per_key"].as_f64().unwrap();
    assert!(memory("CuckooFilter") < memory("BloomFilter"), "the least memory of those that delete");
    assert!(memory("DLeftCounting") * 2.0 < memory("CountingBloom"));
}

#[test]
fn a_billion_phone_numbers() {
    // Eleven digits of which the first is fixed: a bit for each number is less than a filter.
    let report = json(&["-n", "1B", "-p", "0.1%", "--range", "10B"]);
    assert_eq!(report["bitmap"]["bytes"], 1_250_000_000);
    assert_eq!(report["recommended"], "Bitmap");
    let gigabytes = |kind: &str| filter(&report, kind)["bytes"].as_u64().unwrap() as f64 / 1e9;
    assert!((gigabytes("ClassicBloom") - 1.80).abs() < 0.005);
    assert!((gigabytes("BloomFilter") - 1.97).abs() < 0.005);

    // All numbers of eleven digits.
    let report = json(&["-n", "1B", "-p", "0.1%", "--range", "100B"]);
    assert_eq!(report["bitmap"]["bytes"], 12_500_000_000_u64);
    assert_eq!(report["recommended"], "BloomFilter");
}

#[test]
fn exact_sets_stand_beside_a_filter() {
    let report = json(&["--exact-sets"]);
    let rows = report["bytes_per_key"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    assert_eq!((&rows[0]["keys"], &rows[5]["keys"]), (&Value::from(10_000), &Value::from(1_000_000_000)));
    for row in rows {
        assert!(row["bloom_filter"].as_f64().unwrap() * 6.0 < row["sorted_vec_u64"].as_f64().unwrap());
    }
    let output = mayhap(&["plan", "--exact-sets", "-p", "0.1%"], b"");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("BloomFilter at 0.1%") && text.contains("62.4"), "{text}");
    fails(&["plan", "--exact-sets", "-n", "5"], b"", "cannot be used with");
}

#[test]
fn json_has_the_same_numbers() {
    let report = json(&["-n", "100M", "-p", "1%"]);
    let blocked = filter(&report, "BloomFilter");
    assert_eq!(blocked["shape"], "Eight");
    assert_eq!(blocked["keys"], 100_000_000);
    assert_eq!(blocked["rate"], 0.01);
    assert_eq!(blocked["hashes"], 8);
    assert_eq!(blocked["cache_lines_if_present"], 1.0);
    let bits_per_key = blocked["bits_per_key"].as_f64().unwrap();
    assert!((10.0..10.2).contains(&bits_per_key), "{bits_per_key}");
    let bytes = blocked["bytes"].as_u64().unwrap();
    assert!((bytes as f64 * 8.0 / 1e8 - bits_per_key).abs() < 1e-6);

    let classic = filter(&report, "ClassicBloom");
    assert_eq!((&classic["hashes"], &classic["shape"]), (&Value::from(7), &Value::Null));
    assert_eq!(report["hash_set"]["bytes"], (1u64 << 27) * 9 + 16);
    assert_eq!(report["recommended"], "BloomFilter");
}

#[test]
fn the_recommendation_follows_the_rate() {
    assert_eq!(json(&["-n", "1M", "-p", "1e-6"])["recommended"], "BloomFilter");
    assert_eq!(json(&["-n", "1M", "-p", "9e-7"])["recommended"], "ClassicBloom");
    assert_eq!(json(&["-n", "100", "-p", "1%"])["recommended"], "HashSet");
}

#[test]
fn any_two_numbers_will_do() {
    let report = json(&["--memory", "64MiB", "-p", "1/1000"]);
    let keys = filter(&report, "ClassicBloom")["keys"].as_u64().unwrap();
    assert!((37_000_000..37_500_000).contains(&keys), "{keys}");

    let report = json(&["-n", "1B", "-m", "2GiB"]);
    assert!(filter(&report, "BloomFilter")["bytes"].as_u64().unwrap() <= 2 << 30);
    assert!(filter(&report, "ClassicBloom")["rate"].as_f64().unwrap() < 0.001);

    let report = json(&["-m", "1MB", "-k", "8"]);
    let rate = filter(&report, "ClassicBloom")["rate"].as_f64().unwrap();
    assert!((rate * 256.0 - 1.0).abs() < 0.01, "{rate}");

    let report = json(&["-p", "1%", "-k", "8"]);
    assert_eq!(filter(&report, "BloomFilter")["bytes"], Value::Null);
    assert_eq!(report["hash_set"], Value::Null);

    let report = json(&["-n", "1M", "-p", "1%", "-k", "7"]);
    assert_eq!(report["filters"].as_array().unwrap().len(), 1);
    assert!(report["remarks"][0].as_str().unwrap().contains("4, 8 or 16"));
}

#[test]
fn long_keys_make_the_hash_set_larger() {
    let report = json(&["-n", "50M", "-p", "1%", "--key-bytes", "30"]);
    assert_eq!(report["hash_set"]["bytes"], (1u64 << 26) * 17 + 16 + 50_000_000 * 48);
    assert!(report["hash_set"]["assumes"].as_str().unwrap().contains("30 bytes"));
}

#[test]
fn bad_numbers_say_what_is_accepted() {
    for (arguments, expected) in [
        (&["-n", "lots", "-p", "1%"][..], "`lots` is not a count; write a whole number such as"),
        (&["-n", "1.5", "-p", "1%"], "`1.5` is not a whole number"),
        (&["-n", "1e30", "-p", "1%"], "`1e30` is too large"),
        (&["-n", "-5", "-p", "1%"], "`-5` is not a count"),
        (&["-n", "10", "-p", "0"], "a rate of `0` is zero"),
        (&["-n", "10", "-p", "5"], "did you mean 5%?"),
        (&["-n", "10", "-p", "-1"], "`-1` is not a rate"),
        (&["-n", "10", "-m", "64Mib/s"], "`64Mib/s` is not a size; write bytes"),
        (&["-n", "10", "-p", "1%", "-k", "65"], "65 is not in 1..=64"),
        (&["-n", "0", "-p", "1%"], "plan for at least 1 key"),
        (&["-n", "1T", "-p", "1e-9"], "too low for 1000000000000 keys"),
        (&["-n", "10"], "give two of -n, -p, --memory and -k"),
        (&[], "give two of -n, -p, --memory and -k"),
        (&["-n", "10", "-p", "1%", "-m", "1K"], "leave one out"),
        (&["-n", "10", "-p", "1%", "--range", "9"], "a range of 9 numbers has no room for 10 different keys"),
        (&["-p", "1%", "-m", "1K", "--range", "0"], "a range of 0 numbers"),
    ] {
        fails(&[&["plan"], arguments].concat(), b"", expected);
    }
}
