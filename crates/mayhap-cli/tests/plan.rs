//! `mayhap plan`, as a user runs it.

mod run;

use run::{Directory, fails, mayhap};
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
        ["BloomFilter", "ClassicBloom", "HashSet", "100 M", "1%", "126 MB", "120 MB", "1.21 GB", "9.60"]
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
        ["can_remove", "can_grow", "can_count"].map(|ability| filter[ability].as_bool().unwrap())
    };
    assert_eq!(abilities("bloom"), [false, false, false]);
    assert_eq!(abilities("scalable"), [false, true, false]);
    assert_eq!(abilities("window"), [false, false, false]);
    assert_eq!(abilities("counting"), [true, false, true]);
    assert_eq!(abilities("dual"), [true, false, false]);
    assert_eq!(abilities("d-left"), [true, false, true]);
    assert_eq!(abilities("cuckoo"), [true, false, true]);
    assert_eq!(abilities("scalable-cuckoo"), [true, true, true]);
    let widths: Vec<_> = report["filters"].as_array().unwrap().iter().map(|f| &f["counter_bits"]).collect();
    assert!([4, 8, 16].into_iter().all(|bits| widths.contains(&&Value::from(bits))), "{widths:?}");

    let memory = |kind: &str| filter(&report, kind)["bits_per_key"].as_f64().unwrap();
    assert!(memory("cuckoo") < memory("bloom"), "the least memory of those that delete");
    assert!(memory("d-left") * 2.0 < memory("counting"));
}

#[test]
fn a_billion_phone_numbers() {
    // Eleven digits of which the first is fixed: a bit for each number is less than a filter.
    let report = json(&["-n", "1B", "-p", "0.1%", "--range", "10B"]);
    assert_eq!(report["bitmap"]["memory_bytes"], 1_250_000_000);
    assert_eq!(report["recommended"], "bitmap");
    let gigabytes = |kind: &str| filter(&report, kind)["memory_bytes"].as_u64().unwrap() as f64 / 1e9;
    assert!((gigabytes("classic") - 1.80).abs() < 0.005);
    assert!((gigabytes("bloom") - 1.97).abs() < 0.005);

    // From where it is no larger than the filter that would be recommended, though a ClassicBloom is smaller.
    for (keys, recommended) in [("630M", "bloom"), ("640M", "bitmap"), ("690M", "bitmap")] {
        let report = json(&["-n", keys, "-p", "0.1%", "--range", "10B"]);
        assert_eq!(report["recommended"], recommended, "{keys}");
        let bytes = |set: &Value| set["memory_bytes"].as_u64().unwrap();
        let is_no_larger = bytes(&report["bitmap"]) <= bytes(filter(&report, "bloom"));
        assert_eq!(is_no_larger, recommended == "bitmap", "{keys}");
    }

    // All numbers of eleven digits.
    let report = json(&["-n", "1B", "-p", "0.1%", "--range", "100B"]);
    assert_eq!(report["bitmap"]["dense_bytes"], 12_500_000_000_u64);
    let sparse = report["bitmap"]["sparse_bytes"].as_u64().unwrap();
    assert!((3_000_000_000..3_500_000_000).contains(&sparse), "{sparse}");
    assert_eq!(
        (&report["bitmap"]["memory_bytes"], &report["recommended"]),
        (&sparse.into(), &"bloom".into())
    );
    let output = mayhap(&["plan", "-n", "1B", "-p", "0.1%", "--range", "100B"], b"");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("would take 12.5 GB") && text.contains("The sparse form takes 3"), "{text}");

    // Few keys of a wide range: no larger than a filter of the same, as numbers that are close together are.
    let few = json(&["-n", "1M", "-p", "1%", "--range", "4e9"]);
    assert!(few["bitmap"]["memory_bytes"].as_u64().unwrap() < 10_000_000, "{few}");
}

/// Few numbers: both exact sets are small, and the bitmap may be the smaller one.
#[test]
fn a_bitmap_wins_over_a_larger_hash_set() {
    for (keys, rate, range) in
        [("50", "1%", "100"), ("100", "1%", "1000"), ("10", "1%", "10"), ("100", "1%", "3000")]
    {
        let report = json(&["-n", keys, "-p", rate, "--range", range]);
        assert!(report["bitmap"]["memory_bytes"].as_u64() < report["hash_set"]["memory_bytes"].as_u64());
        assert_eq!(report["recommended"], "bitmap", "{keys} {rate} {range}");
        let text = mayhap(&["plan", "-n", keys, "-p", rate, "--range", range], b"").stdout;
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("whatever is in it, and never errs") && !text.contains("pays"), "{text}");
    }
    let report = json(&["-n", "10", "-p", "1%", "--range", "10k"]);
    assert_eq!(report["recommended"], "hash-set", "{report}");
    let text = mayhap(&["plan", "-n", "10", "-p", "1%", "--range", "1500"], b"").stdout;
    assert!(String::from_utf8(text).unwrap().contains("it pays when the range is smaller"));
}

/// What the table says is what `build` takes.
#[test]
fn a_classic_filter_takes_what_was_planned() {
    let directory = Directory::new("plan-classic");
    let path = format!("{}/filter", directory.path());
    for keys in ["1", "50", "1000", "1M"] {
        let output =
            mayhap(&["build", "--json", "--kind", "classic", "-n", keys, "--force", "-o", &path], b"a\n");
        let built: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let report = json(&["-n", keys, "-p", "1%"]);
        assert_eq!(filter(&report, "classic")["memory_bytes"], built["memory_bytes"], "{keys}");
        let (foreign, _) = foreign("redis", &["-n", keys, "-p", "1%"]);
        assert_eq!(foreign["mayhap"][1]["memory_bytes"], built["memory_bytes"], "{keys}");
    }
    // Within the memory that was given, in whole lines.
    let report = json(&["-m", "1000", "-p", "1%"]);
    assert_eq!(filter(&report, "classic")["memory_bytes"], 960);
}

#[test]
fn exact_sets_stand_beside_a_filter() {
    let report = json(&["--exact-sets"]);
    let rows = report["bytes_per_key"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    assert_eq!((&rows[0]["keys"], &rows[5]["keys"]), (&Value::from(10_000), &Value::from(1_000_000_000)));
    // 24 bytes of a String and one of control in 2^21 buckets, and a block of 48 bytes for each.
    let strings = rows[2]["hash_set_strings"].as_f64().unwrap();
    assert!((strings - 100.43).abs() < 0.01, "{strings}");
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
    let blocked = filter(&report, "bloom");
    assert_eq!(blocked["blocks_per_key"], 1);
    assert_eq!(blocked["planned_keys"], 100_000_000);
    assert_eq!(blocked["planned_rate"], 0.01);
    assert_eq!(blocked["hashes"], 8);
    assert_eq!(blocked["cache_lines_if_present"], 1.0);
    let bits_per_key = blocked["bits_per_key"].as_f64().unwrap();
    assert!((10.0..10.2).contains(&bits_per_key), "{bits_per_key}");
    let bytes = blocked["memory_bytes"].as_u64().unwrap();
    assert!((bytes as f64 * 8.0 / 1e8 - bits_per_key).abs() < 1e-6);

    let classic = filter(&report, "classic");
    assert_eq!((&classic["hashes"], &classic["blocks_per_key"]), (&Value::from(7), &Value::Null));
    assert_eq!(report["hash_set"]["memory_bytes"], (1u64 << 27) * 9 + 16);
    assert_eq!(report["recommended"], "bloom");
}

#[test]
fn the_recommendation_follows_the_rate() {
    assert_eq!(json(&["-n", "1M", "-p", "1e-6"])["recommended"], "bloom");
    for rate in ["9e-7", "1e-7", "1e-8"] {
        let report = json(&["-n", "1M", "-p", rate]);
        let bits = |kind| filter(&report, kind)["bits_per_key"].as_f64().unwrap();
        assert!(bits("cuckoo") < bits("classic"));
        assert_eq!(report["recommended"], "cuckoo", "what is said to be the smallest is");
    }
    assert_eq!(json(&["-n", "1M", "-p", "1e-7", "-k", "23"])["recommended"], "classic");
    assert_eq!(json(&["-n", "100", "-p", "1%"])["recommended"], "hash-set");
    // One bit for a hundred keys.
    assert_eq!(json(&["-n", "1M", "-m", "10kB"])["recommended"], Value::Null);
    let output = mayhap(&["plan", "-n", "1M", "-m", "10kB"], b"");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Nothing to recommend"), "{text}");
    assert!(text.contains("No CuckooFilter: even at a rate of 50% it needs"), "{text}");
    assert!(text.contains("ClassicBloom, 1 bit "), "{text}");
}

/// What the table offers can be built, and what can't be built is a remark.
#[test]
fn rates_that_fingerprints_can_t_give_are_remarks() {
    let report = json(&["-n", "1M", "-p", "1e-8"]);
    let kinds: Vec<_> = report["filters"].as_array().unwrap().iter().map(|filter| &filter["kind"]).collect();
    assert!(kinds.contains(&&Value::from("cuckoo")) && !kinds.contains(&&Value::from("scalable-cuckoo")));
    let remark = report["remarks"][0].as_str().unwrap();
    assert!(remark.starts_with("No ScalableCuckoo: its fingerprints have 32 bits at most"), "{remark}");
    let report = json(&["-n", "1k", "-p", "1e-12"]);
    assert!(
        report["remarks"][0].as_str().unwrap().starts_with("No CuckooFilter: its fingerprints have 32 bits"),
        "{report}"
    );
    assert_eq!(report["recommended"], "classic");
}

#[test]
fn any_two_numbers_will_do() {
    let report = json(&["--memory", "64MiB", "-p", "1/1000"]);
    let keys = filter(&report, "classic")["planned_keys"].as_u64().unwrap();
    assert!((37_000_000..37_500_000).contains(&keys), "{keys}");

    let report = json(&["-n", "1B", "-m", "2GiB"]);
    assert!(filter(&report, "bloom")["memory_bytes"].as_u64().unwrap() <= 2 << 30);
    assert!(filter(&report, "classic")["planned_rate"].as_f64().unwrap() < 0.001);

    let report = json(&["-m", "1MB", "-k", "8"]);
    let rate = filter(&report, "classic")["planned_rate"].as_f64().unwrap();
    assert!((rate * 256.0 - 1.0).abs() < 0.01, "{rate}");

    let report = json(&["-p", "1%", "-k", "8"]);
    assert_eq!(filter(&report, "bloom")["memory_bytes"], Value::Null);
    assert_eq!(report["hash_set"], Value::Null);

    let report = json(&["-n", "1M", "-p", "1%", "-k", "7"]);
    assert_eq!(report["filters"].as_array().unwrap().len(), 1);
    assert!(report["remarks"][0].as_str().unwrap().contains("4, 8 or 16"));
}

#[test]
fn long_keys_make_the_hash_set_larger() {
    let report = json(&["-n", "50M", "-p", "1%", "--key-bytes", "30"]);
    assert_eq!(report["hash_set"]["memory_bytes"], (1u64 << 26) * 25 + 16 + 50_000_000 * 48);
    assert!(report["hash_set"]["assumes"].as_str().unwrap().contains("30 bytes"));
}

#[test]
fn every_pair_of_numbers_leads_to_the_others() {
    let numbers = [["-n", "1M"], ["-p", "1%"], ["-m", "2MB"], ["-k", "8"]];
    for (i, first) in numbers.iter().enumerate() {
        for second in &numbers[i + 1..] {
            let report = json(&[&first[..], &second[..]].concat());
            let classic = filter(&report, "classic");
            for part in ["planned_rate", "bits_per_key", "hashes"] {
                assert!(classic[part].as_f64().unwrap() > 0.0, "{first:?} {second:?}: {classic}");
            }
            // Of a rate and a number of hashes, only the ratio of keys and memory follows.
            let is_ratio = (first[0], second[0]) == ("-p", "-k");
            assert_eq!(classic["planned_keys"].is_null(), is_ratio, "{first:?} {second:?}");
            assert_eq!(classic["memory_bytes"].is_null(), is_ratio, "{first:?} {second:?}");
        }
    }
    let report = json(&["-n", "1M", "-k", "7"]);
    let bits = filter(&report, "classic")["bits_per_key"].as_f64().unwrap();
    assert!((bits - 10.1).abs() < 0.05, "7 is the best number at {bits}");
}

/// The filters of `plan --for`.
fn foreign(system: &str, arguments: &[&str]) -> (Value, Vec<Value>) {
    let report = json(&[&["--for", system], arguments].concat());
    let filters = report["filters"].as_array().expect("an array").clone();
    (report, filters)
}

fn number(filter: &Value, part: &str) -> f64 {
    filter[part].as_f64().unwrap_or_else(|| panic!("no {part} in {filter}"))
}

#[test]
fn another_systems_call_stands_beside_its_cost() {
    for (system, call) in [
        ("redis", "BF.RESERVE key 0.01 1000000"),
        ("guava", "BloomFilter.create(funnel, 1000000, 0.01)"),
        ("leveldb", "leveldb::NewBloomFilterPolicy(10)"),
        ("parquet", "parquet.bloom.filter.expected.ndv#column=1000000"),
        ("spark", "BloomFilter.create(1000000L, 0.01)"),
    ] {
        let output = mayhap(&["plan", "--for", system, "-n", "1M", "-p", "1%"], b"");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        for part in [call, "bits per key", "mayhap: BloomFilter", "mayhap: ClassicBloom"] {
            assert!(text.contains(part), "no {part} in:\n{text}");
        }
        let (report, filters) = foreign(system, &["-n", "1M", "-p", "1%"]);
        assert!(
            filters.iter().any(|filter| filter["calls"].to_string().contains(&call.replace('"', "\\\"")))
        );
        assert_eq!(report["mayhap"].as_array().unwrap().len(), 2);
        for filter in &filters {
            let bits = number(filter, "memory_bytes") * 8.0 / 1e6;
            assert!((number(filter, "bits_per_key") - bits).abs() < 1e-9, "{filter}");
        }
    }
}

#[test]
fn redis_is_sized_for_half_the_rate() {
    let (_, filters) = foreign("redis", &["-n", "1M", "-p", "1%"]);
    let [scaling, fixed, grown] = &filters[..] else { panic!("{filters:?}") };
    assert!(
        (number(scaling, "bits_per_key") - 11.03).abs() < 0.01
            && number(scaling, "rate_at_planned_keys") < 0.0051
    );
    assert_eq!(scaling["hashes"], 8);
    assert!((number(fixed, "bits_per_key") - 9.59).abs() < 0.01);
    assert_eq!(fixed["calls"][0], "BF.RESERVE key 0.01 1000000 NONSCALING");
    // Fourteen doublings of a hundred.
    assert_eq!(grown["name"], "BF.ADD alone, 14 links");
    assert!(number(grown, "bits_per_key") > 2.0 * number(scaling, "bits_per_key"));
    // Above what it takes at once.
    let (report, filters) = foreign("redis", &["-n", "2B", "-p", "1%"]);
    assert_eq!(filters[0]["calls"][0], "BF.RESERVE key 0.01 1073741824");
    assert!(report["remarks"][0].as_str().unwrap().contains("2 links"), "{report}");
    let (report, filters) = foreign("redis", &["-n", "1k", "-p", "50%"]);
    assert!(report["remarks"].to_string().contains("lowered"), "{report}");
    // An eighth, with a fourth hash that rounding up adds.
    assert!((number(&filters[0], "rate_at_planned_keys") - 0.125).abs() < 0.01);
}

#[test]
fn guavas_differ_by_their_age() {
    let hashes = |arguments: &[&str]| -> Vec<u64> {
        foreign("guava", arguments).1.iter().map(|filter| filter["hashes"].as_u64().unwrap()).collect()
    };
    assert_eq!(hashes(&["-n", "1M", "-p", "1%"]), [7, 7, 6, 6]);
    assert_eq!(hashes(&["-n", "1M", "-p", "3%"]), [5, 5, 5, 5]);
    // The first stop at 2^31 - 1 bits.
    let (_, filters) = foreign("guava", &["-n", "1B", "-p", "1%"]);
    assert_eq!(filters[3]["memory_bytes"], 1 << 28);
    assert!(
        number(&filters[3], "rate_at_planned_keys") > 0.3
            && number(&filters[0], "rate_at_planned_keys") < 0.0102
    );
    let (report, filters) = foreign("guava", &["-n", "3B", "-p", "1%"]);
    assert_eq!(filters.len(), 3);
    assert!(filters[2]["calls"][0].as_str().unwrap().contains("3000000000L"));
    assert!(report["remarks"][0].as_str().unwrap().contains("2147483647 keys"), "{report}");
}

#[test]
fn leveldb_takes_whole_bits_and_parquet_powers_of_two() {
    let (_, filters) = foreign("leveldb", &["-n", "1k", "-p", "1%"]);
    assert_eq!((&filters[0]["hashes"], &filters[0]["memory_bytes"]), (&Value::from(6), &Value::from(1_251)));
    assert!(
        number(&filters[0], "rate_at_planned_keys") < 0.01
            && number(&filters[1], "rate_at_planned_keys") > 0.01
    );
    // badger takes the number of hashes for the bits per key.
    assert_eq!(filters[2]["name"], "badger, 7 bits per key");
    assert!((number(&filters[2], "rate_at_planned_keys") - 0.036).abs() < 0.002);
    let (report, filters) = foreign("leveldb", &["-n", "1k", "-p", "1e-15"]);
    assert_eq!(filters.len(), 1);
    assert!(report["remarks"][0].as_str().unwrap().contains("k is at most 30"), "{report}");

    let (report, filters) = foreign("parquet", &["-n", "1M", "-p", "1%"]);
    assert_eq!(
        (&filters[0]["memory_bytes"], &filters[3]["memory_bytes"]),
        (&Value::from(2 << 20), &Value::from(1 << 20))
    );
    assert!(
        number(&filters[0], "rate_at_planned_keys") < 0.01
            && number(&filters[3], "rate_at_planned_keys") > 0.01
    );
    assert!(report["remarks"][0].as_str().unwrap().contains("max.bytes"), "{report}");
    let (report, _) = foreign("parquet", &["-n", "1B", "-p", "1%"]);
    assert!(report["remarks"].to_string().contains("99.5%"), "{report}");
}

#[test]
fn sparks_first_version_fails_where_its_bits_end() {
    let (_, filters) = foreign("spark", &["-n", "1M", "-p", "3%"]);
    assert_eq!(
        (&filters[0]["memory_bytes"], &filters[0]["hashes"]),
        (&Value::from(912_312), &Value::from(5))
    );
    let (report, filters) = foreign("spark", &["-n", "1B", "-p", "3%"]);
    assert!(
        number(&filters[0], "rate_at_planned_keys") > 0.5
            && number(&filters[1], "rate_at_planned_keys") < 0.031
    );
    assert!(report["remarks"].to_string().contains("SPARK-47547"), "{report}");
    let (report, filters) = foreign("spark", &["-n", "1T", "-p", "3%"]);
    assert!(
        filters.is_empty() && report["remarks"][0].as_str().unwrap().starts_with("No filter"),
        "{report}"
    );
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
        (&["-n", "10", "-p", "1"], "did you mean 1%?"),
        (&["-n", "10", "-p", "100%"], "1 or more"),
        (&["1M", "1%"], "'1M' for '[NUMBER]...': say what each number is: -n for the keys, -p for the rate"),
        (&["-n", "1M", "1%"], "'1%' for '[NUMBER]...': say what each number is"),
        (&["-k", "7"], "give two of -n, -p, --memory and -k"),
        (&["-n", "0", "-k", "7"], "plan for at least 1 key"),
        (&["-n", "0", "-m", "1K"], "plan for at least 1 key"),
        (&["-m", "0", "-k", "7"], "too few"),
        (&["-n", "1k", "--for", "redis"], "--for needs the number of keys and the rate"),
        (&["--for", "redis"], "--for needs the number of keys and the rate"),
        (&["-n", "0", "-p", "1%", "--for", "guava"], "plan for at least 1 key"),
        (&["-n", "1k", "-p", "0", "--for", "spark"], "a rate of `0` is zero"),
        (&["-n", "1k", "-p", "1%", "--for", "oracle"], "invalid value 'oracle'"),
        (&["-n", "1k", "-m", "1M", "--for", "redis"], "cannot be used with"),
    ] {
        fails(&[&["plan"], arguments].concat(), b"", expected);
    }
}
