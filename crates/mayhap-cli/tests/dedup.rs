//! `mayhap dedup`, as a user runs it.

mod run;

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

use run::{Directory, command, fails, mayhap};
use serde_json::Value;

/// Runs it quietly and returns what it printed.
fn dedup(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let output = mayhap(&[&["dedup", "-q"], arguments].concat(), input);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    output.stdout
}

/// The lines of stderr as JSON.
fn json_lines(stderr: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(stderr).expect("stderr is text");
    text.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
}

fn numbered_lines(count: u64) -> Vec<u8> {
    (0..count).flat_map(|i| format!("https://example.org/{i}\n").into_bytes()).collect()
}

#[test]
fn keeps_the_first_of_equal_lines() {
    assert_eq!(dedup(&[], b"b\na\nb\n\nc\na\n\n"), b"b\na\n\nc\n");
    assert_eq!(dedup(&["-"], b"b\na\nb\n"), b"b\na\n");
}

#[test]
fn empty_input_gives_empty_output() {
    assert_eq!(dedup(&[], b""), b"");
    assert_eq!(dedup(&[], b"\n"), b"\n");
    let directory = Directory::new("empty");
    assert_eq!(dedup(&[&directory.file("empty", b"")], b"never read"), b"");
}

#[test]
fn a_last_line_without_newline_is_a_line_like_the_others() {
    assert_eq!(dedup(&[], b"a\nb"), b"a\nb\n");
    assert_eq!(dedup(&[], b"a\nb\na"), b"a\nb\n");
    let directory = Directory::new("last-line");
    let (one, two) = (directory.file("one", b"a\nb"), directory.file("two", b"b\nc"));
    assert_eq!(dedup(&[&one, &two], b""), b"a\nb\nc\n");
}

#[test]
fn files_and_stdin_are_one_input_in_order() {
    let directory = Directory::new("order");
    let (one, two) = (directory.file("one", b"1\n2\n"), directory.file("two", b"3\n1\n"));
    assert_eq!(dedup(&[&two, "-", &one], b"9\n3\n2\n"), b"3\n1\n9\n2\n");
}

#[test]
fn lines_may_end_in_nul() {
    assert_eq!(dedup(&["-z"], b"a\nb\0c\0a\nb\0c"), b"a\nb\0c\0");
}

#[test]
fn lines_are_bytes() {
    let all: Vec<u8> = (0..=255u8).filter(|byte| *byte != b'\n').collect();
    let input = [&all[..], b"\n\xff\xfe\n\0\n", &all[..], b"\n\0\n\xc3\n\xff\xfe\n"].concat();
    let expected = [&all[..], b"\n\xff\xfe\n\0\n\xc3\n"].concat();
    assert_eq!(dedup(&[], &input), expected);
    // A carriage return belongs to its line.
    assert_eq!(dedup(&[], b"a\r\na\na\r\n"), b"a\r\na\n");
}

#[test]
fn lines_longer_than_any_buffer_pass() {
    let long = vec![b'x'; 5_000_000];
    let longer = vec![b'x'; 5_000_001];
    let input = [&long[..], b"\nshort\n", &longer, b"\n", &long, b"\nshort\n", &longer].concat();
    let expected = [&long[..], b"\nshort\n", &longer, b"\n"].concat();
    assert!(dedup(&[], &input) == expected);
}

#[test]
fn a_line_beyond_the_limit_is_an_error_that_says_where() {
    let output = mayhap(&["dedup", "--max-line", "10"], b"0123456789\nok\n0123456789a\nnever\n");
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("line 3 of standard input is longer than 10 B"), "{message}");
    assert!(message.contains("--max-line"), "{message}");
}

#[test]
fn agrees_with_a_hash_set_on_a_large_input() {
    let mut input = Vec::new();
    let mut state = 42u64;
    for _ in 0..300_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        input.extend_from_slice(format!("https://example.org/{}\n", (state >> 33) % 150_000).as_bytes());
    }
    let mut seen = HashSet::new();
    let expected: Vec<u8> = input
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| seen.insert(*line))
        .flatten()
        .copied()
        .collect();
    assert!(dedup(&["-p", "1e-12"], &input) == expected);
    let directory = Directory::new("large");
    assert!(dedup(&["-p", "1e-12", "-n", "150k", &directory.file("input", &input)], b"") == expected);
}

#[test]
fn the_sample_in_the_repository_works() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/sample-urls.txt");
    let output = mayhap(&["dedup", sample], b"");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(output.stdout.iter().filter(|byte| **byte == b'\n').count(), 188);
    let summary = String::from_utf8_lossy(&output.stderr);
    assert!(summary.contains("400 lines read, 188 printed, 212 dropped as repeats"), "{summary}");
    assert!(
        summary.contains("expected number of new lines dropped by mistake: less than 0.001"),
        "{summary}"
    );
}

#[test]
fn the_json_summary_adds_up() {
    let output = mayhap(&["dedup", "--json", "-n", "1000"], b"a\nbb\na\nccc");
    assert_eq!(output.stdout, b"a\nbb\nccc\n");
    let lines = json_lines(&output.stderr);
    assert_eq!(lines.len(), 1);
    let summary = &lines[0];
    assert_eq!(
        (&summary["lines"], &summary["printed"], &summary["dropped"]),
        (&4.into(), &3.into(), &1.into())
    );
    assert_eq!((&summary["input_bytes"], &summary["output_bytes"]), (&10.into(), &9.into()));
    assert_eq!((&summary["rate_asked"], &summary["over_rate"]), (&1e-6.into(), &false.into()));
    assert!(summary["filter_bytes"].as_u64().unwrap() > 1000);
    assert!(summary["rate_now"].as_f64().unwrap() < 1e-6);
    assert!(summary["expected_dropped_by_mistake"].as_f64().unwrap() < 1e-6);
    assert!(summary["seconds"].as_f64().unwrap() >= 0.0);
}

#[test]
fn memory_is_as_asked_or_as_little_as_the_files_need() {
    let directory = Directory::new("memory");
    let small = directory.file("small", b"a\nb\n\nc");
    let bytes = |arguments: &[&str]| {
        let output = mayhap(&[&["dedup", "--json"], arguments].concat(), b"a\n");
        json_lines(&output.stderr)[0]["filter_bytes"].as_u64().unwrap()
    };
    let full = 64 << 20;
    assert!((full - full / 100..=full).contains(&bytes(&[])), "a pipe may bring anything");
    assert!((full - full / 100..=full).contains(&bytes(&[&small, "-"])));
    assert!(bytes(&[&small]) < 1_000);
    assert!(bytes(&["--memory", "128", &small]) <= 128);
    assert!((1 << 19..=1 << 20).contains(&bytes(&["--memory", "1MiB"])));
    // As many lines as a file of its size can have.
    let shortest: Vec<u8> =
        (0..=255u8).filter(|byte| *byte != b'\n').flat_map(|byte| [byte, b'\n']).collect();
    let output = mayhap(&["dedup", "--json", &directory.file("shortest", &shortest)], b"");
    assert_eq!(output.stdout, shortest);
    assert_eq!(json_lines(&output.stderr)[0]["over_rate"], false);
}

#[test]
fn more_lines_than_planned_are_warned_about_once() {
    let input = numbered_lines(20_000);
    let output = mayhap(&["dedup", "-n", "1k", "-p", "1%"], &input);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(text.matches("warning").count(), 1, "{text}");
    assert!(text.contains("a larger -n"), "{text}");
    assert!(text.contains("above the 1% asked for"), "{text}");

    let output = mayhap(&["dedup", "--memory", "8KiB", "-p", "1%", "--json"], &input);
    let lines = json_lines(&output.stderr);
    assert_eq!(lines.iter().filter(|line| line.get("warning").is_some()).count(), 1);
    let (warning, summary) = (&lines[0]["warning"], &lines[1]);
    assert!(warning.as_str().unwrap().contains("--memory"), "{warning}");
    assert_eq!(summary["over_rate"], true);
    // Every dropped line was new, and the number of them is what was to be expected.
    let (dropped, expected) =
        (summary["dropped"].as_f64().unwrap(), summary["expected_dropped_by_mistake"].as_f64().unwrap());
    assert!(dropped > 1_000.0);
    assert!((dropped / expected - 1.0).abs() < 0.2, "{dropped} dropped, {expected} expected");

    assert_eq!(mayhap(&["dedup", "-n", "1k", "-q"], &input).stderr, b"");
}

#[test]
fn no_warning_within_the_plan() {
    let output = mayhap(&["dedup", "-n", "20k"], &numbered_lines(20_000));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains("warning"), "{text}");
    assert_eq!(output.stdout, numbered_lines(20_000));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mut child = command(&["dedup"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    // More than all pipes on the way can hold.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&numbered_lines(500_000))));
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    assert_eq!(first, "https://example.org/0\n");
    drop(stdout);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    writer.join().unwrap();
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(message, "");
}

#[test]
fn lines_are_printed_as_they_come() {
    let mut child = command(&["dedup"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for line in ["one\n", "two\n"] {
        stdin.write_all(line.as_bytes()).unwrap();
        let mut printed = String::new();
        // Would wait for ever if the line were held back.
        stdout.read_line(&mut printed).unwrap();
        assert_eq!(printed, line);
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn closed_streams_do_not_panic() {
    for arguments in
        [&["dedup"][..], &["dedup", "-n", "1"], &["dedup", "missing"], &["plan", "-n", "1k", "-p", "1%"]]
    {
        let mut child = command(arguments).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stderr.take());
        drop(child.stdout.take());
        let _ = child.stdin.take().unwrap().write_all(&numbered_lines(100));
        let code = child.wait().unwrap().code();
        assert!(matches!(code, Some(0 | 2)), "{arguments:?}: {code:?}");
    }
}

#[test]
fn what_cannot_be_read_is_said_before_anything_is_printed() {
    let directory = Directory::new("unreadable");
    let good = directory.file("good", b"a\n");
    let missing = format!("{}/missing", directory.path());
    fails(&["dedup", &good, &missing], b"", &format!("mayhap: cannot read {missing}: no such file"));
    fails(&["dedup", &good, directory.path()], b"", &format!("{} is a directory", directory.path()));
}

#[test]
fn impossible_plans_are_refused() {
    fails(&["dedup", "-p", "0"], b"a\n", "a rate of `0` is zero");
    fails(&["dedup", "-p", "2"], b"a\n", "did you mean 2%?");
    fails(&["dedup", "-n", "0"], b"a\n", "plan for at least 1 key");
    fails(&["dedup", "-n", "1e30"], b"a\n", "too large");
    fails(&["dedup", "-n", "1e18"], b"a\n", "a rate of 1e-6 is too low for 1000000000000000000 keys");
    fails(&["dedup", "--memory", "1"], b"a\n", "1 bytes are too few");
    fails(&["dedup", "--memory", "many"], b"a\n", "`many` is not a size");
    fails(&["dedup", "-n", "5", "--memory", "1M"], b"a\n", "cannot be used with");
    fails(&["dedup", "-q", "--json"], b"a\n", "cannot be used with");
}
