//! `mayhap add` and `mayhap remove`, as a user runs them.

#![allow(clippy::unwrap_used)] // What a test stands on either is there, or the test fails.

mod run;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::thread;
use std::time::Duration;

use mayhap::formats::guava::{GuavaBloom, Sizing};
use mayhap::formats::{ForeignFile, ForeignFilter};
use mayhap::{AnyFilter, Bitmap, codec};
use run::{Directory, command, fails, mayhap};
use serde_json::Value;

const ALL_KINDS: [&str; 9] =
    ["bloom", "classic", "scalable", "counting", "dual", "d-left", "cuckoo", "scalable-cuckoo", "window"];
const REMOVING: [&str; 5] = ["counting", "dual", "d-left", "cuckoo", "scalable-cuckoo"];

/// A filter file of the keys.
fn filter(directory: &Directory, kind: &str, keys: &[u8], planned: &str) -> String {
    let path = format!("{}/{kind}", directory.path());
    let output = mayhap(&["build", "-q", "--force", "--kind", kind, "-n", planned, "-o", &path], keys);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    path
}

/// Runs a command with JSON, expects this exit code, and gives the summary.
fn run_json(arguments: &[&str], input: &[u8], code: i32) -> Value {
    let output = mayhap(&[arguments, &["--json"]].concat(), input);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

fn lines(numbers: impl IntoIterator<Item = u32>) -> Vec<u8> {
    numbers.into_iter().flat_map(|number| format!("key {number}\n").into_bytes()).collect()
}

fn contains_all(filter: &AnyFilter, numbers: impl IntoIterator<Item = u32>) -> bool {
    numbers.into_iter().all(|number| filter.contains(&format!("key {number}")))
}

#[test]
fn keys_are_added_to_every_kind() {
    let directory = Directory::new("add-kinds");
    for kind in ALL_KINDS {
        let path = filter(&directory, kind, &lines(0..1_000), "5000");
        let file = directory.file("more", &lines(500..2_000));
        let summary = run_json(&["add", &path, &file], b"", 0);
        assert_eq!((&summary["lines"], &summary["keys"]), (&1_500.into(), &1_500.into()), "{kind}");
        // Of a thousand new keys, some may look like old ones.
        let new = summary["new"].as_u64().unwrap();
        assert!((980..=1_000).contains(&new), "{kind}: {new}");
        assert_eq!(
            (&summary["output"], &summary["over_plan"]),
            (&path.as_str().into(), &false.into()),
            "{kind}"
        );
        assert!(contains_all(&AnyFilter::open(&path).unwrap(), 0..2_000), "{kind}");
        // From standard input, with and without its name.
        run_json(&["add", &path, "-"], b"key 3000\n", 0);
        run_json(&["add", &path], b"key 3001\n", 0);
        assert!(contains_all(&AnyFilter::open(&path).unwrap(), 3_000..3_002), "{kind}");
    }
    assert_eq!(directory.names().len(), ALL_KINDS.len() + 1, "no lock and no temporary file stays");
}

#[test]
fn what_is_there_already_leaves_the_file_alone() {
    let directory = Directory::new("add-nothing");
    for kind in ["bloom", "classic", "dual"] {
        let path = filter(&directory, kind, &lines(0..100), "100");
        let before = fs::read(&path).unwrap();
        let summary = run_json(&["add", &path], &lines(0..100), 0);
        assert_eq!((&summary["new"], &summary["output"]), (&0.into(), &Value::Null), "{kind}");
        assert_eq!(fs::read(&path).unwrap(), before, "{kind}");
    }
}

/// A day on which nothing came is no error.
#[test]
fn no_keys_at_all_leave_the_file_alone() {
    let directory = Directory::new("no-keys");
    let path = filter(&directory, "cuckoo", &lines(0..100), "100");
    let before = fs::read(&path).unwrap();
    for verb in ["add", "remove"] {
        let summary = run_json(&[verb, &path], b"", 0);
        assert_eq!(summary["output"], Value::Null, "{verb}");
        let output = mayhap(&[verb, &path], b"");
        assert_eq!(output.status.code(), Some(0), "{verb}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("0 keys") && !message.contains("NaN"), "{verb}: {message}");
        assert_eq!(fs::read(&path).unwrap(), before, "{verb}");
    }
}

#[test]
fn copies_are_added_or_skipped() {
    let directory = Directory::new("add-copies");
    for kind in ["counting", "d-left", "cuckoo", "scalable-cuckoo"] {
        let path = filter(&directory, kind, b"a\n", "100");
        let count = || {
            let filter = AnyFilter::open(&path).unwrap();
            filter.count_hash(filter.hash("a")).unwrap()
        };
        run_json(&["add", &path], b"a\na\n", 0);
        assert_eq!(count(), 2, "{kind}: twice in the input is once");
        run_json(&["add", "--skip-present", &path], b"a\nb\n", 0);
        assert_eq!(count(), 2, "{kind}");
        assert!(AnyFilter::open(&path).unwrap().contains("b"));
        run_json(&["add", "--copies", &path], b"a\na\n", 0);
        assert_eq!(count(), 4, "{kind}");
    }
}

#[test]
fn a_rehearsal_changes_nothing_and_says_the_same() {
    let directory = Directory::new("dry-run");
    for kind in ["bloom", "cuckoo"] {
        let path = filter(&directory, kind, &lines(0..1_000), "5000");
        let before = fs::read(&path).unwrap();
        let rehearsal = run_json(&["add", "--dry-run", &path], &lines(900..1_500), 0);
        assert_eq!((fs::read(&path).unwrap() == before, &rehearsal["output"]), (true, &Value::Null));
        let real = run_json(&["add", &path], &lines(900..1_500), 0);
        assert_eq!((&real["new"], &real["keys_now"]), (&rehearsal["new"], &rehearsal["keys_now"]));
    }
    let path = filter(&directory, "cuckoo", &lines(0..1_000), "5000");
    let before = fs::read(&path).unwrap();
    let rehearsal = run_json(&["remove", "--dry-run", &path], &lines(900..1_000), 0);
    assert_eq!((&rehearsal["removed"], &rehearsal["keys_now"]), (&100.into(), &900.into()));
    assert_eq!(fs::read(&path).unwrap(), before);
    let text = mayhap(&["remove", "--dry-run", &path], b"key 1\n").stderr;
    assert!(
        String::from_utf8_lossy(&text).contains("1 key would be removed, of 1 read; nothing was changed")
    );
}

#[test]
fn more_keys_than_it_was_made_for_are_warned_of_and_found() {
    let directory = Directory::new("add-over");
    for kind in ["bloom", "classic", "counting", "dual"] {
        let path = filter(&directory, kind, &lines(0..1_000), "1000");
        let output = mayhap(&["add", &path], &lines(1_000..1_400));
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), text.contains("warning: these are more keys")),
            (Some(0), true),
            "{kind}: {text}"
        );
        assert!(contains_all(&AnyFilter::open(&path).unwrap(), 0..1_400), "{kind}");
    }
    for kind in ["scalable", "scalable-cuckoo"] {
        let path = filter(&directory, kind, &lines(0..1_000), "1000");
        let output = mayhap(&["add", &path], &lines(1_000..5_000));
        assert!(!String::from_utf8_lossy(&output.stderr).contains("warning"), "{kind}: {output:?}");
        assert!(contains_all(&AnyFilter::open(&path).unwrap(), 0..5_000), "{kind}");
    }
    // These have room for so many and no more, and stay as they were.
    for kind in ["cuckoo", "d-left"] {
        let path = filter(&directory, kind, &lines(0..1_000), "1000");
        let before = fs::read(&path).unwrap();
        fails(&["add", &path], &lines(1_000..5_000), "the filter is full");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    assert!(!directory.names().iter().any(|name| name.starts_with('.')), "{:?}", directory.names());
}

#[test]
fn the_kind_that_grows_can_do_as_much() {
    let directory = Directory::new("add-advice");
    for (kind, advice) in [("bloom", "--kind scalable,"), ("counting", "--kind scalable-cuckoo,")] {
        let path = filter(&directory, kind, &lines(0..1_000), "1000");
        let text = String::from_utf8(mayhap(&["add", &path], &lines(1_000..1_400)).stderr).unwrap();
        assert!(text.contains(advice), "{kind}: {text}");
    }
    let path = filter(&directory, "cuckoo", &lines(0..1_000), "1000");
    fails(&["add", &path], &lines(1_000..5_000), "(--kind scalable-cuckoo); nothing was written");
}

#[test]
fn a_dual_filter_takes_what_it_can() {
    let directory = Directory::new("add-dual");
    let path = filter(&directory, "dual", &lines(0..2_000), "10000");
    run_json(&["remove", &path], &lines(0..1_000), 0);
    let before = fs::read(&path).unwrap();
    // Keys that were removed, and new ones, of which some look like those.
    let keys = lines((0..20).chain(5_000..7_000));
    let rehearsal = run_json(&["add", "--dry-run", &path], &keys, 1);
    assert_eq!(fs::read(&path).unwrap(), before);
    let summary = run_json(&["add", "--skip-present", &path], &keys, 1);
    let refused = summary["refused"].as_u64().unwrap();
    assert_eq!(rehearsal["refused"], refused);
    assert!((20..100).contains(&refused), "{summary}");
    assert_eq!((&summary["keys"], &summary["output"]), (&2_020.into(), &path.as_str().into()));
    assert_eq!(summary["refused_first"].as_array().unwrap().len(), 10);
    let filter = AnyFilter::open(&path).unwrap();
    let found = (5_000..7_000).filter(|number| filter.contains(&format!("key {number}"))).count() as u64;
    assert_eq!(found, 2_020 - refused, "all that were not refused");

    let output = mayhap(&["add", &path], b"key 3\nkey 4\n");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("mayhap: refused: key 3\nmayhap: refused: key 4\n"), "{text}");
    assert!(
        text.contains("2 keys read, 0 of them new, 2 refused: removed before, or like keys that were"),
        "{text}"
    );
    assert!(text.contains("the file is as it was"), "{text}");
}

#[test]
fn a_dual_filter_says_when_it_hides_too_much() {
    let directory = Directory::new("remove-dual");
    let path = filter(&directory, "dual", &lines(0..10_000), "10000");
    let text = |arguments: &[&str], input: &[u8]| {
        let output = mayhap(arguments, input);
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    // As many removals as it was made for.
    let summary = run_json(&["remove", &path], &lines(0..1_000), 0);
    assert_eq!(
        (&summary["warnings"], &summary["taken"]),
        (&Value::Array(Vec::new()), &0.into()),
        "{summary}"
    );
    assert!(!text(&["add", &path], &lines(0..1)).contains("warning"));
    assert_eq!(run_json(&["info", &path], b"", 0)["over_plan"], false);
    assert!(text(&["verify", "--no-keys", &path], b"").contains("keeps its promise"));

    // Three times as many.
    let warning = "removed from it, and it was made for 1 000: it answers \"no\" to ";
    let said = text(&["remove", "--dry-run", &path], &lines(1_000..3_000));
    assert!(said.contains("mayhap: warning: about ") && said.contains(warning), "{said}");
    let summary = run_json(&["remove", &path], &lines(1_000..3_000), 1);
    assert!(summary["warnings"][0].as_str().unwrap().contains(warning), "{summary}");
    let sum = ["missing", "removed", "taken"].map(|field| summary[field].as_u64().unwrap());
    assert_eq!(sum.iter().sum::<u64>(), 2_000, "{summary}");
    let said = text(&["add", &path], &lines(20_000..20_001));
    assert!(said.contains(warning) && !said.contains("more keys than it was made for"), "{said}");
    let said = text(&["info", &path], b"");
    assert!(said.contains(warning) && !said.contains("it holds more than"), "{said}");
    let said = text(&["verify", "--no-keys", &path], b"");
    assert!(said.contains(warning) && said.contains("does NOT keep its promise"), "{said}");
    assert!(!said.contains("so its rate is above the promise"), "{said}");
}

#[test]
fn a_key_with_too_many_copies_is_named() {
    let directory = Directory::new("add-too-many");
    for kind in ["cuckoo", "scalable-cuckoo", "d-left"] {
        let path = filter(&directory, kind, &lines(0..100), "1000");
        let before = fs::read(&path).unwrap();
        let keys = [&lines(0..90)[..], &b"apple\n".repeat(1_000)].concat();
        let file = directory.file("keys", &keys);
        fails(&["add", "--copies", &path, &file], b"", "\"apple\": the filter holds");
        // A pipe can't be read again.
        fails(&["add", "--copies", &path], &keys, "copies of this key");
        // The way out is one of the command line, not of the library.
        fails(&["add", "--copies", &path], &keys, "--skip-present");
        assert_eq!(fs::read(&path).unwrap(), before, "{kind}");
        let path = format!("{}/new", directory.path());
        let arguments = ["build", "-n", "2k", "--kind", kind, "--copies", "-o", &path, &file];
        fails(&arguments, b"", "\"apple\": the filter holds");
    }
}

#[test]
fn stuck_counters_are_warned_of() {
    let directory = Directory::new("stuck");
    let path = filter(&directory, "counting", &lines(0..100), "1000");
    let text = String::from_utf8(mayhap(&["add", "--copies", &path], &b"pear\n".repeat(14)).stderr).unwrap();
    assert!(!text.contains("warning"), "{text}");
    let text = String::from_utf8(mayhap(&["add", "--copies", &path], &b"apple\n".repeat(20)).stderr).unwrap();
    assert!(text.contains("counters came to 15, as far as 4 bits count, and will stay there"), "{text}");
    assert!(text.contains("--counter-bits 8 or 16"), "{text}");
    // No more of them, no more warning; but a number for programs.
    let summary = run_json(&["add", &path], b"plum\n", 0);
    assert!(summary["stuck_counters"].as_u64().unwrap() >= 4, "{summary}");
    let text = String::from_utf8(mayhap(&["add", &path], b"plum\n").stderr).unwrap();
    assert!(!text.contains("warning"), "{text}");
    let text =
        String::from_utf8(mayhap(&["remove", "--copies", &path], &b"apple\n".repeat(20)).stderr).unwrap();
    assert!(text.contains("20 keys removed") && text.contains("lost count at 15"), "{text}");
    assert_eq!(mayhap(&["check", "-q", &path], b"apple\n").status.code(), Some(0), "as was warned of");

    let wide = format!("{}/wide", directory.path());
    let arguments =
        ["build", "--kind", "counting", "--counter-bits", "8", "--copies", "-n", "1k", "-o", &wide];
    let output = mayhap(&arguments, &b"apple\n".repeat(20));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("warning"), "{output:?}");
    assert_eq!(run_json(&["remove", "--copies", &wide], &b"apple\n".repeat(20), 0)["stuck_counters"], 0);
    assert_eq!(mayhap(&["check", "-q", &wide], b"apple\n").status.code(), Some(1));
    let narrow = format!("{}/narrow", directory.path());
    let output = mayhap(
        &["build", "--kind", "counting", "--copies", "-n", "1k", "-o", &narrow],
        &b"apple\n".repeat(20),
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains("counters came to 15"), "{output:?}");
}

#[test]
fn keys_are_removed_and_others_stay() {
    let directory = Directory::new("remove-kinds");
    for kind in REMOVING {
        let path = filter(&directory, kind, &lines(0..2_000), "2000");
        let file = directory.file("gone", &lines(0..100));
        let summary = run_json(&["remove", &path, &file], b"", 0);
        assert_eq!(
            (&summary["lines"], &summary["removed"], &summary["missing"]),
            (&100.into(), &100.into(), &0.into()),
            "{kind}"
        );
        let filter = AnyFilter::open(&path).unwrap();
        let still = (0..100).filter(|number| filter.contains(&format!("key {number}"))).count();
        assert!(still < 8, "{kind}: {still} of 100 removed keys are still answered mayhap");
        // A dual filter hides a key now and then, which it says.
        let found = (100..2_000).filter(|number| filter.contains(&format!("key {number}"))).count();
        assert!(if kind == "dual" { found > 1_850 } else { found == 1_900 }, "{kind}: {found}");
    }
}

#[test]
fn keys_that_are_not_there_are_named_and_left_alone() {
    let directory = Directory::new("remove-absent");
    let path = filter(&directory, "cuckoo", &lines(0..100), "100");
    let before = fs::read(&path).unwrap();
    // 64-bit digests of these look like none of the others: this filter has been tried.
    let output = mayhap(&["remove", "--strict", &path], b"key 1\nnever added\nkey 2\n");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("not there: never added"), "{text}");
    assert!(text.contains("1 of 3 keys is not there; nothing was changed, as --strict asks"), "{text}");
    assert_eq!(fs::read(&path).unwrap(), before);

    let summary = run_json(&["remove", &path], b"key 1\nnever added\nkey 2\nkey 2\n", 1);
    assert_eq!(
        (&summary["lines"], &summary["removed"], &summary["missing"]),
        (&4.into(), &2.into(), &1.into())
    );
    assert_eq!(summary["missing_first"], serde_json::json!(["never added"]));
    assert!(contains_all(&AnyFilter::open(&path).unwrap(), 3..100));

    // Nothing there at all: not even the file is written.
    let before = fs::read(&path).unwrap();
    let summary = run_json(&["remove", &path], b"never added\n", 1);
    assert_eq!((&summary["removed"], &summary["output"]), (&0.into(), &Value::Null));
    assert_eq!(fs::read(&path).unwrap(), before);

    // Many are counted, and some named.
    let absent: Vec<u8> = (0..5_000).flat_map(|i| format!("absent {i}\n").into_bytes()).collect();
    let text = mayhap(&["remove", "--strict", &path], &absent).stderr;
    let text = String::from_utf8_lossy(&text);
    assert_eq!(text.matches("not there: absent").count(), 10, "{text}");
}

/// All of them, or none: also when a key is there, and not as often as it comes.
#[test]
fn strict_changes_nothing_when_a_copy_is_missing() {
    let directory = Directory::new("remove-strict-copies");
    for kind in REMOVING.into_iter().filter(|kind| *kind != "dual") {
        let path = filter(&directory, kind, b"a\nb\n", "100");
        let before = fs::read(&path).unwrap();
        let output = mayhap(&["remove", "--strict", "--copies", &path], b"b\na\nb\n");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{kind}: {text}");
        let expected = "1 of 3 keys would not be there any more when the others are removed; nothing was changed, as \
                        --strict asks";
        assert!(text.contains(expected), "{kind}: {text}");
        assert_eq!(fs::read(&path).unwrap(), before, "{kind}");

        // What is said of the filter is what the file holds.
        let summary = run_json(&["remove", "--strict", "--copies", &path], b"b\nb\n", 1);
        assert_eq!((&summary["removed"], &summary["taken"]), (&0.into(), &1.into()), "{kind}");
        assert_eq!((&summary["output"], &summary["keys_now"]), (&Value::Null, &2.into()), "{kind}");
        assert_eq!(fs::read(&path).unwrap(), before, "{kind}");

        // Once each, all are there.
        let summary = run_json(&["remove", "--strict", "--copies", &path], b"b\na\n", 0);
        assert_eq!((&summary["removed"], &summary["output"]), (&2.into(), &path.as_str().into()), "{kind}");
    }
}

/// Exit code 2 alone would say that nothing was done.
#[cfg(target_os = "linux")]
#[test]
fn a_summary_that_cannot_be_printed_says_what_was_written() {
    let directory = Directory::new("change-full");
    let path = filter(&directory, "cuckoo", &lines(0..10), "100");
    let keys = directory.file("keys", &lines(10..20));
    let (built, merged) = (format!("{}/built", directory.path()), format!("{}/merged", directory.path()));
    for (arguments, written) in [
        (&["add", "--json", &path, &keys][..], Some(&path)),
        (&["remove", "--json", &path, &keys], Some(&path)),
        (&["add", "--json", "--dry-run", &path, &keys], None),
        (&["build", "--json", "-o", &built, &keys], Some(&built)),
        (&["merge", "-o", &merged, &built, &built], Some(&merged)),
    ] {
        let before = written.map(fs::read);
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(arguments).stdout(full).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains("cannot write the output"), "{arguments:?}: {message}");
        let Some(written) = written else {
            assert!(!message.contains("had been written"), "{arguments:?}: {message}");
            continue;
        };
        assert!(
            message.contains(&format!("{written} had been written by then, and is complete")),
            "{message}"
        );
        assert_ne!(before.and_then(Result::ok), fs::read(written).ok(), "{arguments:?}");
    }
}

#[test]
fn a_copy_is_removed_at_a_time() {
    let directory = Directory::new("remove-copies");
    let path = filter(&directory, "counting", b"a\n", "100");
    run_json(&["add", "--copies", &path], b"a\na\na\n", 0);
    let count = || {
        let filter = AnyFilter::open(&path).unwrap();
        filter.count_hash(filter.hash("a")).unwrap()
    };
    run_json(&["remove", &path], b"a\na\n", 0);
    assert_eq!(count(), 3);
    run_json(&["remove", "--copies", &path], b"a\na\n", 0);
    assert_eq!(count(), 1);
    // The second is not there any more when its turn comes.
    let summary = run_json(&["remove", "--copies", &path], b"a\na\n", 1);
    assert_eq!((summary["removed"].as_u64(), count()), (Some(1), 0));
}

#[test]
fn kinds_that_cannot_remove_say_which_can() {
    let directory = Directory::new("remove-cannot");
    for kind in ["bloom", "classic", "scalable", "window"] {
        let path = filter(&directory, kind, b"a\n", "100");
        let before = fs::read(&path).unwrap();
        fails(&["remove", &path], b"a\n", "mayhap build --kind cuckoo");
        fails(&["remove", &path], b"a\n", "cuckoo, scalable-cuckoo, counting, d-left and dual");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn numbers_in_a_bitmap() {
    let directory = Directory::new("change-bitmap");
    let path = format!("{}/numbers", directory.path());
    assert!(
        mayhap(&["build", "-q", "--kind", "bitmap", "--range", "0..100", "-o", &path], b"1\n2\n3\n")
            .status
            .success()
    );
    assert_eq!(run_json(&["add", &path], b"3\n4\n", 0)["new"], 1);
    assert_eq!(run_json(&["remove", &path], b"1\n9\n", 1)["removed"], 1);
    assert_eq!(Bitmap::open(&path).unwrap().iter().collect::<Vec<_>>(), [2, 3, 4]);
    fails(&["add", &path], b"100\n", "outside the bitmap");
    fails(&["add", &path], b"four\n", "no whole number");
    fails(&["remove", &path], b"four\n", "no whole number");
}

#[test]
fn keys_into_the_filter_of_another_system() {
    let directory = Directory::new("add-foreign");
    let path = format!("{}/guava", directory.path());
    let theirs = GuavaBloom::with_rate(1_000, 0.01, Sizing::Guava31).unwrap();
    ForeignFile::from(ForeignFilter::Guava(theirs)).save(&path, codec::Existing::Refuse).unwrap();
    let summary = run_json(&["add", &path], &lines((0..100).chain(0..100)), 0);
    assert_eq!((&summary["lines"], &summary["new"]), (&200.into(), &100.into()));
    let file = ForeignFile::open(&path).unwrap();
    assert!((0..100).all(|number| file.contains(format!("key {number}").as_bytes()) == Some(true)));
    fails(&["remove", &path], b"key 1\n", "can't remove keys");
    assert_eq!(directory.names(), ["guava"]);
}

#[test]
fn wrong_files_are_said() {
    let directory = Directory::new("change-files");
    let path = filter(&directory, "cuckoo", b"a\n", "100");
    let keys = directory.file("keys", b"a\n");
    let mut damaged = fs::read(&path).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    let damaged = directory.file("damaged", &damaged);
    let missing = format!("{}/missing", directory.path());
    let before = directory.names();
    for verb in ["add", "remove"] {
        for dry_run in [&[][..], &["--dry-run"]] {
            let refused = |filter: &str, files: &[&str], expected: &str| {
                fails(&[&[verb], dry_run, &[filter], files].concat(), b"a\n", expected);
            };
            refused(&missing, &[], "no such file");
            refused(directory.path(), &[], "is a directory");
            refused(&keys, &[], "keys");
            refused(&damaged, &[], "damaged");
            refused(&path, &[&missing], "no such file");
            refused(&path, &[directory.path()], "is a directory");
            refused(&path, &["-f", "2", "--csv"], "no field 2");
        }
        fails(&[verb], b"", "<FILTER>");
    }
    assert_eq!(directory.names(), before, "nothing is left behind");
}

#[test]
fn a_secret_key_is_asked_for() {
    let directory = Directory::new("change-secret");
    let key = directory.file("key", b"000102030405060708090a0b0c0d0e0f");
    let path = format!("{}/filter", directory.path());
    let build = ["build", "-q", "--kind", "cuckoo", "-n", "100", "--key-file", &key, "-o", &path];
    assert!(mayhap(&build, b"a\n").status.success());
    fails(&["add", &path], b"b\n", "--key-file");
    assert_eq!(run_json(&["add", &path, "--key-file", &key], b"b\n", 0)["new"], 1);
    assert_eq!(run_json(&["remove", &path, "--key-file", &key], b"a\nb\n", 0)["removed"], 2);

    // And refused where it would be of no use, also to a state that its owner thinks is safe.
    let plain = filter(&directory, "cuckoo", b"a\n", "100");
    let state = filter(&directory, "bloom", b"a\n", "100");
    let numbers = directory.path().to_owned() + "/numbers";
    assert!(mayhap(&["build", "-q", "--kind", "bitmap", "-o", &numbers], b"1\n").status.success());
    for arguments in [
        &["add", &plain][..],
        &["add", "--dry-run", &plain],
        &["add", &numbers],
        &["remove", &plain],
        &["dedup", "--state", &state],
        &["verify", &plain],
        &["fold", &state, "--by", "1", "--dry-run"],
        &["merge", &path, &plain, "-o", "new"],
        &["convert", &plain, "--to", "mayhap", "-o", "new"],
    ] {
        fails(&[arguments, &["--key-file", &key]].concat(), b"1\n", "made without one");
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let directory = Directory::new("change-link");
    let path = filter(&directory, "bloom", b"a\n", "100");
    let link = format!("{}/link", directory.path());
    std::os::unix::fs::symlink(&path, &link).unwrap();
    run_json(&["add", &link], b"b\n", 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(AnyFilter::open(&path).unwrap().contains("b"));
}

#[test]
fn two_at_once_lose_no_key() {
    let directory = Directory::new("add-at-once");
    for kind in ["bloom", "cuckoo"] {
        let path = filter(&directory, kind, &lines(0..10), "20000");
        thread::scope(|scope| {
            for writer in 0..6u32 {
                let path = &path;
                scope.spawn(move || {
                    for turn in 0..4 {
                        let first = 1_000 * (writer + 1) + 100 * turn;
                        let output = mayhap(&["add", "-q", path], &lines(first..first + 100));
                        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
                    }
                });
            }
        });
        let filter = AnyFilter::open(&path).unwrap();
        for writer in 0..6 {
            assert!(contains_all(&filter, 1_000 * (writer + 1)..1_000 * (writer + 1) + 400), "{kind}");
        }
    }
    assert_eq!(directory.names(), ["bloom", "cuckoo"]);
}

/// An `add` that has the file, and keeps it until its input ends.
fn holding(path: &str, keys: &[u8]) -> (Child, ChildStdin) {
    let mut child = command(&["add", "-q", path]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(keys).unwrap();
    let (directory, name) = path.rsplit_once('/').unwrap();
    let lock = format!("{directory}/.{name}.lock");
    while !fs::read_to_string(&lock).is_ok_and(|text| text == child.id().to_string()) {
        thread::sleep(Duration::from_millis(5));
    }
    (child, stdin)
}

#[test]
fn who_waits_is_told_for_whom() {
    let directory = Directory::new("add-wait");
    let path = filter(&directory, "bloom", b"a\n", "100");
    let (mut first, keys) = holding(&path, b"b\n");
    let mut second = command(&["add", &path]).stdin(Stdio::piped()).spawn().unwrap();
    let mut more = second.stdin.take().unwrap();
    more.write_all(b"c\n").unwrap();
    drop(more);
    // Its message comes before its end, which comes after the end of the first.
    let mut said = std::io::BufReader::new(second.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    assert!(line.contains(&format!("process {} is changing", first.id())), "{line}");
    drop(keys);
    assert!(first.wait().unwrap().success() && second.wait().unwrap().success());
    let filter = AnyFilter::open(&path).unwrap();
    assert!(["a", "b", "c"].iter().all(|key| filter.contains(*key)));
    assert_eq!(directory.names(), ["bloom"]);
}

/// Who replaces a file waits for who changes it, and a file that is replaced by what was made of it lacks nothing.
#[test]
fn who_replaces_a_file_waits_for_who_changes_it() {
    let directory = Directory::new("replace-wait");
    let other = filter(&directory, "classic", b"other\n", "100");
    let theirs = directory
        .file("theirs", &GuavaBloom::with_rate(100, 0.01, Sizing::Guava31).unwrap().to_bytes().unwrap());
    let replace = |kind: &str, arguments: &[&str]| {
        let path = filter(&directory, kind, b"old\n", "1000");
        let arguments: Vec<&str> =
            arguments.iter().map(|argument| if *argument == "PATH" { &path } else { *argument }).collect();
        let (mut first, keys) = holding(&path, b"added\n");
        let mut second = command(&[&arguments[..], &["-o", &path, "--force"]].concat())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(second.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        assert!(
            line.contains(&format!("process {} is changing {path}; waiting", first.id())),
            "{arguments:?}: {line}"
        );
        drop(keys);
        assert!(first.wait().unwrap().success());
        let rest = std::io::read_to_string(said).unwrap();
        assert!(second.wait().unwrap().success(), "{arguments:?}: {rest}");
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        bytes
    };
    for (kind, arguments) in [
        ("bloom", &["fold", "PATH", "--rate", "1%"][..]),
        ("bloom", &["merge", "PATH", "PATH"]),
        ("bloom", &["convert", "PATH", "--to", "mayhap"]),
        ("scalable-cuckoo", &["compact", "PATH"]),
    ] {
        let filter = AnyFilter::from_bytes(&replace(kind, arguments)).unwrap();
        assert!(filter.contains("old") && filter.contains("added"), "{arguments:?}");
    }
    // What is made of others is there in the end, and not the old file with the key.
    let keys = directory.file("keys", b"new\n");
    let built = AnyFilter::from_bytes(&replace("bloom", &["build", "--kind", "cuckoo", &keys])).unwrap();
    assert!(matches!(built, AnyFilter::Cuckoo(_)) && built.contains("new"));
    assert_eq!(replace("bloom", &["fold", &other, "--by", "1"]), fs::read(&other).unwrap());
    let imported = replace("bloom", &["import", "--format", "guava", &theirs]);
    let imported = directory.file("imported", &imported);
    assert_eq!(replace("bloom", &["export", &imported]), fs::read(&theirs).unwrap());
    assert_eq!(
        directory.names(),
        ["classic", "imported", "keys", "theirs"],
        "no lock and no temporary file stays"
    );
}

/// A growing filter counts what it takes, which is closer than what its bits say.
#[test]
fn a_scalable_filter_says_what_it_counted() {
    let directory = Directory::new("change-scalable-count");
    let path = format!("{}/filter", directory.path());
    let keys: String = (0..1_002).map(|i| format!("key {i}\n")).collect();
    let built = mayhap(&["build", "-q", "--kind", "scalable", "-n", "100", "-o", &path], b"key 0\n");
    assert_eq!(built.status.code(), Some(0), "{built:?}");
    let output = mayhap(&["add", "--json", "--dry-run", &path], keys.as_bytes());
    let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let output = mayhap(&["add", &path], keys.as_bytes());
    let AnyFilter::Scalable(filter) = AnyFilter::open(&path).unwrap() else { panic!("another kind") };
    assert!((995..=1_002).contains(&filter.len()), "{}", filter.len());
    assert_ne!(filter.len(), filter.estimated_len(), "or this tests nothing");
    assert_eq!(summary["keys_now"], filter.len());
    let text = String::from_utf8_lossy(&output.stderr);
    let number = filter.len().to_string().replacen('1', "1 ", usize::from(filter.len() > 999));
    assert!(text.contains(&format!("holds about {number} keys")), "{text}");
}

/// Whatever links lead to: an error is about the file that was named.
#[test]
#[cfg(unix)]
fn files_are_called_as_they_were_named() {
    let directory = Directory::new("change-names");
    let path = filter(&directory, "bloom", b"a\n", "1000");
    let mut damaged = fs::read(&path).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    let damaged = directory.file("damaged", &damaged);
    let classic = filter(&directory, "classic", b"a\n", "1000");
    let link = format!("{}/link", directory.path());
    let refused = |target: &str, arguments: &[&str]| {
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(target, &link).unwrap();
        fails(&[arguments, &[&link]].concat(), b"a\n", &link);
    };
    for arguments in [&["add"][..], &["remove"], &["compact"], &["dedup", "--state"]] {
        refused(&damaged, arguments);
    }
    for arguments in [&["remove"][..], &["compact"], &["dedup", "--state"]] {
        refused(&classic, arguments);
    }

    // The link still leads to the file, which was replaced, and who waits is told the name, too.
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let (mut first, keys) = holding(&path, b"b\n");
    fails(&["dedup", "--state", &link], b"c\n", &format!("is using {link}; wait"));
    drop(keys);
    assert!(first.wait().unwrap().success());
    run_json(&["add", &link], b"d\n", 0);
    let filter = AnyFilter::open(&path).unwrap();
    assert!(["a", "b", "d"].iter().all(|key| filter.contains(*key)));
}

#[test]
fn a_program_killed_at_any_moment_leaves_the_old_file_or_the_new() {
    let directory = Directory::new("add-killed");
    // Large enough that writing takes a while.
    let path = filter(&directory, "bloom", &lines(0..1_000), "4M");
    let (mut completed, mut killed) = (0, 0);
    for turn in 0..60u32 {
        let first = 10_000 + 10 * turn;
        let mut child = command(&["add", "-q", &path]).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&lines(first..first + 10)).unwrap();
        thread::sleep(Duration::from_millis(u64::from(turn)));
        let _ = child.kill();
        let is_done = child.wait().unwrap().success();
        *(if is_done { &mut completed } else { &mut killed }) += 1;
        codec::verify(&path).unwrap();
        let filter = AnyFilter::open(&path).unwrap();
        assert!(contains_all(&filter, 0..1_000), "after {turn} turns");
        let new = (first..first + 10).filter(|number| filter.contains(&format!("key {number}"))).count();
        assert!(new == 0 || new == 10, "all keys of an addition or none: {new}");
        assert!(new == 10 || !is_done);
    }
    assert!(killed > 0, "{completed} were done before they were killed");
    // And what was left behind is in nobody's way.
    assert!(mayhap(&["add", "-q", &path], &lines(20_000..20_010)).status.success());
    assert!(contains_all(&AnyFilter::open(&path).unwrap(), (0..1_000).chain(20_000..20_010)));
}

/// A filter in the place of the keys would add the garbage that its bytes are as lines.
#[test]
fn a_filter_is_no_list_of_keys() {
    let directory = Directory::new("filter-as-keys");
    let cuckoo = filter(&directory, "cuckoo", &lines(0..100), "1000");
    let bloom = filter(&directory, "bloom", &lines(0..100), "1000");
    let before = fs::read(&cuckoo).unwrap();
    let output = format!("{}/new", directory.path());
    for arguments in [
        &["add", &cuckoo, &cuckoo][..],
        &["add", &cuckoo, &bloom],
        &["remove", &cuckoo, &bloom],
        &["check", &cuckoo, &bloom],
        &["verify", &cuckoo, &bloom],
        &["dedup", &bloom],
        &["build", "-o", &output, &bloom],
    ] {
        fails(arguments, b"", "is a mayhap file and not a list of keys");
    }
    // Through a pipe, too.
    let piped = fs::read(&bloom).unwrap();
    for arguments in [
        &["add", &cuckoo][..],
        &["remove", &cuckoo, "-"],
        &["check", &cuckoo],
        &["verify", &cuckoo],
        &["dedup"],
        &["build", "-o", &output],
        &["missing", "-r", "0..10"],
        &["hash"],
    ] {
        fails(arguments, &piped, "standard input is a mayhap file and not a list of keys");
    }
    assert_eq!(fs::read(&cuckoo).unwrap(), before);
}

/// A filter that copies have filled isn't said to have too many keys.
#[test]
fn what_is_too_much_is_said_as_it_is() {
    let directory = Directory::new("change-copies");
    let made = |kind: &str| filter(&directory, kind, &lines(0..1_000), "1000");
    let text = |arguments: &[&str], input: &[u8]| {
        let output = mayhap(arguments, input);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    let path = made("d-left");
    let said = text(&["add", "--copies", &path], &lines(0..20).repeat(8));
    assert!(said.contains("its keys take more cells than it was made for"), "{said}");
    assert!(said.contains("another for every 4 copies") && said.contains("--counter-bits"), "{said}");
    assert!(!said.contains("more keys than"), "{said}");
    let path = made("cuckoo");
    let said = text(&["add", "--copies", &path], &lines(0..20));
    assert!(said.contains("more keys than it was made for, each counted with its copies"), "{said}");
    let path = made("bloom");
    let said = text(&["add", &path], &lines(1_000..2_000));
    assert!(said.contains("these are more keys than it was made for, and more of them"), "{said}");
}
