//! The filters of other systems, against bytes and answers that the real programs gave.
//!
//! The directory named by the environment variable `MAYHAP_GOLDEN`, or else `testdata/golden`, is walked: every
//! `*.jsonl`, `*.ldb`, `*.parquet` and `*.rdb` in it must be understood, down to the last field of the last case. Add a
//! case to a file, or a file whose name starts like one in [`FILES`], and it is checked. `testdata/golden/README.md`
//! explains the files and the rules that their keys are made by.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a check that panics has failed")]
#![allow(clippy::cast_possible_truncation, reason = "numbers of recorded cases are small")]

mod case;
mod crawler;
mod cuckoo_loads;
mod guava;
mod hashes;
mod keys;
mod leveldb;
mod parquet;
mod redisbloom;
mod spark;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use case::Case;

/// How the cases of the files whose names start so are checked. The longest start that fits counts.
type Check = fn(&mut Case);
const FILES: &[(&str, &[(&str, Check)])] = &[
    ("crawler", crawler::FILES),
    ("guava", guava::FILES),
    ("hashes", hashes::FILES),
    ("keys", keys::FILES),
    ("leveldb and badger", leveldb::FILES),
    ("parquet", parquet::FILES),
    ("redisbloom", redisbloom::FILES),
    ("spark", spark::FILES),
];

/// Files that are no cases: figures about other programs, which documents quote and nothing here can rebuild. Those of
/// cuckoo tables are what ours are compared with, in [`cuckoo_loads`].
const NO_CASES: &[&str] = &["cuckoo_load_factor", "java_memory"];

/// How whole files of other programs are checked, by their extension.
type FileCheck = fn(&Path);
const WHOLE_FILES: &[(&str, FileCheck)] =
    &[("ldb", leveldb::table_file), ("parquet", parquet::file), ("rdb", redisbloom::rdb_file)];

#[test]
fn every_recorded_case_is_met() {
    let directory = directory();
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("can't read {}: {error}", directory.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut failures = Vec::new();
    let mut checked = BTreeMap::new();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, ""));
        let before = failures.len();
        let cases = if extension == "jsonl" {
            check_lines(&path, stem, &mut failures)
        } else if let Some((_, check)) = WHOLE_FILES.iter().find(|(known, _)| *known == extension) {
            run(&name, &mut failures, || check(&path));
            1
        } else {
            continue;
        };
        checked.insert(name, (cases, failures.len() - before));
    }
    assert!(!checked.is_empty(), "no cases in {}", directory.display());
    report(&checked).unwrap();
    let shown = failures.len().min(20);
    assert!(failures.is_empty(), "{} failures; the first:\n{}", failures.len(), failures[..shown].join("\n"));
}

/// Tells how many cases of each file were checked. Written to the stream itself: what goes through `println!` is shown
/// only when the test fails.
fn report(checked: &BTreeMap<String, (usize, usize)>) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for (name, (cases, failed)) in checked {
        let failed = if *failed > 0 { format!(", {failed} FAILED") } else { String::new() };
        writeln!(out, "{cases:>5} cases of {name}{failed}")?;
    }
    let total: usize = checked.values().map(|(cases, _)| cases).sum();
    writeln!(out, "{total:>5} cases of {} files", checked.len())
}

fn directory() -> PathBuf {
    std::env::var_os("MAYHAP_GOLDEN")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden"), PathBuf::from)
}

fn check_lines(path: &Path, stem: &str, failures: &mut Vec<String>) -> usize {
    if NO_CASES.iter().any(|start| stem.starts_with(start)) {
        return 0;
    }
    let checks = FILES.iter().flat_map(|(_, files)| files.iter());
    let Some((_, check)) =
        checks.filter(|(start, _)| stem.starts_with(start)).max_by_key(|(start, _)| start.len())
    else {
        failures.push(format!("{stem}.jsonl: no check knows such a file"));
        return 0;
    };
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            let name = format!("{stem}.jsonl:{}", index + 1);
            run(&name, failures, || {
                let mut case = Case::parse(line, path.parent().unwrap());
                check(&mut case);
                case.finish();
            });
        })
        .count()
}

/// Runs a check that panics when it fails.
fn run(name: &str, failures: &mut Vec<String>, check: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(check)) {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panicked");
        failures.push(format!("{name}: {message}"));
    }
}
