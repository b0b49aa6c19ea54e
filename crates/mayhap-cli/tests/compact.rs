//! `mayhap compact`, as a user runs it.

mod run;

use std::fs;

use mayhap::AnyFilter;
use run::{Directory, fails, mayhap};
use serde_json::Value;

fn lines(numbers: impl IntoIterator<Item = u32>) -> Vec<u8> {
    numbers.into_iter().flat_map(|number| format!("key {number}\n").into_bytes()).collect()
}

/// A filter that has grown to 20 000 keys, of which 499 are left.
fn grown_and_emptied(directory: &Directory) -> String {
    let path = format!("{}/sessions", directory.path());
    let build = ["build", "-q", "--kind", "scalable-cuckoo", "-n", "1k", "--force", "-o", &path];
    assert!(mayhap(&build, &lines(0..20_000)).status.success());
    assert!(mayhap(&["remove", "-q", &path], &lines(499..20_000)).status.success());
    path
}

fn run_json(arguments: &[&str]) -> Value {
    let output = mayhap(&[arguments, &["--json"]].concat(), b"");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

fn holds_what_is_left(path: &str) {
    let filter = AnyFilter::open(path).expect("a filter");
    assert!((0..499).all(|number| filter.contains(&format!("key {number}"))), "{path}");
    assert_eq!(filter.estimated_len(), 499);
}

#[test]
fn layers_are_given_back() {
    let directory = Directory::new("compact");
    let path = grown_and_emptied(&directory);
    let large = fs::read(&path).unwrap();

    let rehearsal = run_json(&["compact", "--dry-run", &path]);
    assert_eq!(rehearsal["output"], Value::Null);
    assert_eq!(fs::read(&path).unwrap(), large);
    let text = String::from_utf8(mayhap(&["compact", "--dry-run", &path], b"").stdout).unwrap();
    assert!(text.contains("would be given back"), "{text}");

    // Into another file first, so that both ways begin alike.
    let other = format!("{}/other", directory.path());
    let summary = run_json(&["compact", &path, "-o", &other]);
    assert_eq!((&summary["after"], &summary["output"]), (&rehearsal["after"], &other.as_str().into()));
    assert_eq!(fs::read(&path).unwrap(), large);
    holds_what_is_left(&other);
    fails(&["compact", &path, "-o", &other], b"", "--force replaces it");
    run_json(&["compact", &path, "-o", &other, "--force"]);
    run_json(&["compact", &other, "-o", &other, "--force"]);
    holds_what_is_left(&other);

    let text = String::from_utf8(mayhap(&["compact", &path], b"").stdout).unwrap();
    assert!(text.contains("layers given back\n") && text.contains("expected rate now"), "{text}");
    assert_eq!(fs::read(&path).unwrap(), fs::read(&other).unwrap());
    assert!(fs::read(&path).unwrap().len() * 10 < large.len());
    holds_what_is_left(&path);

    // A second time there is nothing to do, and it can be used as before.
    let summary = run_json(&["compact", &path]);
    assert_eq!((&summary["output"], &summary["after"]["layer_count"]), (&Value::Null, &1.into()));
    let text = String::from_utf8(mayhap(&["compact", &path], b"").stdout).unwrap();
    assert!(text.contains("nothing to give back; the file is as it was"), "{text}");
    assert!(mayhap(&["add", "-q", &path], &lines(30_000..35_000)).status.success());
    let mut names: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["other", "sessions"], "no lock and no temporary file stays");
}

#[test]
fn other_kinds_are_told_why_not() {
    let directory = Directory::new("compact-kinds");
    for (kind, reason) in [
        ("bloom", "`mayhap fold` makes it smaller"),
        ("classic", "`mayhap fold` makes it smaller"),
        ("counting", "`mayhap fold` makes it smaller"),
        ("scalable", "from which no key can be removed"),
        ("dual", "fills the second"),
        ("d-left", "a table of one size"),
        ("cuckoo", "a table of one size"),
        ("window", "room for new keys"),
        ("bitmap", "`mayhap convert`"),
    ] {
        let path = format!("{}/{kind}", directory.path());
        let mut build = vec!["build", "-q", "--kind", kind, "-o", &path];
        if kind == "window" {
            build.extend(["-n", "100"]);
        }
        assert!(mayhap(&build, b"1\n2\n").status.success());
        let before = fs::read(&path).unwrap();
        fails(&["compact", &path], b"", reason);
        fails(&["compact", &path], b"", "compacting it would gain nothing");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    fails(&["compact", &format!("{}/absent", directory.path())], b"", "no such file");
    fails(&["compact", "x", "--force"], b"", "--output");
}

#[test]
fn a_secret_key_is_asked_for() {
    let directory = Directory::new("compact-secret");
    let key = directory.file("key", b"000102030405060708090a0b0c0d0e0f");
    let path = format!("{}/filter", directory.path());
    let build = ["build", "-q", "--kind", "scalable-cuckoo", "-n", "100", "--key-file", &key, "-o", &path];
    assert!(mayhap(&build, &lines(0..1_000)).status.success());
    fails(&["compact", &path], b"", "--key-file");
    assert!(mayhap(&["remove", "-q", &path, "--key-file", &key], &lines(50..1_000)).status.success());
    assert_eq!(run_json(&["compact", &path, "--key-file", &key])["after"]["layer_count"], 1);
}
