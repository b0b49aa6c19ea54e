//! `mayhap missing`, as a user runs it.

mod run;

use std::io::{BufRead as _, BufReader, Read as _};

use run::{Directory, command, fails, mayhap};
use serde_json::Value;

/// Runs it quietly; returns what it printed, and its exit code.
fn missing(arguments: &[&str], input: &[u8]) -> (String, i32) {
    let output = mayhap(&[&["missing", "-q"], arguments].concat(), input);
    assert!(output.stderr.is_empty(), "{output:?}");
    (String::from_utf8(output.stdout).expect("text"), output.status.code().expect("an exit code"))
}

fn json_lines(text: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(text).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
}

#[test]
fn prints_what_does_not_occur_in_order() {
    assert_eq!(missing(&["-r", "0..10"], b"3\n1\n4\n1\n5\n9\n2\n6\n"), ("0\n7\n8\n".to_owned(), 0));
    assert_eq!(missing(&["--range", "5..=8", "-"], b"6\n"), ("5\n7\n8\n".to_owned(), 0));
    assert_eq!(missing(&["-r", "1..1k", "-l", "1"], b"1\n2\n3\n5\n"), ("4\n".to_owned(), 0));
}

#[test]
fn nothing_missing_is_exit_code_1() {
    assert_eq!(missing(&["-r", "0..3"], b"2\n0\n1\n"), (String::new(), 1));
    assert_eq!(missing(&["-r", "0..3", "-c"], b"2\n0\n1\n"), ("0\n".to_owned(), 1));
    assert_eq!(missing(&["-r", "0..3", "-c"], b"2\n"), ("2\n".to_owned(), 0));
}

#[test]
fn runs_are_one_line_each() {
    let input = b"100\n104\n105\n";
    assert_eq!(missing(&["-r", "100..110", "--ranges"], input).0, "101..=103\n106..=109\n");
    assert_eq!(missing(&["-r", "100..110", "--ranges", "-l", "1"], input).0, "101..=103\n");
    // A number that stands alone is written as such.
    assert_eq!(missing(&["-r", "0..3", "--ranges"], b"0\n2\n").0, "1\n");
}

#[test]
fn agrees_with_a_plain_set_on_a_large_input() {
    let mut present = vec![false; 200_000];
    let mut input = String::new();
    let mut state = 9u64;
    for _ in 0..300_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = (state >> 40) as usize % present.len();
        present[number] = true;
        input += &format!("{}\n", number + 1_000_000);
    }
    let absent = || present.iter().enumerate().filter(|(_, is_there)| !**is_there);
    let expected: String = absent().map(|(number, _)| format!("{}\n", number + 1_000_000)).collect();
    let directory = Directory::new("missing-large");
    let file = directory.file("numbers", input.as_bytes());
    assert_eq!(missing(&["-r", "1M..1.2M", &file], b"").0, expected);
    assert_eq!(missing(&["-r", "1M..1.2M", "-c", &file], b"").0, format!("{}\n", absent().count()));
}

#[test]
fn the_edge_of_all_numbers_works() {
    let last = "18446744073709551615";
    let range = format!("18446744073709551613..={last}");
    assert_eq!(
        missing(&["-r", &range], b"18446744073709551614\n").0,
        format!("18446744073709551613\n{last}\n")
    );
    // Almost all of them: kept by what is there, not by a bit for each.
    let (count, _) = missing(&["-r", &format!("1..={last}"), "-c"], b"7\n7\n0\n");
    assert_eq!(count, "18446744073709551614\n");
    let (runs, _) = missing(&["-r", &format!("1..={last}"), "--ranges"], b"7\n");
    assert_eq!(runs, format!("1..=6\n8..={last}\n"));
}

#[test]
fn the_summary_counts_what_was_no_part_of_it() {
    let input = b" 1 \n2\n2\n-3\n99\n18446744073709551616\n";
    let output = mayhap(&["missing", "-r", "0..4"], input);
    assert_eq!(output.stdout, b"0\n3\n");
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "mayhap: 2 of 4 numbers are missing; 6 lines read, 3 outside the range, 1 repeated\n"
    );
    let output = mayhap(&["missing", "-r", "0..4", "--skip-invalid", "-c"], b"1\nabc\n\n1.5\n");
    assert_eq!(output.stdout, b"3\n");
    assert!(String::from_utf8(output.stderr).unwrap().contains("4 lines read, 3 no numbers"));
    let output = mayhap(&["missing", "-r", "1..=1", "--skip-invalid"], b"1\none\n");
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "mayhap: 0 of 1 number is missing; 2 lines read, 1 no number\n"
    );
}

#[test]
fn json_has_the_runs_and_the_summary() {
    let output = mayhap(&["missing", "-r", "0..10", "--json"], b"3\n4\n4\n77\n");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    let lines = json_lines(&output.stdout);
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[0]["first"], &lines[0]["last"]), (&0.into(), &2.into()));
    assert_eq!((&lines[1]["first"], &lines[1]["last"]), (&5.into(), &9.into()));
    let summary = &lines[2];
    assert_eq!(
        (&summary["missing"], &summary["present"], &summary["numbers"]),
        (&8.into(), &2.into(), &10.into())
    );
    assert_eq!(
        (&summary["repeats"], &summary["outside"], &summary["invalid"]),
        (&1.into(), &1.into(), &0.into())
    );
    assert_eq!(summary["range"], "0..=9");
    let output = mayhap(&["missing", "-r", "0..10", "--json", "-c"], b"");
    assert_eq!(json_lines(&output.stdout).len(), 1);
}

#[test]
fn numbers_come_from_files_columns_and_nul_ended_records() {
    let directory = Directory::new("missing-inputs");
    let (one, two) = (directory.file("one", b"0\r\n1\r\n"), directory.file("two", b"3"));
    assert_eq!(missing(&["-r", "0..5", &one, "-", &two], b"4\n").0, "2\n");
    let table = directory.file("users.csv", b"name,id\nAda,1\n\"Bob, the\",2\n");
    assert_eq!(missing(&["-r", "1..4", "-f", "id", &table], b"").0, "3\n");
    assert_eq!(missing(&["-r", "0..3", "-z"], b"0\x002\0").0, "1\n");
}

#[test]
fn what_is_wrong_is_said() {
    let directory = Directory::new("missing-wrong");
    let good = directory.file("good", b"1\n2\n");
    let bad = directory.file("bad", b"1\n\n3\n");
    let absent = format!("{}/absent", directory.path());
    for (arguments, input, expected) in [
        (&[][..], &b""[..], "--range"),
        (&["-r", "5"], b"", "`5` is not a range; write 0..1M"),
        (&["-r", "5..5"], b"", "the range `5..5` is empty"),
        (&["-r", "0..=18446744073709551615"], b"", "2^64 numbers"),
        (&["-r", "0..1e30"], b"", "too large"),
        (&["-r", "-5..5"], b"", "`-5` is not a count"),
        (&["-r", "0..9"], b"1\nx y\n", "standard input, line 2: \"x y\" is no whole number; --skip-invalid"),
        (&["-r", "0..9", &good, &bad], b"", "bad, line 2: \"\" is no whole number"),
        (&["-r", "0..9", &absent], b"", "no such file"),
        (&["-r", "0..9", directory.path()], b"", "is a directory"),
        (&["-r", "0..9", "-c", "--ranges"], b"", "cannot be used with"),
        (&["-r", "0..1T", "--memory", "100"], b"1\n2\n900000000\n", "--memory allows"),
    ] {
        fails(&[&["missing"], arguments].concat(), input, expected);
    }
}

#[test]
fn too_large_a_bitmap_is_refused_before_it_is_made() {
    let directory = Directory::new("missing-memory");
    // As many numbers as a dense bitmap pays for.
    let many: String = (0..60_000).map(|number| format!("{}\n", number % 10)).collect();
    let file = directory.file("many", many.as_bytes());
    fails(&["missing", "-r", "0..1M", "--memory", "100k", &file], b"", "takes 125 kB");
    assert_eq!(missing(&["-r", "0..1M", "--memory", "125056", "-c", &file], b"").0, "999990\n");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mut child = command(&["missing", "-r", "0..10M"]).spawn().unwrap();
    drop(child.stdin.take());
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    assert_eq!(first, "0\n");
    drop(stdout);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(message, "");
}
