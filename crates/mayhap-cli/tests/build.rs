//! `mayhap build`, as a user runs it.

mod run;

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use mayhap::hash::SecretKey;
use mayhap::{AnyFilter, Bitmap, ReadOptions};
use run::{Directory, build, command, fails, gzip, holds_all, mayhap, numbered_lines};
use serde_json::Value;

const KINDS: [&str; 9] =
    ["bloom", "classic", "scalable", "counting", "dual", "d-left", "cuckoo", "scalable-cuckoo", "window"];

#[test]
fn there_are_never_more_different_keys_than_lines() {
    let directory = Directory::new("never-more-keys-than-lines");
    let path = format!("{}/f.mayhap", directory.path());
    let lines = numbered_lines(100_000);
    for seed in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        let summary = build(&["--force", "--seed", seed, "-o", &path], &lines);
        assert_eq!(summary["keys_now_exact"], false);
        let keys = summary["keys_now"].as_u64().expect("a number");
        assert!((99_000..=100_000).contains(&keys), "seed {seed}: {keys}");
    }
}

/// Layers must be filled as by keys in any order: a sorted one that the filter's own arithmetic shares would put all bits
/// of a layer into one corner, and what the bits say of the keys would be wrong.
#[test]
fn layers_are_filled_evenly() {
    let directory = Directory::new("even-layers");
    let keys: String = (0..300_000).map(|number| format!("{number}\n")).collect();
    for kind in ["scalable", "scalable-cuckoo"] {
        let path = format!("{}/{kind}.mayhap", directory.path());
        let output = mayhap(&["build", "-q", "--kind", kind, "-n", "1000", "-o", &path], keys.as_bytes());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let info = mayhap(&["info", "--json", &path], b"");
        let info: Value = serde_json::from_slice(&info.stdout).expect("JSON");
        let keys = info["keys_now"].as_u64().expect("a number");
        // About a hundredth of the keys were taken for repeats when they were added.
        assert!((294_000..=306_000).contains(&keys), "{kind}: {keys}");
    }
}

#[test]
fn every_kind_holds_every_key_and_keeps_its_rate() {
    let directory = Directory::new("build-kinds");
    let input = numbered_lines(20_000);
    let twice = [&input[..], &input[..]].concat();
    let keys = directory.file("keys", &twice);
    for kind in KINDS {
        let output = format!("{}/{kind}", directory.path());
        let mut arguments = vec!["--kind", kind, "-o", &output, &keys];
        if kind == "window" {
            arguments.extend(["-n", "40000"]);
        }
        let summary = build(&arguments, b"");
        assert_eq!(summary["kind"], kind);
        assert_eq!((&summary["lines"], &summary["keys_now"]), (&40_000.into(), &20_000.into()), "{kind}");
        assert_eq!(
            (&summary["keys_now_exact"], &summary["over_plan"]),
            (&true.into(), &false.into()),
            "{kind}"
        );
        assert_eq!(summary["planned_rate"], 0.01, "{kind}");
        assert_eq!(summary["input_bytes"], twice.len(), "{kind}");
        holds_all(&output, (0..20_000).map(|i| format!("https://example.org/{i}")));
        let filter = AnyFilter::open(&output).unwrap();
        assert_eq!(summary["memory_bytes"], filter.len_bytes());
        let wrong = (0..20_000).filter(|i| filter.contains(&format!("https://example.net/{i}"))).count();
        // 1 % of 20 000 is 200; six standard deviations above that.
        assert!(wrong < 290, "{kind}: {wrong}");
    }
    assert_eq!(directory.names().len(), KINDS.len() + 1, "nothing else is left");
}

#[test]
fn one_key_once_in_kinds_that_hold_copies() {
    let directory = Directory::new("build-copies");
    let output = format!("{}/filter", directory.path());
    for kind in ["counting", "d-left", "cuckoo", "scalable-cuckoo"] {
        let count = |arguments: &[&str]| {
            build(&[&["--kind", kind, "--force", "-o", &output], arguments].concat(), b"a\nb\na\na\n");
            let filter = AnyFilter::open(&output).unwrap();
            filter.count_hash(filter.hash("a")).unwrap()
        };
        assert_eq!(count(&[]), 1, "{kind}");
        assert_eq!(count(&["--copies"]), 3, "{kind}");
        assert_eq!(count(&["--copies", "-n", "10"]), 3, "{kind}");
    }
    // A key far more often than a cuckoo filter has room for copies of it.
    let many = b"a\n".repeat(1000);
    assert_eq!(build(&["--kind", "cuckoo", "--force", "-o", &output], &many)["keys_now"], 1);
    let text = mayhap(&["build", "--force", "-o", &output], &many).stderr;
    assert!(String::from_utf8_lossy(&text).contains("bloom with 1 different key of 1 000\n"));
    let text = mayhap(&["build", "--kind", "bitmap", "--force", "-o", &output], b"7\n").stderr;
    assert!(String::from_utf8_lossy(&text).contains("bitmap with 1 different number\n"));
    fails(&["build", "--kind", "cuckoo", "--copies", "--force", "-o", &output], &many, "copies of this key");
    fails(
        &["build", "--kind", "bloom", "--copies", "--force", "-o", &output],
        &many,
        "--copies is for counting",
    );
}

/// Where a copy takes as much room as a key, room is what is planned; different keys are counted as everywhere.
#[test]
fn copies_are_told_from_keys() {
    let directory = Directory::new("build-copies-counted");
    let path = format!("{}/filter", directory.path());
    let doubled = b"1\n2\n3\n4\n5\n6\n".repeat(2);
    for kind in ["counting", "d-left", "cuckoo", "scalable-cuckoo"] {
        let arguments = ["--kind", kind, "--copies", "--force", "-o", &path];
        let summary = build(&arguments, &doubled);
        assert_eq!((&summary["keys_now"], &summary["lines"]), (&6.into(), &12.into()), "{kind}");
        let text = mayhap(&[&["build"], &arguments[..]].concat(), &doubled).stderr;
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains(&format!("{kind} with 6 different keys of 12")), "{text}");
    }
    let planned = |kind, keys| ["build", "--kind", kind, "--copies", "-n", keys, "--force", "-o", &path];
    fails(
        &planned("cuckoo", "6"),
        &doubled,
        "12 keys, copies included, 100% more than the 6 planned; nothing was written: give -n 12, or --grow",
    );
    build(&planned("cuckoo", "12")[1..], &doubled);
    // More room wouldn't help, and isn't advised.
    let one_key = b"a\n".repeat(20);
    let output = mayhap(&planned("cuckoo", "10"), &one_key);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(
        text.contains("copies of this key, or of some that look like it, the most it can")
            && !text.contains("-n 20"),
        "{text}"
    );
    // Each key once is enough for a d-left filter of one, and twenty copies are its counters' business.
    fails(&planned("d-left", "6"), &numbered_lines(12), "12 different keys, 100% more");
}

/// Copies of a key have only its two buckets. A filter to measure has room for them, and where that is impossible, what is
/// advised works.
#[test]
fn copies_get_the_room_they_need() {
    let directory = Directory::new("build-room-for-copies");
    let path = format!("{}/filter", directory.path());
    for (keys, copies) in
        [(1_000, 2), (1_000, 3), (1_000, 4), (1_000, 8), (20_000, 2), (20_000, 4), (20_000, 6)]
    {
        let input = numbered_lines(keys).repeat(copies);
        let arguments = |more: &[&str]| {
            let arguments = ["--kind", "cuckoo", "--copies", "--force", "-o", &path];
            [&arguments[..], more].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let made = |more: &[&str]| {
            let arguments = arguments(more);
            build(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), &input);
            let filter = AnyFilter::open(&path).unwrap();
            assert_eq!(filter.planned_rate(), 0.01);
            let counted = (0..keys).all(|i| {
                filter.count_hash(filter.hash(&format!("https://example.org/{i}"))).unwrap() >= copies as u64
            });
            assert!(counted, "{copies} copies of {keys} keys");
        };
        made(&[]);
        let few = keys.to_string();
        made(&["-n", &few, "--grow"]);
        // Too few are planned for the lines, and then as many as there are lines.
        for planned in [keys, keys * copies as u64] {
            let planned = planned.to_string();
            let given = arguments(&["-n", &planned]);
            let given: Vec<&str> = ["build"].into_iter().chain(given.iter().map(String::as_str)).collect();
            let output = mayhap(&given, &input);
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() {
                continue;
            }
            assert!(!text.contains("--over-plan"), "{text}");
            let advice = text.split("give -n ").nth(1).expect("advice").split([',', '\n']).next().unwrap();
            assert_ne!(advice, planned, "{text}");
            made(&["-n", advice]);
        }
    }
    let often = numbered_lines(1_000).repeat(9);
    let arguments = |kind| ["build", "--copies", "--force", "-o", &path, "--kind", kind];
    fails(
        &arguments("cuckoo"),
        &often,
        "the copies of a key have only its two buckets, and even a table planned for",
    );
    fails(&[&arguments("cuckoo")[..], &["-n", "1k"]].concat(), &often, "take --kind counting or d-left");
    fails(&arguments("d-left"), &often, "give more --counter-bits");
    build(&[&arguments("d-left")[1..], &["--counter-bits", "4"]].concat(), &often);
}

/// How low a rate can be depends on the number of keys, so one that is advised before they are counted could fail.
#[test]
fn a_rate_that_is_advised_is_one_that_works() {
    let directory = Directory::new("build-low-rates");
    let path = format!("{}/filter", directory.path());
    let input = numbered_lines(1_000);
    for (kind, rate, instead) in [
        ("cuckoo", "1e-12", "use --kind bloom"),
        ("scalable-cuckoo", "1e-12", "use --kind scalable, or --kind cuckoo, which doesn't grow"),
        ("bloom", "1e-25", ""),
    ] {
        let refused = |more: &[&str]| {
            let arguments = [&["build", "--kind", kind, "-o", &path], more].concat();
            let output = mayhap(&arguments, &input);
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{kind}: {text}");
            assert!(text.contains("too low") && text.contains(instead) && !text.contains("layer"), "{text}");
            text
        };
        let text = refused(&["-p", rate]);
        assert!(text.contains("give -n to be told") && !text.contains("ask for"), "{text}");
        // A rate that one key could have, and these can't: told when they were counted, and before if it is known.
        let advised = |text: String| {
            let after = text.split("ask for ").nth(1).unwrap_or_else(|| panic!("no advice in {text}"));
            after.split([' ', ',', ';', '\n']).next().expect("a rate").to_owned()
        };
        let advice = advised(refused(&["-p", rate, "-n", "1000"]));
        build(&["--kind", kind, "-p", &advice, "--force", "-o", &path], &input);
        fs::remove_file(&path).unwrap();
    }
    let advised_later = mayhap(&["build", "--kind", "cuckoo", "-p", "2e-11", "-o", &path], &input);
    let text = String::from_utf8_lossy(&advised_later.stderr);
    assert!(text.contains("too low for 1000 keys") && text.contains("ask for"), "{text}");
}

#[test]
fn the_bits_depend_on_the_keys_alone() {
    let directory = Directory::new("build-same");
    // Several reads' worth, so that two threads really share.
    let input = numbered_lines(150_000);
    let keys = directory.file("keys", &input);
    let packed = directory.file("keys.gz", &gzip(&input));
    let half = input.len() / 2 + input[input.len() / 2..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let (one, two) = (directory.file("one", &input[..half]), directory.file("two", &input[half..]));
    for kind in KINDS {
        for planned in [&["-n", "150k"][..], &[]] {
            if kind == "window" && planned.is_empty() {
                continue;
            }
            let path = |name: &str| format!("{}/{kind}-{}-{name}", directory.path(), planned.len());
            let make = |name: &str, arguments: &[&str], input: &[u8]| {
                let path = path(name);
                build(&[&["--kind", kind, "-o", &path], planned, arguments].concat(), input);
                let bytes = fs::read(&path).unwrap();
                fs::remove_file(&path).unwrap();
                bytes
            };
            let alone = make("one-thread", &["--threads", "1", &keys], b"");
            assert!(alone == make("two-threads", &["--threads", "2", &keys], b""), "{kind}: threads");
            assert!(alone == make("pipe", &[], &input), "{kind}: a pipe");
            assert!(alone == make("files", &[&one, "-", &two], b""), "{kind}: two files and nothing");
            assert!(alone == make("packed", &[&packed], b""), "{kind}: packed");
        }
    }
}

#[test]
fn without_a_number_the_filter_is_made_to_measure() {
    let directory = Directory::new("build-measure");
    let path = format!("{}/filter", directory.path());
    // Repeats don't inflate it.
    let input = numbered_lines(1_000).repeat(100);
    let summary = build(&["-p", "0.1%", "-o", &path], &input);
    assert_eq!((&summary["keys_now"], &summary["planned_keys"]), (&1_000.into(), &1_000.into()));
    assert_eq!(summary["lines"], 100_000);
    assert!(summary["rate_now"].as_f64().unwrap() < 0.0015, "{summary}");

    let summary = build(&["--force", "-o", &path], &numbered_lines(300_000));
    assert_eq!(summary["keys_now_exact"], false);
    let (keys, planned) = (summary["keys_now"].as_f64().unwrap(), summary["planned_keys"].as_f64().unwrap());
    assert!((keys / 300_000.0 - 1.0).abs() < 0.01, "{summary}");
    // Three standard errors of the count above it, and at most as much again.
    assert!((300_000.0 * 0.997..300_000.0 * 1.03).contains(&planned), "{summary}");
    assert!(summary["rate_now"].as_f64().unwrap() < 0.0103, "{summary}");
}

#[test]
fn more_keys_than_planned_are_refused_accepted_or_planned_for() {
    let directory = Directory::new("build-margin");
    let input = numbered_lines(1_200);
    let path = format!("{}/filter", directory.path());
    for kind in ["bloom", "classic", "counting", "dual", "d-left", "cuckoo"] {
        let arguments = ["build", "--kind", kind, "-n", "1000", "-o", &path];
        let refused = |more: &[&str], expected: &str| {
            fails(&[&arguments[..], more].concat(), &input, expected);
            assert_eq!(directory.names().len(), 0, "{kind}: nothing is written");
        };
        refused(
            &[],
            "1 200 different keys, 20% more than the 1 000 planned; nothing was written: give -n 1200, or --grow",
        );
        refused(&["--margin", "19%"], "20% more");

        let grown = build(&["--kind", kind, "-n", "1000", "--grow", "-o", &path], &input);
        assert_eq!((&grown["planned_keys"], &grown["keys_now"]), (&1_200.into(), &1_200.into()), "{kind}");
        holds_all(&path, (0..1_200).map(|i| format!("https://example.org/{i}")));
        fs::remove_file(&path).unwrap();
    }
    let accepted = mayhap(&["build", "-n", "1000", "--over-plan", "-o", &path], &input);
    assert_eq!(accepted.status.code(), Some(0));
    let text = String::from_utf8_lossy(&accepted.stderr);
    assert!(text.contains("warning: 1 200 different keys, and 1 000 planned"), "{text}");
    holds_all(&path, (0..1_200).map(|i| format!("https://example.org/{i}")));

    // Within the margin: a word, and a filter.
    let within = mayhap(&["build", "-n", "1150", "--force", "-o", &path], &input);
    assert_eq!(within.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&within.stderr).contains("warning"), "{within:?}");
    // Repeats don't count.
    let repeats = mayhap(&["build", "-n", "1200", "--margin", "0", "--force", "-o", &path], &input.repeat(3));
    assert_eq!(repeats.status.code(), Some(0));
    assert!(!String::from_utf8_lossy(&repeats.stderr).contains("warning"), "{repeats:?}");
    // These grow by themselves.
    for kind in ["scalable", "scalable-cuckoo"] {
        let summary = build(&["--kind", kind, "-n", "100", "--force", "-o", &path], &input);
        assert_eq!((&summary["planned_keys"], &summary["over_plan"]), (&100.into(), &false.into()));
        holds_all(&path, (0..1_200).map(|i| format!("https://example.org/{i}")));
    }
}

#[test]
fn one_key_is_one_key() {
    let directory = Directory::new("build-one");
    let path = format!("{}/filter", directory.path());
    let output = mayhap(&["build", "-o", &path], b"a\n");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("bloom with 1 different key\n"), "{text}");
    let output = mayhap(&["dedup", "-c"], b"a\na\n");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("2 lines read, 1 repeat, 1 new"), "{text}");
}

#[test]
fn numbers_go_into_a_bitmap() {
    let directory = Directory::new("build-bitmap");
    let path = format!("{}/numbers", directory.path());
    let arguments = ["build", "--kind", "bitmap", "-o", &path];
    let summary = build(&[&arguments[1..]].concat(), b"5\n7\n 12 \n5\n18446744073709551615\n");
    assert_eq!((&summary["keys_now"], &summary["rate_now"]), (&4.into(), &0.0.into()));
    let bitmap = Bitmap::open(&path).unwrap();
    assert_eq!(bitmap.iter().collect::<Vec<_>>(), [5, 7, 12, u64::MAX]);

    build(&["--kind", "bitmap", "--force", "-o", &path, "--range", "0..1000"], b"5\n999\n");
    let bitmap = Bitmap::open(&path).unwrap();
    assert_eq!((bitmap.universe(), bitmap.len()), (Some(1000), 2));

    let forced = ["build", "--kind", "bitmap", "--force", "-o", &path];
    fails(
        &[&forced[..], &["--range", "0..1000"]].concat(),
        b"5\n1000\n",
        "the number 1000 is outside of --range",
    );
    fails(&[&forced[..], &["--range", "10..1000"]].concat(), b"5\n", "from 10 to 999");
    fails(&forced, b"5\nfive\n", "\"five\" is no whole number");
    fails(&forced, b"-1\n", "is no whole number");
    fails(&[&forced[..], &["-p", "1%"]].concat(), b"5\n", "never wrong");
    fails(&[&forced[..], &["--range", "0..1e18"]].concat(), b"5\n", "bytes");
    fails(&["build", "--range", "0..10", "--force", "-o", &path], b"5\n", "--range is for --kind bitmap");
    assert_eq!(Bitmap::open(&path).unwrap().len(), 2, "the old file is still there");
}

#[test]
fn hash_functions_seeds_and_secret_keys() {
    let directory = Directory::new("build-hash");
    let path = format!("{}/filter", directory.path());
    let hasher = |arguments: &[&str]| {
        build(&[&["--force", "-o", &path], arguments].concat(), b"a\nb\n");
        holds_all(&path, ["a", "b"]);
        format!("{:?}", AnyFilter::open(&path).unwrap().hasher())
    };
    assert_eq!(hasher(&[]), "xxh3(seed 0x0)");
    assert_eq!(hasher(&["--seed", "42"]), "xxh3(seed 0x2a)");
    assert_eq!(hasher(&["--hash", "murmur3-128", "--seed", "0x10"]), "murmur3-128(seed 0x10)");
    let key_file = directory.file("key", b"000102030405060708090a0b0c0d0e0f\n");
    for (hash, name) in [(&[][..], "sip13"), (&["--hash", "sip24"], "sip24")] {
        build(&[&["--force", "-o", &path, "--key-file", &key_file], hash].concat(), b"a\nb\n");
        let key = SecretKey::new(std::array::from_fn(|i| u8::try_from(i).unwrap()));
        let filter = AnyFilter::open_with(&path, &ReadOptions::new().secret_key(key)).unwrap();
        assert!(filter.contains("a") && format!("{:?}", filter.hasher()).starts_with(name));
    }
    let short = directory.file("short", b"0001");
    let arguments = ["build", "--force", "-o", &path];
    for (more, expected) in [
        (&["--hash", "sip13"][..], "openssl rand -hex 16"),
        (&["--hash", "rot13"], "there are: xxh3, sip13"),
        (&["--key-file", &key_file, "--seed", "1"], "takes the place of a seed"),
        (&["--key-file", &key_file, "--hash", "xxh64"], "only sip13 and sip24"),
        (&["--key-file", &key_file, "--kind", "bitmap"], "it takes no -p, --hash, --seed and --key-file"),
        (&["--key-file", &short], "holds no secret key"),
        (&["--key-file", "missing"], "cannot read missing"),
    ] {
        fails(&[&arguments[..], more].concat(), b"a\n", expected);
    }
}

#[test]
fn a_window_remembers_the_last_keys() {
    let directory = Directory::new("build-window");
    let path = format!("{}/filter", directory.path());
    let summary = build(&["--kind", "window", "-n", "1000", "-o", &path], &numbered_lines(10_000));
    // What it holds, not what has passed.
    let (keys, lines) = (summary["keys_now"].as_u64().unwrap(), summary["lines"].as_u64().unwrap());
    assert!((1_000..1_500).contains(&keys) && lines == 10_000, "{summary}");
    holds_all(&path, (9_000..10_000).map(|i| format!("https://example.org/{i}")));
    let filter = AnyFilter::open(&path).unwrap();
    let old = (0..8_000).filter(|i| filter.contains(&format!("https://example.org/{i}"))).count();
    assert!(old < 200, "{old}");
    fails(&["build", "--kind", "window", "--force", "-o", &path], b"a\n", "say so with -n");
}

#[test]
fn counters_have_a_width() {
    let directory = Directory::new("build-counters");
    let path = format!("{}/filter", directory.path());
    let bytes = |bits: &str| {
        let arguments = ["--kind", "counting", "--counter-bits", bits, "--force", "-o", &path];
        build(&arguments, &numbered_lines(1_000))["memory_bytes"].as_f64().unwrap()
    };
    let four = bytes("4");
    assert!(bytes("8") > 1.5 * four && bytes("16") > 3.0 * four);
    let refused = |kind: &str, bits: &str, expected: &str| {
        fails(&["build", "--kind", kind, "--counter-bits", bits, "-o", "x"], b"a\n", expected);
    };
    refused("counting", "5", "have 4, 8 or 16 bits, not 5");
    refused("counting", "17", "1 to 16 in a d-left filter");
    refused("d-left", "0", "1 to 16 in a d-left filter");
    refused("bloom", "8", "is for --kind counting and --kind d-left; a bloom filter has no counters");
}

#[test]
fn cells_of_a_d_left_filter_have_counters_too() {
    let directory = Directory::new("build-d-left");
    let path = format!("{}/filter", directory.path());
    let mut last = 0;
    for bits in ["1", "2", "8", "16"] {
        let arguments = ["--kind", "d-left", "--counter-bits", bits, "--force", "-o", &path];
        let bytes = build(&arguments, &numbered_lines(1_000))["memory_bytes"].as_u64().unwrap();
        assert!(bytes > last, "{bits} bits: {bytes}");
        last = bytes;
        let AnyFilter::DLeft(filter) = AnyFilter::open(&path).unwrap() else { panic!("another kind") };
        assert_eq!(filter.cell().counter_bits().to_string(), bits);
    }
}

#[test]
fn a_dual_filter_is_made_for_removals() {
    let directory = Directory::new("build-dual");
    let path = format!("{}/filter", directory.path());
    let plan = |more: &[&str]| {
        let arguments = [&["--kind", "dual", "-p", "1%", "--force", "-o", &path], more].concat();
        build(&arguments, &numbered_lines(1_000));
        let AnyFilter::Dual(filter) = AnyFilter::open(&path).unwrap() else { panic!("another kind") };
        (filter.planned_removals(), filter.planned_hidden_rate())
    };
    assert_eq!(plan(&[]), (100, 0.01));
    assert_eq!(plan(&["--removals", "2k"]), (2_000, 0.01));
    assert_eq!(plan(&["--hidden-rate", "0.1%"]), (100, 0.001));
    assert_eq!(plan(&["--removals", "7", "--hidden-rate", "1/10"]), (7, 0.1));
    let refused = |more: &[&str], expected: &str| {
        fails(&[&["build", "-o", "x"], more].concat(), b"a\n", expected);
    };
    refused(&["--removals", "7"], "--removals is for --kind dual");
    refused(&["--kind", "cuckoo", "--hidden-rate", "1%"], "--hidden-rate is for --kind dual");
    refused(&["--kind", "dual", "--removals", "0"], "take --kind bloom");
    refused(&["--kind", "dual", "--removals", "-7"], "not a count");
    refused(&["--kind", "dual", "--hidden-rate", "0"], "zero");
}

#[test]
fn growth_has_a_factor() {
    let directory = Directory::new("build-expansion");
    for kind in ["scalable", "scalable-cuckoo"] {
        let layers = |factor: &str| {
            let path = format!("{}/{kind}", directory.path());
            let arguments = ["--kind", kind, "-n", "100", "--expansion", factor, "--force", "-o", &path];
            build(&arguments, &numbered_lines(5_000));
            let info = mayhap(&["info", "--json", &path], b"");
            let info: Value = serde_json::from_slice(&info.stdout).expect("JSON");
            assert_eq!(info["expansion"].to_string(), factor, "{kind}");
            info["layers"].as_array().unwrap().len()
        };
        assert!(layers("8") < layers("2"), "{kind}");
    }
    let refused = |more: &[&str], expected: &str| {
        fails(&[&["build", "-o", "x"], more].concat(), b"a\n", expected);
    };
    refused(&["--expansion", "4"], "a bloom filter doesn't grow");
    refused(&["--kind", "scalable", "--expansion", "0"], "from 1 to 32768");
    refused(&["--kind", "scalable-cuckoo", "--expansion", "6"], "--expansion 4 or 8, not 6");
    let arguments = ["--kind", "scalable", "--when-full", "refuse", "--expansion", "4"];
    refused(&arguments, "this one has one layer");
}

#[test]
fn a_scalable_filter_may_refuse_or_saturate_when_full() {
    let directory = Directory::new("build-when-full");
    let path = format!("{}/filter", directory.path());
    let arguments =
        |choice| ["--kind", "scalable", "-n", "1000", "--when-full", choice, "--force", "-o", &path];
    let add = || mayhap(&["add", &path], &numbered_lines(3_000));
    for (choice, code, expected) in [
        ("grow", 0, "each layer 2 times as large as the last"),
        ("refuse", 2, "none: it refuses keys when it is full"),
        ("saturate", 0, "none: when it is full, its rate rises"),
    ] {
        build(&arguments(choice), &numbered_lines(900));
        let info = String::from_utf8(mayhap(&["info", &path], b"").stdout).unwrap();
        assert!(info.contains(expected), "{choice}: {info}");
        assert_eq!(info.contains("before it grows"), choice == "grow", "{info}");
        let info: Value = serde_json::from_slice(&mayhap(&["info", "--json", &path], b"").stdout).unwrap();
        assert_eq!(info["when_full"], choice);
        assert_eq!(add().status.code(), Some(code), "{choice}");
    }
    // Built with more keys than planned, it does what it is to do when full; what is advised is no way into that again.
    let build_from = |choice| mayhap(&[&["build"], &arguments(choice)[..]].concat(), &numbered_lines(3_000));
    let refused = build_from("refuse");
    let text = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(
        text.contains("more than the 1 000 planned") && text.contains("--when-full saturate"),
        "no advice in {text}"
    );
    assert!(!text.contains("--over-plan"), "{text}");
    let saturated = build_from("saturate");
    let text = String::from_utf8_lossy(&saturated.stderr);
    assert_eq!(saturated.status.code(), Some(0), "{text}");
    assert!(text.contains("warning: 3 000 different keys, and 1 000 planned"), "{text}");
    holds_all(&path, (0..3_000).map(|i| format!("https://example.org/{i}")));
    build(&arguments("grow"), &numbered_lines(3_000));
    fails(&["build", "--kind", "cuckoo", "--when-full", "grow", "-o", "x"], b"a\n", "is for --kind scalable");
}

#[test]
fn the_summary_is_for_people_unless_asked_otherwise() {
    let directory = Directory::new("build-summary");
    let path = format!("{}/filter", directory.path());
    let output = mayhap(&["build", "-o", &path], b"a\nb\na\n");
    assert!(output.stdout.is_empty());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("bloom with 2 different keys of 3"), "{text}");
    assert!(text.contains("(planned 1%, the default, for 2 keys)"), "{text}");
    let quiet = mayhap(&["build", "-q", "--force", "-o", &path, "-n", "1", "--over-plan"], b"a\nb\n");
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty() && quiet.status.success(), "{quiet:?}");
    fails(&["build", "-q", "--json", "-o", &path], b"a\n", "cannot be used with");
}

#[test]
fn empty_input_makes_no_filter() {
    let directory = Directory::new("build-empty");
    let path = format!("{}/filter", directory.path());
    let empty = directory.file("empty", b"");
    for kind in [&KINDS[..], &["bitmap"]].concat() {
        let arguments = ["build", "--kind", kind, "-n", "10", "-o", &path];
        fails(&arguments, b"", "no keys in standard input; nothing was written");
        fails(&[&arguments[..], &[&empty]].concat(), b"", "empty; nothing was written");
    }
    fails(&["build", "-o", &path], b"", "no keys in standard input");
    fails(&["build", "-o", &path, &empty, &empty, &empty], b"", "and 2 other files");
    fails(&["build", "-o", &path, "-f", "1", "--header", "--csv"], b"id\n", "no keys in standard input");
    assert_eq!(directory.names(), ["empty"]);
}

#[test]
fn wrong_files_are_said_before_anything_is_read() {
    let directory = Directory::new("build-files");
    let keys = directory.file("keys", b"a\n");
    let path = format!("{}/filter", directory.path());
    let missing = format!("{}/missing", directory.path());
    fails(&["build", "-o", &path, &keys, &missing], b"", "no such file");
    fails(&["build", "-o", &path, directory.path()], b"", "is a directory");
    fails(&["build", "-o", directory.path(), &keys], b"", "is a directory");
    fails(&["build", "-o", &format!("{missing}/filter"), &keys], b"", "there is no directory");
    fails(&["build", &keys], b"", "--output");
    fails(&["build", "-o", &keys, &keys], b"", "is there already");
    fails(&["build", "-o", &keys, "--force", &keys], b"", "is to be read, and would be replaced");
    assert_eq!(fs::read(&keys).unwrap(), b"a\n");
    fails(&["build", "-o", "/dev/full", "--force", &keys], b"", "not a regular file");
    fails(&["build", "-o", "-", &keys], b"", "isn't written to standard output");
    assert_eq!(directory.names(), ["keys"]);
}

#[test]
fn an_existing_filter_is_replaced_only_by_force() {
    let directory = Directory::new("build-existing");
    let path = format!("{}/filter", directory.path());
    build(&["-o", &path], b"a\n");
    let before = fs::read(&path).unwrap();
    fails(&["build", "-o", &path], b"b\n", "is there already; --force replaces it");
    assert_eq!(fs::read(&path).unwrap(), before);
    build(&["--force", "-o", &path], b"b\n");
    holds_all(&path, ["b"]);
    assert_eq!(directory.names(), ["filter"]);
}

#[test]
fn impossible_plans_are_refused() {
    for kind in KINDS {
        let arguments = ["build", "--kind", kind, "-o", "never-written"];
        let refused =
            |more: &[&str], expected: &str| fails(&[&arguments[..], more].concat(), b"a\n", expected);
        refused(&["-n", "10", "-p", "0"], "a rate of `0` is zero");
        refused(&["-n", "10", "-p", "2"], "did you mean 2%?");
        refused(&["-n", "10", "-p", "-1"], "is not a rate");
        refused(&["-n", "0"], "at least 1 key");
        refused(&["-n", "1e30"], "too large");
        refused(&["-n", "-5"], "is not a count");
        refused(&["-n", "1e18"], "plan f");
    }
    fails(&["build", "-o", "x", "-n", "10", "-p", "1e-30"], b"a\n", "too low for 10 keys");
    fails(&["build", "-o", "x", "--threads", "0"], b"a\n", "from 1 to 1024");
    fails(&["build", "-o", "x", "--margin", "2"], b"a\n", "such as 10%");
    fails(&["build", "-o", "x", "--grow", "--over-plan"], b"a\n", "cannot be used with");
    fails(&["build", "-o", "x", "--kind", "blum"], b"a\n", "bloom");
    assert!(!fs::exists("never-written").unwrap() && !fs::exists("x").unwrap());
}

/// No file may grow above some kilobytes: writing fails as on a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing_behind() {
    let directory = Directory::new("build-full");
    let keys = directory.file("keys", &numbered_lines(100_000));
    let path = format!("{}/filter", directory.path());
    let program = env!("CARGO_BIN_EXE_mayhap");
    for kind in ["bloom", "cuckoo"] {
        // Without the signal that would end the program.
        let script =
            format!("trap '' XFSZ; ulimit -f 16; exec '{program}' build --kind {kind} -o '{path}' '{keys}'");
        let output = Command::new("sh").args(["-c", &script]).stdin(Stdio::null()).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("writing failed: File too large"), "{message}");
        assert_eq!(directory.names(), ["keys"]);
    }
}

/// More digests than are held in memory go through a file, which leaves nothing behind. Slow without optimisation, so
/// few kinds: one that reads again, one that sorts.
#[test]
fn more_keys_than_are_held_in_memory() {
    let directory = Directory::new("build-spool");
    let path = |name: &str| format!("{}/{name}", directory.path());
    // Nine million short keys, a third of them repeats.
    let mut input = Vec::with_capacity(80 << 20);
    for i in 0..9_000_000u32 {
        writeln!(input, "{}", i % 6_000_000).unwrap();
    }
    let keys = directory.file("keys", &input);
    for kind in ["bloom", "cuckoo"] {
        let from_file = build(&["--kind", kind, "-o", &path("file"), &keys], b"");
        let from_pipe = build(&["--kind", kind, "-o", &path("pipe")], &input);
        assert!((from_file["keys_now"].as_f64().unwrap() / 6e6 - 1.0).abs() < 0.005, "{from_file}");
        assert_eq!(from_file["planned_keys"], from_pipe["planned_keys"]);
        assert!(fs::read(path("file")).unwrap() == fs::read(path("pipe")).unwrap(), "{kind}");
        holds_all(&path("file"), (0..6_000_000).step_by(997).map(|i| i.to_string()));
        if kind == "cuckoo" {
            assert_eq!(
                (&from_file["keys_now"], &from_file["keys_now_exact"]),
                (&6_000_000.into(), &true.into())
            );
        }
        assert_eq!(directory.names(), ["file", "keys", "pipe"]);
        fs::remove_file(path("file")).unwrap();
        fs::remove_file(path("pipe")).unwrap();
    }
}

/// Hours of reading are not for nothing: what can't be written is said before the first key is read.
#[test]
#[cfg(target_os = "linux")]
fn a_directory_that_takes_no_file_is_found_out_at_once() {
    let directory = Directory::new("build-nowhere");
    let filter = format!("{}/filter", directory.path());
    assert!(mayhap(&["build", "-q", "-o", &filter], b"a\n").status.success());
    for arguments in [
        &["build", "-o", "/proc/filter"][..],
        &["merge", "-o", "/proc/filter", &filter, &filter],
        &["fold", "--by", "1", "-o", "/proc/filter", &filter],
    ] {
        let mut child = command(arguments).spawn().unwrap();
        // Open until the end, so that whoever reads it waits.
        let input = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(input);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains("no file can be made in its directory"), "{arguments:?}: {message}");
    }
    assert_eq!(directory.names(), ["filter"], "nothing of the attempt stays");
}
