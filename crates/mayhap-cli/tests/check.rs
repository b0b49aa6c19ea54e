//! `mayhap check`, as a user runs it.

mod run;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Output;

use mayhap::codec::Existing;
use mayhap::formats::guava::{GuavaBloom, Sizing};
use mayhap::hash::SecretKey;
use mayhap::{Bitmap, BloomFilter, CuckooFilter};
use run::{Directory, command, fails, gzip, mayhap, refuses_own_output};
use serde_json::Value;

/// A filter that isn't wrong within a test.
fn filter_of(directory: &Directory, name: &str, keys: &[&str]) -> String {
    let mut filter = BloomFilter::with_rate(1_000, 1e-9).expect("a filter");
    for key in keys {
        let _ = filter.insert(*key);
    }
    let path = format!("{}/{name}", directory.path());
    filter.save(&path, Existing::Replace).expect("a filter file");
    path
}

/// Expects this on stdout, and this exit code.
#[track_caller]
fn prints(arguments: &[&str], input: &[u8], expected: &[u8], code: i32) {
    let output: Output = mayhap(&[&["check"], arguments].concat(), input);
    assert_eq!(String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(expected), "{output:?}");
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn prints_what_is_in_the_filter_or_what_is_not() {
    let directory = Directory::new("check-plain");
    let filter = filter_of(&directory, "filter", &["a", "b", ""]);
    prints(&[&filter], b"a\nx\nb\ny\n\na", b"a\nb\n\na\n", 0);
    prints(&[&filter, "-"], b"a\nx\n", b"a\n", 0);
    prints(&[&filter, "-v"], b"a\nx\nb\ny\n", b"x\ny\n", 0);
    prints(&[&filter], b"x\ny\n", b"", 1);
    prints(&[&filter, "-v"], b"a\nb\n", b"", 1);
    prints(&[&filter], b"", b"", 1);
    let (one, two) = (directory.file("one", b"a\nx"), directory.file("two", b"b\ny\n"));
    prints(&[&filter, &two, "-", &one], b"x\n\n", b"b\n\na\n", 0);
}

#[test]
fn counts_or_says_it_by_the_exit_code() {
    let directory = Directory::new("check-count");
    let filter = filter_of(&directory, "filter", &["a", "b"]);
    prints(&[&filter, "-c"], b"a\nx\nb\ny\na\n", b"3\n", 0);
    prints(&[&filter, "-c", "-v"], b"a\nx\nb\ny\na\n", b"2\n", 0);
    prints(&[&filter, "-c"], b"x\n", b"0\n", 1);
    prints(&[&filter, "-q"], b"x\na\n", b"", 0);
    prints(&[&filter, "-q"], b"x\n", b"", 1);
    prints(&[&filter, "-q", "-v"], b"a\n", b"", 1);
    fails(&["check", &filter, "-q", "-c"], b"", "cannot be used with");
}

#[test]
fn quiet_stops_at_the_first_found() {
    let directory = Directory::new("check-quiet");
    let filter = filter_of(&directory, "filter", &["a"]);
    let mut child = command(&["check", "-q", &filter]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"x\na\n").unwrap();
    // Its input is still open: whoever reads on would wait for ever.
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn several_filters_are_asked_at_once() {
    let directory = Directory::new("check-several");
    let one = filter_of(&directory, "one", &["a", "b"]);
    // Another kind with another hash.
    let mut cuckoo = CuckooFilter::builder().keys(1_000).rate(1e-6).seed(7).build().unwrap();
    for key in &["b", "c"] {
        let _ = cuckoo.insert(*key);
    }
    let two = format!("{}/two", directory.path());
    cuckoo.save(&two, Existing::Refuse).unwrap();
    let input = b"a\nb\nc\nd\n";
    prints(&[&one, "-F", &two], input, b"a\nb\nc\n", 0);
    prints(&[&one, "--filter", &two, "--all"], input, b"b\n", 0);
    prints(&[&one, "-F", &two, "-v"], input, b"d\n", 0);
    prints(&[&one, "-F", &two, "--all", "-v"], input, b"a\nc\nd\n", 0);
    prints(&[&one, "-F", &two, "-c"], input, b"3\n", 0);
    let named = format!("{one}\ta\n{one},{two}\tb\n{two}\tc\n");
    prints(&[&one, "-F", &two, "--which"], input, named.as_bytes(), 0);
    prints(&[&one, "-F", &two, "--which", "-c"], input, format!("2\t{one}\n2\t{two}\n").as_bytes(), 0);
}

#[test]
fn json_for_each_record_and_for_the_count() {
    let directory = Directory::new("check-json");
    let filter = filter_of(&directory, "filter", &["a", "é"]);
    let output = mayhap(&["check", "--json", &filter], "a\r\nx\r\né\r\n".as_bytes());
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let records: Vec<&str> = lines.iter().map(|line| line["record"].as_str().unwrap()).collect();
    assert_eq!(records, ["a", "é"]);
    assert_eq!(lines[0]["found_in"][0], filter.as_str());

    // What is part of the key stays, and what is no text is given by its bytes, as `hash` does.
    let record = |arguments: &[&str], input: &[u8]| -> Value {
        let output = mayhap(&[&["check", "--json", "-v", &filter], arguments].concat(), input);
        serde_json::from_slice(&output.stdout).expect("one JSON object")
    };
    assert_eq!(record(&["--line-ends", "keep"], b"k\r\n")["record"], "k\r");
    assert_eq!(record(&["--line-ends", "strip"], b"k\r\n")["record"], "k");
    assert_eq!(record(&["-z"], b"k\r\n\0")["record"], "k\r\n");
    assert_eq!(record(&["--csv", "-f", "1"], b"k,\"l\nm\"\r\n")["record"], "k,\"l\nm\"");
    let bytes = record(&[], b"\xffk\n");
    assert_eq!((&bytes["record_hex"], bytes.get("record")), (&"ff6b".into(), None));

    let output = mayhap(&["check", "--json", "-c", &filter], b"a\nx\n");
    let count: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&count["lines"], &count["matching"]), (&2.into(), &1.into()));
    assert_eq!(count["filters"][0]["found"], 1);
}

#[test]
fn the_key_may_be_one_field_of_a_record() {
    let directory = Directory::new("check-table");
    let filter = filter_of(&directory, "filter", &["ann, the first", "bob"]);
    let table = directory.file("t.csv", b"id,name\n1,\"ann, the first\"\n2,carl\n3,\"bob\"\n");
    prints(&[&filter, "-f", "name", &table], b"", b"id,name\n1,\"ann, the first\"\n3,\"bob\"\n", 0);
    prints(&[&filter, "-f", "2", "--header", "-v", &table], b"", b"id,name\n2,carl\n", 0);
    // One header for all tables, and none where nothing follows it.
    let again = [&filter, "-f", "name", "-v", &table, &table];
    prints(&again, b"", b"id,name\n2,carl\n2,carl\n", 0);
    let absent = directory.file("none.csv", b"id,name\n2,carl\n");
    prints(&[&filter, "-f", "name", &absent], b"", b"", 1);
    prints(&[&filter, "-f", "name", "-c", &table], b"", b"2\n", 0);
    prints(&[&filter, "-f", "2", "--tsv"], b"1\tbob\n2\tx\n", b"1\tbob\n", 0);
    fails(&["check", &filter, "-f", "nickname", &table], b"", "no field is named \"nickname\"");
    fails(&["check", &filter, "-f", "2", "--csv"], b"only one\n", "has 1 field, and no field 2");
    fails(&["check", &filter, "-f", "2"], b"a\n", "what separates the fields");
}

#[test]
fn line_ends_are_what_they_are() {
    let directory = Directory::new("check-ends");
    let filter = filter_of(&directory, "filter", &["a", "b\nb"]);
    prints(&[&filter], b"a\r\nx\r\n", b"a\r\n", 0);
    // The last line may have none, and is printed with that of the others.
    prints(&[&filter], b"x\r\na", b"a\r\n", 0);
    prints(&[&filter], b"x\na", b"a\n", 0);
    prints(&[&filter, "-z"], b"a\0b\nb\0x\0", b"a\0b\nb\0", 0);
    prints(&[&filter, "--line-ends", "strip"], b"a\r\na\n", b"a\r\na\n", 0);
    prints(&[&filter, "--line-ends", "keep"], b"a\r\na\n", b"a\n", 0);
    let output = mayhap(&["check", &filter], b"a\r\na\n");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--line-ends strip"));
}

/// It would read what it prints, and print that again, until the disk is full.
#[cfg(unix)]
#[test]
fn the_output_is_not_read() {
    let directory = Directory::new("check-own-output");
    let filter = filter_of(&directory, "filter", &["a"]);
    let (file, other) = (directory.file("f", b"a\na\n"), directory.file("other", b"a\n"));
    refuses_own_output(&["check", &filter, &other, &file], &file);
    refuses_own_output(&["check", &filter, "--json", &file], &file);
    refuses_own_output(&["check", &filter, "-"], &file);
    refuses_own_output(&["hash", "-i", &file], &file);
    refuses_own_output(&["dedup", "-d", &file], &file);
    // A number comes when all has been read, and another file is none of the inputs.
    for arguments in [&["check", &filter, "-c", &file][..], &["dedup", "-c", "-q", &file]] {
        let append = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
        let status = command(arguments).stdout(append).status().unwrap();
        assert!(status.success(), "{arguments:?}");
    }
    let elsewhere = std::fs::File::create(&other).unwrap();
    let status = command(&["check", &filter, &file]).stdout(elsewhere).status().unwrap();
    assert!(status.success());
    assert_eq!(std::fs::read(&other).unwrap(), b"a\na\n");
}

#[test]
fn packed_input_is_unpacked() {
    let directory = Directory::new("check-packed");
    let filter = filter_of(&directory, "filter", &["a"]);
    let file = directory.file("input.gz", &gzip(b"a\nx\n"));
    prints(&[&filter, &file], b"", b"a\n", 0);
}

#[test]
fn bitmaps_are_asked_for_numbers() {
    let directory = Directory::new("check-bitmap");
    let mut bitmap = Bitmap::dense(1_000).unwrap();
    bitmap.insert_range(10..=12).unwrap();
    let path = format!("{}/bitmap", directory.path());
    bitmap.save(&path, Existing::Refuse).unwrap();
    prints(&[&path], b"9\n10\n12\n13\n1000\n18446744073709551615\n", b"10\n12\n", 0);
    prints(&[&path, "-c", "-v"], b"9\n10\n", b"1\n", 0);
    fails(&["check", &path], b"ten\n", "\"ten\" is no whole number");
    fails(&["check", &path], b"-1\n", "\"-1\" is no whole number");
}

#[test]
fn filters_of_other_systems_are_asked_when_they_are_named() {
    let directory = Directory::new("check-foreign");
    let mut guava = GuavaBloom::with_rate(1_000, 1e-9, Sizing::Guava31).unwrap();
    guava.insert("apple");
    let path = directory.file("guava", &guava.to_bytes().unwrap());
    prints(&[&path, "--format", "guava"], b"apple\npear\n", b"apple\n", 0);
    fails(&["check", &path], b"apple\n", "not a mayhap file");
    let ours = filter_of(&directory, "ours", &["apple"]);
    fails(&["check", &ours, "--format", "guava"], b"apple\n", "leave out --format");
}

#[test]
fn a_secret_key_is_asked_for() {
    let directory = Directory::new("check-secret");
    let key = SecretKey::new([0xab; 16]);
    let mut filter = BloomFilter::builder().keys(1_000).rate(1e-9).secret_key(key).build().unwrap();
    filter.insert("a");
    let path = format!("{}/filter", directory.path());
    filter.save(&path, Existing::Refuse).unwrap();
    let right = directory.file("right", b"abababababababababababababababab\n");
    prints(&[&path, "--key-file", &right], b"a\nx\n", b"a\n", 0);
    fails(&["check", &path], b"a\n", "--key-file");
    let wrong = directory.file("wrong", b"00000000000000000000000000000000");
    fails(&["check", &path, "--key-file", &wrong], b"a\n", "another secret key");
    let empty = directory.file("empty", b"");
    fails(&["check", &path, "--key-file", &empty], b"a\n", "holds no secret key");
    fails(&["check", &path, "--key-file", "/missing/key"], b"a\n", "no such file");

    // One that nobody needs is a mistake; of several filters some may need it.
    let plain = filter_of(&directory, "plain", &["b"]);
    fails(&["check", &plain, "--key-file", &right], b"a\n", "plain was made without one; leave it out");
    fails(&["check", &plain, "-F", &plain, "--key-file", &right], b"a\n", "made without one");
    prints(&[&path, "-F", &plain, "--key-file", &right], b"a\nb\nx\n", b"a\nb\n", 0);
    let guava = GuavaBloom::with_rate(10, 0.1, Sizing::Guava31).unwrap();
    let theirs = directory.file("theirs", &guava.to_bytes().unwrap());
    fails(&["check", "--format", "guava", &theirs, "--key-file", &right], b"a\n", "have no secret key");
}

#[test]
fn what_is_no_filter_is_said_before_anything_is_read() {
    let directory = Directory::new("check-bad");
    let good = filter_of(&directory, "good", &["a"]);
    let bytes = std::fs::read(&good).unwrap();
    let missing = format!("{}/missing", directory.path());
    fails(&["check", &missing], b"a\n", &format!("cannot read {missing}: no such file"));
    fails(&["check", directory.path()], b"a\n", "is a directory");
    fails(&["check", &directory.file("text", b"just some text\n")], b"a\n", "not a mayhap file");
    fails(&["check", &directory.file("empty", b"")], b"a\n", "cut off");
    fails(&["check", &directory.file("short", &bytes[..bytes.len() / 2])], b"a\n", "cut off");
    let mut flipped = bytes.clone();
    flipped[20] ^= 1;
    fails(&["check", &directory.file("flipped", &flipped)], b"a\n", "damaged");
    fails(&["check", &good, &missing], b"", "no such file");
    fails(&["check", &good, "-F", &missing], b"", "no such file");
    fails(&["check"], b"", "FILTER");
}

#[test]
fn a_large_input_agrees_with_the_filter() {
    let directory = Directory::new("check-large");
    let mut filter = BloomFilter::with_rate(100_000, 1e-9).unwrap();
    let line = |number: u64| format!("https://example.org/{number}\n");
    for number in (0..100_000u64).step_by(2) {
        let _ = filter.insert(line(number).trim_end());
    }
    let path = format!("{}/filter", directory.path());
    filter.save(&path, Existing::Refuse).unwrap();
    let input: String = (0..100_000).map(line).collect();
    let even: String = (0..100_000).step_by(2).map(line).collect();
    prints(&[&path], input.as_bytes(), even.as_bytes(), 0);
    prints(&[&path, "-c", "-v"], input.as_bytes(), b"50000\n", 0);
}

#[test]
fn lines_are_printed_as_they_come() {
    let directory = Directory::new("check-live");
    let filter = filter_of(&directory, "filter", &["one", "two"]);
    let mut child = command(&["check", &filter]).spawn().unwrap();
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
fn a_reader_that_leaves_early_is_no_error() {
    let directory = Directory::new("check-closed");
    let filter = filter_of(&directory, "filter", &["a"]);
    let mut child = command(&["check", &filter]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    // More than all pipes on the way can hold.
    let writer = std::thread::spawn(move || drop(stdin.write_all("a\n".repeat(5_000_000).as_bytes())));
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    drop(stdout);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    writer.join().unwrap();
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(message, "");
}
