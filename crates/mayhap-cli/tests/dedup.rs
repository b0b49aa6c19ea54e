//! `mayhap dedup`, as a user runs it.

mod run;

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

use run::{Directory, command, fails, gzip, mayhap, numbered_lines};
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
    let is_said_at_once = |line: &&str| line.starts_with("mayhap: warning: ");
    let lines = text.lines().skip_while(is_said_at_once);
    lines.map(|line| serde_json::from_str(line).expect("every other line is JSON")).collect()
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
    assert!(
        message.contains("standard input: the line that begins with \"0123456789a\" is longer than 10 B"),
        "{message}"
    );
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
    assert_eq!((&summary["planned_rate"], &summary["over_rate"]), (&1e-6.into(), &false.into()));
    assert!(summary["memory_bytes"].as_u64().unwrap() > 1000);
    assert!(summary["rate_now"].as_f64().unwrap() < 1e-6);
    assert!(summary["expected_mistaken"].as_f64().unwrap() < 1e-6);
    assert!(summary["seconds"].as_f64().unwrap() >= 0.0);
}

#[test]
fn memory_is_as_asked_or_as_little_as_the_files_need() {
    let directory = Directory::new("memory");
    let small = directory.file("small", b"a\nb\n\nc");
    let bytes = |arguments: &[&str]| {
        let output = mayhap(&[&["dedup", "--json"], arguments].concat(), b"a\n");
        json_lines(&output.stderr)[0]["memory_bytes"].as_u64().unwrap()
    };
    let full = 64 << 20;
    assert!((full - full / 100..=full).contains(&bytes(&[])), "a pipe may bring anything");
    assert!((full - full / 100..=full).contains(&bytes(&[&small, "-"])));
    assert!(bytes(&[&small]) < 1_000);
    // Lines are counted, not guessed from the bytes; -z lines by what ends them.
    let long = directory.file("long", &[[b'x'; 99].as_slice(), b"\n"].concat().repeat(10_000));
    assert!((30_000..60_000).contains(&bytes(&[&long])), "10 001 lines at a rate of 1e-6");
    assert!(bytes(&["-z", &long]) < 1_000, "one line");
    assert!(
        bytes(&["--csv", "--field", "1", &long]) > 1 << 20,
        "what ends the records of a table isn't known"
    );
    // What is packed may become anything.
    let packed = directory.file("packed.gz", &gzip(&numbered_lines(10)));
    assert!((full - full / 100..=full).contains(&bytes(&[&packed])));
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
    // At once in words, and again in the summary, which is the last line.
    let text = String::from_utf8_lossy(&output.stderr);
    let (warning, summary) = text.trim_end().split_once('\n').expect("two lines");
    let summary = json_lines(summary.as_bytes()).remove(0);
    assert_eq!(warning, format!("mayhap: warning: {}", summary["warnings"][0].as_str().unwrap()));
    assert!(warning.contains("--memory"), "{warning}");
    assert_eq!(summary["over_rate"], true);
    // Every dropped line was new, and the number of them is what was to be expected.
    let (dropped, expected) =
        (summary["dropped"].as_f64().unwrap(), summary["expected_mistaken"].as_f64().unwrap());
    assert!(dropped > 1_000.0);
    assert!((dropped / expected - 1.0).abs() < 0.2, "{dropped} dropped, {expected} expected");

    assert_eq!(mayhap(&["dedup", "-n", "1k", "-q"], &input).stderr, b"");
}

/// Their records would be printed under the names of other fields.
#[test]
fn tables_with_other_headers_are_no_one_table() {
    let directory = Directory::new("dedup-headers");
    let first = directory.file("t.csv", b"id,url\n1,a\n");
    let same = directory.file("same.csv", b"\xef\xbb\xbf\"id\",\"url\"\r\n2,b\r\n");
    let other = directory.file("other.csv", b"url,id\nc,3\n");
    let output = mayhap(&["dedup", "-q", "-f", "url", &first, &same], b"");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "id,url\n1,a\n2,b\r\n");

    let filter = format!("{}/filter", directory.path());
    assert!(mayhap(&["build", "-q", "-o", &filter], b"a\nc\n").status.success());
    for command in [&["dedup", "-q"][..], &["check", &filter]] {
        let output = mayhap(&[command, &["-f", "url", &first, &other]].concat(), b"");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {message}");
        let expected = format!("{other} has the fields \"url,id\", and {first} has \"id,url\"");
        assert!(message.contains(&expected), "{command:?}: {message}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains('c'), "{command:?}");
    }
    // Where no records are printed, it doesn't matter.
    assert_eq!(mayhap(&["dedup", "-q", "-c", "-f", "url", &first, &other], b"").stdout, b"0\n");
    assert_eq!(mayhap(&["check", &filter, "-c", "-f", "url", &first, &other], b"").stdout, b"2\n");
}

/// It finds nothing new any more, and must not take that for good news.
#[test]
fn a_full_filter_says_that_it_cannot_tell() {
    let directory = Directory::new("dedup-full");
    let input = numbered_lines(50_000);
    for planned in ["10", "1k"] {
        let state = format!("{}/{planned}", directory.path());
        let output = mayhap(&["dedup", "-n", planned, "--state", &state, "--json"], &input);
        let lines = json_lines(&output.stderr);
        let summary = lines.last().unwrap();
        let number = |name: &str| summary[name].as_f64().unwrap();
        let (dropped, expected) = (number("dropped"), number("expected_mistaken"));
        assert!(dropped > 40_000.0 && expected > 0.8 * dropped, "{planned}: {summary}");
        assert!(number("least_mistaken") < expected, "{planned}: {summary}");
        assert!(number("most_mistaken") > 0.99 * dropped, "{planned}: {summary}");
        // The same as `info` says of what was saved.
        let info = mayhap(&["info", "--json", &state], b"");
        let info: Value = serde_json::from_slice(&info.stdout).unwrap();
        assert_eq!(summary["rate_now"], info["rate_now"], "{planned}: {info}");
    }
    let output = mayhap(&["dedup", "-n", "1k", "-d"], &input);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("for a full filter can't tell (rate now 100%, above the"), "{text}");
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
    fails(&["dedup", "--memory", "1"], b"a\n", "1 byte is too few");
    fails(&["dedup", "--memory", "many"], b"a\n", "`many` is not a size");
    fails(&["dedup", "-n", "5", "--memory", "1M"], b"a\n", "cannot be used with");
    fails(&["dedup", "-q", "--json"], b"a\n", "cannot be used with");
}

#[test]
fn a_field_is_the_key_and_records_are_printed_whole() {
    let directory = Directory::new("fields");
    let one = directory.file("one.csv", b"id,mail\n1,ann@x\n2,\"bob, b@x\"\n3,ann@x\n");
    let two = directory.file("two.csv", b"id,mail\n4,\"bob, b@x\"\n5,\"eve\n@x\"\n");
    let all = b"id,mail\n1,ann@x\n2,\"bob, b@x\"\n5,\"eve\n@x\"\n";
    assert_eq!(dedup(&["-f", "mail", &one, &two], b""), all);
    // By number, the first record is one like the others, unless said otherwise.
    assert_eq!(dedup(&["-f", "2", "--header", &one, &two], b""), all);
    assert_eq!(dedup(&["-f", "2", &one], b""), b"id,mail\n1,ann@x\n2,\"bob, b@x\"\n");
    assert_eq!(dedup(&["-f", "2", "--tsv"], b"1\ta\n2\ta\n3\tb\n"), b"1\ta\n3\tb\n");
    assert_eq!(dedup(&["-f", "mail", "-d", &one], b""), b"id,mail\n3,ann@x\n");
    assert_eq!(dedup(&["-f", "mail", "-c", &one], b""), b"1\n");
    fails(&["dedup", "-f", "post", &one], b"", "no field is named \"post\"; there are: id, mail");
}

#[test]
fn repeats_alone_are_printed_or_counted() {
    assert_eq!(dedup(&["-d"], b"a\nb\na\na\nc\nb\n"), b"a\na\nb\n");
    assert_eq!(dedup(&["-d"], b"a\nb\n"), b"");
    assert_eq!(dedup(&["--count"], b"a\nb\na\na\nc\nb\n"), b"3\n");
    assert_eq!(dedup(&["-c"], b""), b"0\n");
    fails(&["dedup", "-d", "-c"], b"", "cannot be used with");

    let output = mayhap(&["dedup", "-d"], b"a\nb\na\n");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("3 lines read, 1 printed as a repeat, 2 new"), "{text}");
    assert!(text.contains("new lines printed by mistake: less than 0.001"), "{text}");
    let output = mayhap(&["dedup", "-c"], b"a\nb\na\n");
    assert_eq!(output.stdout, b"1\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("3 lines read, 1 repeat, 2 new"));
}

#[test]
fn the_count_as_json_is_the_result() {
    let output = mayhap(&["dedup", "-c", "--json"], b"a\nb\na\n");
    assert_eq!(output.stderr, b"");
    let result = &json_lines(&output.stdout)[0];
    assert_eq!((&result["lines"], &result["new"], &result["repeats"]), (&3.into(), &2.into(), &1.into()));
    assert_eq!((&result["printed"], &result["output_bytes"]), (&0.into(), &0.into()));
    assert!(result["expected_mistaken"].as_f64().unwrap() < 1e-6);

    // Far over the plan every repeat is a mistake, and so many were to be expected.
    let output = mayhap(&["dedup", "-d", "--json", "-n", "7k", "-p", "1%"], &numbered_lines(20_000));
    let summary = json_lines(&output.stderr).pop().unwrap();
    let (printed, expected) =
        (summary["printed"].as_f64().unwrap(), summary["expected_mistaken"].as_f64().unwrap());
    assert!(printed > 1_000.0);
    assert!((printed / expected - 1.0).abs() < 0.2, "{printed} printed, {expected} expected");
}

#[test]
fn a_window_forgets_by_the_time_of_the_records() {
    let windowed = |arguments: &[&str], input: &str| {
        let flags = ["-f", "host", "--time", "at", "--window", "1h", "--csv"];
        String::from_utf8(dedup(&[&flags, arguments].concat(), input.as_bytes())).unwrap()
    };
    // Seen again within the hour, three times: remembered. Silent for an hour and a quarter: new.
    let input = "at,host\n1000,a\n4600,a\n8200,a\n8201,b\n12700,a\n";
    assert_eq!(windowed(&[], input), "at,host\n1000,a\n8201,b\n12700,a\n");
    assert_eq!(windowed(&["-d"], input), "at,host\n4600,a\n8200,a\n");
    assert_eq!(windowed(&["-c"], input), "2\n");
    // The same in milliseconds, and as dates.
    let input = "at,host\n1700000000000,a\n1700003600000,a\n1700008100000,a\n";
    assert_eq!(windowed(&[], input), "at,host\n1700000000000,a\n1700008100000,a\n");
    let input = "at,host\n2026-11-16T05:00:00Z,a\n2026-11-16T06:00:00Z,a\n2026-11-16T08:15:00+01:00,a\n";
    assert_eq!(windowed(&[], input), "at,host\n2026-11-16T05:00:00Z,a\n2026-11-16T08:15:00+01:00,a\n");
    assert_eq!(windowed(&["-n", "1000", "-p", "1%"], input), windowed(&[], input));
    // Many lines of many times: what an exact memory of the last time says, which may differ in the quarter.
    let mut state = 3u64;
    let (mut input, mut last) = (String::from("at,host\n"), std::collections::HashMap::new());
    let (mut surely_new, mut surely_old) = (Vec::new(), Vec::new());
    for at in 0..20_000u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (at, host) = (at * 10, (state >> 33) % 500);
        let line = format!("{at},h{host}");
        match last.insert(host, at).map(|before| at - before) {
            None | Some(4_500..) => surely_new.push(line.clone()),
            Some(0..=3_600) => surely_old.push(line.clone()),
            _ => {}
        }
        input += &line;
        input += "\n";
    }
    let printed = windowed(&["-p", "1e-9"], &input);
    let printed: HashSet<&str> = printed.lines().collect();
    assert!(surely_new.len() > 500 && surely_old.len() > 5_000);
    assert!(surely_new.iter().all(|line| printed.contains(line.as_str())));
    assert!(!surely_old.iter().any(|line| printed.contains(line.as_str())));
}

#[test]
fn time_never_goes_back() {
    let input = b"at,host\n10000,a\n1000,b\n10001,b\n";
    let flags = ["dedup", "-f", "host", "--time", "at", "--window", "1h", "--csv"];
    let output = mayhap(&flags, input);
    assert_eq!(output.stdout, b"at,host\n10000,a\n1000,b\n");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("1 line had a time before"), "{text}");
    assert!(text.contains("that remembers for 1h"), "{text}");
    let output = mayhap(&[&flags[..], &["--json"]].concat(), input);
    let summary = &json_lines(&output.stderr)[0];
    assert_eq!((&summary["late_lines"], &summary["window_ms"]), (&1.into(), &3_600_000.into()));
}

#[test]
fn a_window_without_times_goes_by_the_clock() {
    assert_eq!(dedup(&["--window", "1h"], b"a\nb\na\n"), b"a\nb\n");
    let directory = Directory::new("clock");
    let state = format!("{}/state", directory.path());
    let run = || dedup(&["--window", "4ms", "--memory", "64KiB", "--state", &state], b"a\n");
    assert_eq!(run(), b"a\n");
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(run(), b"a\n", "forgotten");
}

#[test]
fn what_is_no_time_is_said() {
    let flags = ["dedup", "-f", "host", "--time", "at", "--window", "1h", "--csv"];
    let output = mayhap(&flags, b"at,host\n1,a\nyesterday,b\n2,c\n");
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b"at,host\n"[..]));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("standard input: \"yesterday\" is no time; --time names a field"), "{message}");
    fails(&flags, b"when,host\n1,a\n", "no field is named \"at\"");
    fails(&["dedup", "--window", "1h", "--time", "at"], b"", "--field");
    fails(&["dedup", "--time", "at", "-f", "1", "--csv"], b"", "--window");
    fails(&["dedup", "--window", "60"], b"", "`60` is not a length of time");
}

#[test]
fn a_state_goes_on_where_it_stopped() {
    let directory = Directory::new("state");
    let state = format!("{}/seen.mayhap", directory.path());
    let run = |arguments: &[&str], input: &[u8]| {
        dedup(&[&["--state", &state, "-n", "10k"], arguments].concat(), input)
    };
    assert_eq!(run(&[], b"a\nb\na\n"), b"a\nb\n");
    assert_eq!(run(&[], b"b\nc\n"), b"c\n");
    assert_eq!(run(&["-c"], b"a\nb\nc\nd\n"), b"3\n");
    assert_eq!(run(&["-d"], b"d\ne\n"), b"d\n");
    assert_eq!(run(&["-p", "1e-6"], b"e\nf\n"), b"f\n");
    // It needn't be told again what it is.
    assert_eq!(dedup(&["--state", &state], b"f\ng\n"), b"g\n");
    let output = mayhap(&["dedup", "--state", &state], b"");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("seen.mayhap now holds about 7 of the 10 000 lines it was made for"), "{text}");
    let output = mayhap(&["dedup", "--json", "--state", &state], b"");
    assert_eq!(json_lines(&output.stderr)[0]["state"]["planned_keys"], 10_000);
    assert_eq!(directory.names(), ["seen.mayhap"], "neither a lock nor half a file stays");
}

#[test]
fn a_state_has_room_for_tomorrow() {
    let directory = Directory::new("room");
    let small = directory.file("small", b"a\n");
    let state = format!("{}/state", directory.path());
    let output = mayhap(&["dedup", "--json", "--memory", "1MiB", "--state", &state, &small], b"");
    assert!(json_lines(&output.stderr)[0]["memory_bytes"].as_u64().unwrap() > 1_000_000);
    assert_eq!(dedup(&["--memory", "1MiB", "--state", &state], b"a\nb\n"), b"b\n");

    // It fills over the days, and says so every day.
    let state = format!("{}/little", directory.path());
    let day = |from: u64| {
        let lines: String = (from..from + 600).map(|number| format!("{number}\n")).collect();
        let flags = ["dedup", "-n", "1k", "-p", "1%", "--state", &state, "--json"];
        json_lines(&mayhap(&flags, lines.as_bytes()).stderr).remove(0)
    };
    let warnings = |summary: &Value| summary["warnings"].as_array().unwrap().clone();
    let first = day(0);
    assert_eq!((&first["over_rate"], warnings(&first).len()), (&false.into(), 0));
    let second = day(600);
    assert_eq!(second["over_rate"], true);
    assert!(warnings(&second)[0].as_str().unwrap().contains("a new state with a larger -n"));
    assert_eq!(warnings(&day(600)).len(), 1);
}

#[test]
fn a_state_of_another_make_is_refused() {
    let directory = Directory::new("disagree");
    let state = format!("{}/state", directory.path());
    dedup(&["--state", &state, "-n", "1000", "-p", "1%"], b"a\n");
    let before = std::fs::read(&state).unwrap();
    for (flags, expected) in [
        (&["-p", "0.1%"][..], "was made for -p 1%, not 0.1%; say the same"),
        (&["-n", "2000"], "was made for -n 1000, not 2000"),
        (&["--memory", "1MiB"], "of memory, not 1.05 MB (1 MiB)"),
        (&["--window", "1h"], "was made without --window, not with --window 1h"),
    ] {
        fails(&[&["dedup", "--state", &state], flags].concat(), b"b\n", expected);
    }
    let window = format!("{}/window", directory.path());
    dedup(&["--state", &window, "--window", "1h", "-n", "1000"], b"a\n");
    fails(&["dedup", "--state", &window], b"", "was made with --window 1h, not without --window");
    fails(&["dedup", "--state", &window, "--window", "2h"], b"", "--window 1h, not with --window 2h");

    let mut damaged = before.clone();
    let end = damaged.len() - 100;
    damaged[end] ^= 1;
    fails(&["dedup", "--state", &directory.file("damaged", &damaged)], b"b\n", "checksum");
    let text = directory.file("text", b"hello\n");
    fails(&["dedup", "--state", &text], b"b\n", "mayhap: ");
    assert_eq!(std::fs::read(&text).unwrap(), b"hello\n");
    fails(&["dedup", "--state", directory.path()], b"b\n", "is a directory");
    let nowhere = format!("{}/no/state", directory.path());
    fails(&["dedup", "--state", &nowhere], b"b\n", "there is no directory");
    assert_eq!(std::fs::read(&state).unwrap(), before);
    assert_eq!(directory.names(), ["damaged", "state", "text", "window"]);
}

#[test]
fn a_state_may_have_a_secret_key() {
    let directory = Directory::new("secret");
    let (key, other) = (directory.file("key", &[b'a'; 32]), directory.file("other", &[b'b'; 32]));
    let state = format!("{}/state", directory.path());
    let run = |input: &[u8]| dedup(&["--state", &state, "-n", "1k", "--key-file", &key], input);
    assert_eq!(run(b"a\n"), b"a\n");
    assert_eq!(run(b"a\nb\n"), b"b\n");
    fails(&["dedup", "--state", &state], b"c\n", "key");
    fails(&["dedup", "--state", &state, "--key-file", &other], b"c\n", "key");
}

#[test]
fn after_an_error_the_state_is_as_it_was() {
    let directory = Directory::new("unchanged");
    let state = format!("{}/state", directory.path());
    let flags = ["dedup", "--state", &state, "-n", "1k", "--max-line", "10"];
    assert_eq!(mayhap(&flags, b"a\n0123456789abc\n").status.code(), Some(2));
    assert_eq!(directory.names(), [""; 0]);
    assert_eq!(mayhap(&flags, b"a\n").stdout, b"a\n");
    let before = std::fs::read(&state).unwrap();
    assert_eq!(mayhap(&flags, b"b\n0123456789abc\n").status.code(), Some(2));
    assert_eq!(std::fs::read(&state).unwrap(), before);

    // A disk that is full has not kept everything.
    if let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") {
        let mut child = command(&["dedup", "--state", &state]).stdout(full).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"b\n").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the output"));
        assert_eq!(std::fs::read(&state).unwrap(), before);
    }

    // A reader that left has not read everything.
    let mut child = command(&["dedup", "--state", &state]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let writer = std::thread::spawn(move || drop(stdin.write_all(&numbered_lines(500_000))));
    stdout.read_line(&mut String::new()).unwrap();
    drop(stdout);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    writer.join().unwrap();
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert!(message.contains("left early; the state is as it was"), "{message}");
    assert_eq!(std::fs::read(&state).unwrap(), before);
    assert_eq!(directory.names(), ["state"]);
}

/// Starts it on a state, and has it print a line.
fn started(state: &str) -> (std::process::Child, std::process::ChildStdin) {
    let mut child = command(&["dedup", "-n", "1k", "--state", state]).spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    stdin.write_all(b"one\nhalf a li").expect("it reads");
    let mut printed = String::new();
    let stdout = child.stdout.as_mut().expect("stdout is piped");
    BufReader::new(stdout).read_line(&mut printed).expect("it prints");
    assert_eq!(printed, "one\n");
    (child, stdin)
}

fn send(signal: &str, child: &std::process::Child) {
    let process = child.id().to_string();
    let status = std::process::Command::new("kill").args([signal, &process]).status().expect("kill is there");
    assert!(status.success());
}

#[test]
fn a_signal_saves_what_was_printed() {
    for (signal, code) in [("-TERM", 143), ("-INT", 130)] {
        let directory = Directory::new(&format!("signal{signal}"));
        let state = format!("{}/state", directory.path());
        let (mut child, stdin) = started(&state);
        send(signal, &child);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        drop(stdin);
        let mut message = String::new();
        child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
        assert!(message.contains("1 line read, 1 printed"), "{message}");
        assert_eq!(dedup(&["--state", &state], b"one\nhalf a line\n"), b"half a line\n");
        assert_eq!(directory.names(), ["state"]);
    }
}

#[test]
fn one_state_is_for_one_at_a_time() {
    let directory = Directory::new("lock");
    let state = format!("{}/state", directory.path());
    dedup(&["-n", "1k", "--state", &state], b"zero\n");
    let (mut child, stdin) = started(&state);
    fails(&["dedup", "--state", &state], b"two\n", &format!(" is using {state}; wait until it has ended"));
    // Killed, it leaves the state as it was, and its lock to whoever comes.
    send("-KILL", &child);
    child.wait().unwrap();
    drop(stdin);
    assert_eq!(dedup(&["--state", &state], b"zero\none\n"), b"one\n");
    assert_eq!(directory.names(), ["state"]);
}

#[test]
fn the_time_of_a_parquet_file_is_refused_by_name() {
    let types = format!("{}/../../testdata/parquet/types.parquet", env!("CARGO_MANIFEST_DIR"));
    let arguments = ["dedup", "-f", "name", "--time", "at", "--window", "1h", &types];
    fails(&arguments, b"", "--time is for tables in text, and");
}
