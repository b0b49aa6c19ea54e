//! `mayhap import`, `export` and `convert`, as a user runs them, on what the other systems really wrote.

#![allow(clippy::unwrap_used)] // What a test stands on either is there, or the test fails.

mod run;

use std::fs;
use std::path::Path;

use mayhap::codec::Existing;
use mayhap::formats::guava::{GuavaBloom, Sizing};
use mayhap::formats::leveldb::LevelDbFilter;
use mayhap::formats::redisbloom::{CuckooLimits, RdbVersion, RedisBloom, RedisCuckoo};
use mayhap::formats::{ForeignFile, ForeignFilter, KeyForm};
use mayhap::hash::SecretKey;
use mayhap::{Bitmap, BloomFilter};
use run::{Directory, command, fails, mayhap};
use serde_json::Value;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/golden");

fn golden(name: &str) -> String {
    format!("{GOLDEN}/{name}")
}

/// Some cases of a file of recorded ones: the first, and then every seventh.
fn cases(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(golden(name)).expect("the recorded cases are in the repository");
    text.lines().step_by(7).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn hex(case: &Value, field: &str) -> Vec<u8> {
    let hex = case[field].as_str().unwrap();
    (0..hex.len()).step_by(2).map(|place| u8::from_str_radix(&hex[place..place + 2], 16).unwrap()).collect()
}

fn path(directory: &Directory, name: &str) -> String {
    format!("{}/{name}", directory.path())
}

/// Runs the program, expects it to succeed, and gives what it printed.
fn succeeds(arguments: &[&str], input: &[u8]) -> String {
    let output = mayhap(arguments, input);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    assert!(output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&succeeds(arguments, b"")).unwrap()
}

/// Imports the bytes and exports them again: they must be the same.
fn round_trip(directory: &Directory, format: &[&str], bytes: &[u8]) {
    let file = directory.file("theirs", bytes);
    let (ours, again) = (path(directory, "ours.mayhap"), path(directory, "again"));
    succeeds(&[&["import", "-q", "--force", &file, "-o", &ours, "--format"], format].concat(), b"");
    mayhap::codec::verify(&ours).expect("every checksum is right");
    succeeds(&["export", "-q", "--force", &ours, "-o", &again, "--format", format[0]], b"");
    assert!(fs::read(&again).unwrap() == bytes, "{format:?}");
}

#[test]
fn what_was_imported_is_exported_byte_for_byte() {
    let directory = Directory::new("foreign-bytes");
    for (format, name, field) in [
        ("guava", "guava_mitz32.jsonl", "serialized_hex"),
        ("guava", "guava_mitz64.jsonl", "serialized_hex"),
        ("guava", "guava_edge.jsonl", "serialized_hex"),
        ("spark", "spark_v1.jsonl", "serialized_hex"),
        ("spark", "spark_v2.jsonl", "serialized_hex"),
        ("leveldb", "leveldb_filters.jsonl", "filter_hex"),
        ("redis", "redisbloom_bf.jsonl", "dump_hex"),
        ("redis", "redisbloom_cf.jsonl", "dump_hex"),
        ("redis-dump", "redisbloom_dump_redis70.jsonl", "dump_hex"),
    ] {
        for case in cases(name) {
            round_trip(&directory, &[format], &hex(&case, field));
        }
    }
    for case in cases("sbbf.jsonl") {
        round_trip(&directory, &["parquet"], &[hex(&case, "header_hex"), hex(&case, "bitset_hex")].concat());
    }
    for case in cases("crawler_fnv.jsonl") {
        let bits = case["m"].as_u64().unwrap();
        let mut bytes = vec![0; usize::try_from(bits.div_ceil(8)).unwrap()];
        for position in case["set_indices"].as_array().unwrap() {
            let position = usize::try_from(position.as_u64().unwrap()).unwrap();
            bytes[position / 8] |= 1 << (position % 8);
        }
        let (hashes, bits) = (case["k"].to_string(), bits.to_string());
        round_trip(&directory, &["crawler", "--hashes", &hashes, "--bits", &bits], &bytes);
    }
}

/// The lines that a few lines of Python make of the answers of SCANDUMP.
fn lines_of_chunks(case: &Value) -> Vec<u8> {
    let mut text = String::new();
    for chunk in case["scandump"].as_array().unwrap() {
        text += &format!("{} {}\n", chunk["iterator"], base64(&hex(chunk, "hex")));
    }
    text.into_bytes()
}

/// Base64 in the plainest way, not the program's.
fn base64(bytes: &[u8]) -> String {
    let digits: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let bits: Vec<usize> =
        bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| usize::from(byte >> bit & 1))).collect();
    let mut text: String = bits
        .chunks(6)
        .map(|six| digits[(0..6).fold(0, |number, place| number * 2 + six.get(place).copied().unwrap_or(0))])
        .collect();
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

#[test]
fn redis_chunks_and_payloads_are_the_same_filter() {
    let directory = Directory::new("foreign-chunks");
    let (ours, out) = (path(&directory, "ours.mayhap"), path(&directory, "out"));
    for case in [cases("redisbloom_bf.jsonl"), cases("redisbloom_cf.jsonl")].concat() {
        let text = lines_of_chunks(&case);
        let chunks = directory.file("chunks", &text);
        succeeds(&["import", "-q", "--force", "--format", "redis", &chunks, "-o", &ours], b"");
        succeeds(&["export", "-q", "--force", "--chunks", &ours, "-o", &out], b"");
        assert_eq!(fs::read(&out).unwrap(), text, "{}", case["id"]);
        // The payload that the same Redis gave for the same filter.
        succeeds(&["export", "-q", "--force", "--rdb-version", "12", &ours, "-o", &out], b"");
        assert_eq!(fs::read(&out).unwrap(), hex(&case, "dump_hex"), "{}", case["id"]);

        let dump = directory.file("dump", &hex(&case, "dump_hex"));
        succeeds(
            &["convert", "-q", "--force", "--from", "redis", &dump, "--to", "redis-chunks", "-o", &out],
            b"",
        );
        assert_eq!(fs::read(&out).unwrap(), text, "{}", case["id"]);
        let arguments =
            ["convert", "-q", "--force", "--from", "redis", "-", "--to", "redis-dump", "-o", &out];
        succeeds(&[&arguments[..], &["--rdb-version", "12"]].concat(), &text);
        assert_eq!(fs::read(&out).unwrap(), hex(&case, "dump_hex"), "{}", case["id"]);
    }
}

#[test]
fn a_cuckoo_filter_of_more_sub_filters_than_redis_allows_by_default_comes_back_from_its_chunks() {
    let directory = Directory::new("foreign-expansions");
    let mut filter = RedisCuckoo::with_capacity(8).unwrap();
    filter.set_limits(CuckooLimits { max_expansions: 100, ..filter.limits() });
    for key in 0..400u32 {
        filter.add(&key).unwrap();
    }
    assert!(filter.sub_filters() > u64::from(CuckooLimits::default().max_expansions));
    let dump = directory.file("dump", &filter.to_dump(RdbVersion::REDIS_7_0).unwrap());
    let (chunks, again) = (path(&directory, "chunks"), path(&directory, "again"));
    succeeds(&["convert", "-q", "--from", "redis", &dump, "--to", "redis-chunks", "-o", &chunks], b"");
    succeeds(&["convert", "-q", "--from", "redis", &chunks, "--to", "redis-dump", "-o", &again], b"");
    assert_eq!(fs::read(&again).unwrap(), fs::read(&dump).unwrap());
}

#[test]
fn a_payload_that_redis_cli_ended_with_a_newline_is_taken() {
    let directory = Directory::new("foreign-newline");
    let mut filter = RedisBloom::new().unwrap();
    filter.add("apple").unwrap();
    let payload = filter.to_dump(RdbVersion::REDIS_7_0).unwrap();
    let ours = path(&directory, "ours.mayhap");
    let piped = [&payload[..], b"\n"].concat();
    succeeds(&["import", "-q", "--format", "redis", "-", "-o", &ours], &piped);
    // Out again through a pipe, with the summary out of its way.
    let output = mayhap(&["export", &ours, "-o", "-"], b"");
    assert_eq!(output.stdout, payload);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("| redis-cli -x RESTORE NAME 0\n"),
        "{output:?}"
    );
}

/// A mayhap file with a filter of RedisBloom's that is larger than a pipe.
fn large(directory: &Directory) -> String {
    let mut filter = RedisBloom::reserve(0.001, 1_000_000, 2, true).unwrap();
    filter.add("apple").unwrap();
    let path = path(directory, "large.mayhap");
    let file = ForeignFile::from(ForeignFilter::RedisBloom(filter, RdbVersion::REDIS_7_0));
    file.save(&path, Existing::Refuse).unwrap();
    path
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let directory = Directory::new("foreign-pipe");
    let mut child = command(&["export", &large(&directory), "--chunks", "-o", "-", "-q"]).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    let directory = Directory::new("foreign-full");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(&["export", &large(&directory), "-o", "-", "-q"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("No space left on device"), "{output:?}");
}

#[test]
fn dumps_of_mayhap_serve_become_the_file_that_they_are() {
    let directory = Directory::new("foreign-native");
    let mut filter = BloomFilter::with_rate(100, 0.01).unwrap();
    filter.insert("apple");
    let file = filter.to_bytes().unwrap();
    let out = path(&directory, "out.mayhap");
    let import = ["import", "--json", "--force", "--format", "redis", "-", "-o", &out];

    let payload = [b"mayhap\x00\x01\0\0\0\0\0\0\0\0", &file[..], b"\xff\xffchecksum\n"].concat();
    let said: Value = serde_json::from_str(&succeeds(&import, &payload)).unwrap();
    assert_eq!((&said["kind"], &said["needs_key"]), (&"bloom".into(), &false.into()));
    assert_eq!(fs::read(&out).unwrap(), file);

    let (first, second) = file.split_at(100);
    let text = format!("4097 {}\n8194 {}\n", base64(first), base64(second));
    succeeds(&import, text.as_bytes());
    assert_eq!(fs::read(&out).unwrap(), file);

    let damaged = format!("4097 {}\n", base64(first));
    fails(&import, damaged.as_bytes(), "can't be read as a dump of mayhap serve: the file is cut off");
    fails(&import, &payload[..60], "can't be read as a dump of mayhap serve");
    fails(
        &["import", "--list", "--format", "redis", "-"],
        &payload,
        "`mayhap import` makes a mayhap file of it",
    );
    assert_eq!(fs::read(&out).unwrap(), file, "still the old one");
}

#[test]
fn a_key_is_taken_out_of_an_rdb_file() {
    let directory = Directory::new("foreign-rdb");
    let rdb = golden("redisbloom_redis70.rdb");
    let ours = path(&directory, "ours.mayhap");
    let found = json(&["import", "--json", "--format", "redis", &rdb, "--key", "urls", "-o", &ours]);
    assert_eq!((&found["format"], &found["output"]), (&"redis-dump".into(), &ours.as_str().into()));
    let urls = ForeignFile::open(&ours).unwrap();
    for page in 0..2_000 {
        let key = format!("https://example.org/page/{page}");
        assert_eq!(urls.contains(key.as_bytes()), Some(true), "{key}");
    }
    let absent = (2_000..12_000)
        .filter(|page| urls.contains(format!("https://example.org/page/{page}").as_bytes()) == Some(true))
        .count();
    assert!(absent < 40, "{absent} of 10 000 at 0.1 %");

    let dump = path(&directory, "coupons.dump");
    let arguments = ["convert", "--json", "--from", "redis", &rdb, "--key", "coupons", "--to", "redis-dump"];
    let done = json(&[&arguments[..], &["-o", &dump]].concat());
    assert!(done["load"].as_str().unwrap().starts_with("redis-cli -x RESTORE NAME 0 <"), "{done}");
    let coupons = ForeignFilter::from_bytes(mayhap::formats::Format::RedisDump, &fs::read(&dump).unwrap());
    assert!(
        matches!(coupons.unwrap(), ForeignFilter::RedisCuckoo(filter, _) if filter.contains("COUPON-001499"))
    );

    // Which filters there are is said, and other values aren't among them.
    let wrong = ["import", "--format", "redis", &rdb, "-o", &path(&directory, "x"), "--key", "plain"];
    let output = mayhap(&wrong, b"");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("has no such filter; it has:\n"), "{message}");
    for key in ["  --key urls\n", "  --key phones\n", "  --key coupons"] {
        assert!(message.contains(key) && !message.contains("--key plain"), "{message}");
    }
    fails(&wrong[..6], b"", "say which with one of:\n");
    fails(&["check", "--format", "redis", &rdb, "-"], b"a\n", "by `mayhap import` and one of:\n  --key ");
    fails(&[&wrong[..6], &["--key", "urls", "--database", "1"]].concat(), b"", "has no such filter");
    assert!(!Path::new(&path(&directory, "x")).exists());
}

#[test]
fn a_whole_file_is_listed() {
    let rdb = golden("redisbloom_redis70.rdb");
    let text = succeeds(&["import", "--format", "redis", &rdb, "--list"], b"");
    for part in ["--key urls: a RedisBloom filter\n", "--key coupons:", "MBbloomCF", "expected rate now"] {
        assert!(text.contains(part), "{text}");
    }
    let lines = succeeds(&["import", "--format", "redis", &rdb, "--list", "--json"], b"");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    let urls = lines.iter().find(|line| line["select"] == "--key urls").unwrap();
    assert!(
        urls["keys_now"].as_u64().unwrap() > 1_990 && urls["layer_count"].as_u64().unwrap() > 1,
        "{urls}"
    );

    let table = succeeds(&["import", "--format", "leveldb", &golden("leveldb_table_t-none.ldb"), "-l"], b"");
    assert!(table.contains("--block 0: a LevelDB filter"), "{table}");
    let one = ["import", "--format", "leveldb", &golden("leveldb_table_t-none.ldb"), "-l", "--block", "0"];
    assert_eq!(succeeds(&one, b"").matches("a LevelDB filter").count(), 1);
}

#[test]
fn a_column_is_taken_out_of_a_parquet_file() {
    let directory = Directory::new("foreign-parquet");
    for name in ["parquet_rust.parquet", "parquet_pyarrow.parquet", "parquet_rust_folded.parquet"] {
        let parquet = golden(name);
        let footer =
            mayhap::formats::parquet::ParquetFooter::from_file(&fs::read(&parquet).unwrap()).unwrap();
        for column in footer.columns() {
            let (ours, bare) = (path(&directory, "ours.mayhap"), path(&directory, "bare"));
            let select = ["--format", "parquet", &parquet, "--column", column.path(), "--row-group", "0"];
            succeeds(&[&["import", "-q", "--force", "-o", &ours], &select[..]].concat(), b"");
            let file = ForeignFile::open(&ours).unwrap();
            // The file says that one of its columns holds numbers, and so does ours.
            let is_number = column.physical_type().unwrap().name() == "INT64";
            assert_eq!(
                file.keys,
                if is_number { KeyForm::Int64 } else { KeyForm::Text },
                "{name} {column:?}"
            );

            let arguments =
                ["convert", "-q", "--force", "--from", "parquet", &parquet, "--column", column.path()];
            succeeds(&[&arguments[..], &["--to", "parquet", "-o", &bare]].concat(), b"");
            assert_eq!(fs::read(&bare).unwrap(), file.filter.to_bytes().unwrap());
            let start = usize::try_from(column.filter_offset().unwrap()).unwrap();
            let whole = fs::read(&parquet).unwrap();
            assert!(whole[start..].starts_with(&fs::read(&bare).unwrap()), "as it stands in {name}");
        }
    }
    let parquet = golden("parquet_rust.parquet");
    let out = path(&directory, "out");
    // A filter by itself may also come through a pipe, whatever name that has.
    let bare = fs::read(path(&directory, "bare")).unwrap();
    for pipe in ["-", "/dev/stdin"] {
        succeeds(&["import", "-q", "--format", "parquet", pipe, "--force", "-o", &out], &bare);
        assert_eq!(ForeignFile::open(&out).unwrap().filter.to_bytes().unwrap(), bare);
        let list = ["import", "--format", "parquet", pipe, "--list"];
        fails(&list, &fs::read(&parquet).unwrap(), "a whole Parquet file must be named");
    }
    fs::remove_file(&out).unwrap();
    let arguments = ["import", "--format", "parquet", &parquet, "-o", &out];
    fails(&arguments, b"", "say which with one of:\n  --column ");
    fails(
        &[&arguments[..], &["--column", "price"]].concat(),
        b"",
        "has no such filter; it has:\n  --column ",
    );
    fails(&[&arguments[..], &["--column", "bin", "--row-group", "9"]].concat(), b"", "has no such filter");
    assert!(!Path::new(&out).exists());
}

/// What people write for a value is rarely what is stored, and asked with other bytes a filter denies what it has.
#[test]
fn a_column_is_asked_as_people_write_its_values_or_not_at_all() {
    let directory = Directory::new("foreign-parquet-types");
    let (ours, parquet) = (path(&directory, "ours.mayhap"), types("types"));
    let import = |column: &str, more: &[&str]| {
        let arguments =
            ["import", "--force", "--format", "parquet", &parquet, "-o", &ours, "--column", column];
        succeeds(&[&arguments[..], more].concat(), b"")
    };
    let holds = |keys: &str| assert_eq!(succeeds(&["check", &ours, "-"], keys.as_bytes()), keys);

    assert!(import("uid", &[]).contains("keys are           uuid\n"));
    holds("be96447d-7385-558c-b0be-83a6632a5ab2\n0ADEDF02-E466-573B-A3FE-6A7F799D7D3D\n");
    holds("a4cbbdd4b7e0589f965c38ae16a97c4c\n");
    fails(
        &["check", &ours, "-"],
        b"be96447d\n",
        "can't be a key of this filter, whose keys are of type uuid",
    );

    import("u64", &[]);
    holds("0\n1\n9223372036854775807\n9223372036854775808\n18446744073709551615\n");
    fails(&["check", &ours, "-"], b"-1\n", "whose keys are of type u64");
    import("u32", &[]);
    holds("0\n1\n2147483647\n2147483648\n4294967295\n");

    let day = import("day", &[]);
    assert!(day.contains("days since 1970-01-01, as numbers (DATE in the file)"), "{day}");
    holds("0\n-1\n19782\n");
    let at = import("at", &[]);
    assert!(at.contains("microseconds since the beginning of 1970, as numbers"), "{at}");
    holds("3\n1700000000000000\n");
    assert!(import("raw", &[]).contains("bytes as they are stored"));
    import("name", &[]);
    holds("bob\neve\n");

    fs::remove_file(&ours).unwrap();
    for (file, column, expected) in [
        ("types", "dec", "the column dec is DECIMAL(9, 2), stored as FIXED_LEN_BYTE_ARRAY(4), and"),
        ("types", "dec", "with --key-type hex it is asked by the 4 bytes that are stored"),
        ("types", "half", "the column half is FLOAT16, stored as FIXED_LEN_BYTE_ARRAY(2)"),
        ("types", "code", "the column code is FIXED_LEN_BYTE_ARRAY(2), and the file doesn't say"),
        ("types", "code", "--key-type text"),
        ("decimal_int", "dec", "with --key-type i32 it is asked by the numbers that are stored, 10^2 times"),
        ("int96", "at", "the column at is INT96, and what people write"),
    ] {
        let arguments = ["import", "--format", "parquet", &types(file), "-o", &ours, "--column", column];
        fails(&arguments, b"", expected);
        assert!(!Path::new(&ours).exists());
    }
    fails(&["check", "--format", "parquet", &types("int96"), "-"], b"1\n", "the column at is INT96");

    // What the file says is no matter of opinion.
    for (file, column, key_type, expected) in [
        (
            "types",
            "u32",
            "text",
            "the column u32 is UINT, stored as INT32, which --key-type text contradicts",
        ),
        ("types", "u32", "i64", "leave it out, or give one of: i32, u32, hex"),
        (
            "types",
            "name",
            "i64",
            "the column name is STRING, stored as BYTE_ARRAY, which --key-type i64 contradicts",
        ),
        ("types", "name", "utf16", "give one of: text, hex"),
        ("types", "uid", "f64", "give one of: uuid, hex, text"),
        ("types", "dec", "i32", "every answer would be no; give one of: text, hex"),
        ("types", "raw", "u64", "give one of: text, utf16, uuid, hex"),
        ("decimal_int", "dec", "f32", "give one of: i32, u32, hex"),
    ] {
        let arguments = ["import", "--format", "parquet", &types(file), "-o", &ours, "--column", column];
        fails(&[&arguments[..], &["--key-type", key_type]].concat(), b"", expected);
        assert!(!Path::new(&ours).exists());
    }
    let int96 = ["check", "--format", "parquet", &types("int96"), "-", "--key-type", "i64"];
    fails(&int96, b"1\n", "the column at is INT96, which --key-type i64 contradicts");

    // Otherwise whoever says what the keys are is believed, and the bits are the same in any case.
    assert!(!import("dec", &["--key-type", "hex"]).contains("DECIMAL"));
    holds("00000001\nfffffb32\n");
    import("code", &["--key-type", "text"]);
    holds("DE\nPT\n");
    let integers = types("decimal_int");
    let arguments = ["import", "-q", "--force", "--format", "parquet", &integers, "--column", "dec"];
    succeeds(&[&arguments[..], &["--key-type", "i32", "-o", &ours]].concat(), b"");
    holds("1\n-1230\n");
    let bare = path(&directory, "bare");
    let arguments = ["convert", "-q", "--from", "parquet", &parquet, "--column", "dec", "--to", "parquet"];
    succeeds(&[&arguments[..], &["-o", &bare]].concat(), b"");

    let list = succeeds(&["import", "--format", "parquet", &parquet, "--list"], b"");
    assert_eq!(list.matches("a Parquet filter").count(), 10, "{list}");
    assert_eq!(list.matches("unclear").count(), 3, "{list}");
    assert!(list.contains("the column dec is DECIMAL(9, 2)"), "{list}");
}

/// A file in `testdata/parquet`.
fn types(name: &str) -> String {
    format!("{}/../../testdata/parquet/{name}.parquet", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_filter_is_taken_out_of_a_leveldb_table() {
    let directory = Directory::new("foreign-leveldb");
    let (ours, bare, out) = (path(&directory, "ours"), path(&directory, "bare"), path(&directory, "out"));
    for name in ["leveldb_table_t-none.ldb", "leveldb_table_t-snappy.ldb", "leveldb_table_t-binary.ldb"] {
        let table = golden(name);
        let bytes = fs::read(&table).unwrap();
        let block = mayhap::formats::leveldb::Table::view(&bytes).unwrap().filter_block().unwrap().unwrap();
        succeeds(
            &["import", "-q", "--force", "--format", "leveldb", &table, "--block", "0", "-o", &ours],
            b"",
        );
        let arguments =
            ["convert", "-q", "--force", "--from", "leveldb", &table, "--block", "0", "--to", "leveldb"];
        succeeds(&[&arguments[..], &["-o", &bare]].concat(), b"");
        assert_eq!(fs::read(&bare).unwrap(), block.filter(0).unwrap());
        assert_eq!(ForeignFile::open(&ours).unwrap().filter.to_bytes().unwrap(), block.filter(0).unwrap());

        // The same out of the filter block alone.
        let alone = directory.file("block", block.bytes());
        let arguments = ["convert", "-q", "--force", "--from", "leveldb-block", &alone, "--block", "0"];
        succeeds(&[&arguments[..], &["--to", "leveldb", "-o", &out]].concat(), b"");
        assert_eq!(fs::read(&out).unwrap(), block.filter(0).unwrap());
    }
    let table = golden("leveldb_table_t-none.ldb");
    let arguments = ["import", "--format", "leveldb", &table, "-o", &path(&directory, "x"), "--block", "999"];
    fails(&arguments, b"", "has no such filter; it has:\n  --block 0\n");
    fails(&arguments[..6], b"", "say which with one of:\n  --block 0\n");
    fails(
        &["import", "--format", "leveldb-block", &table, "-o", &path(&directory, "x")],
        b"",
        "is a whole table, not a filter block; say --format leveldb",
    );
    let mut damaged = fs::read(&table).unwrap();
    let filter = {
        let view = mayhap::formats::leveldb::Table::view(&damaged).unwrap();
        view.filter_block().unwrap().unwrap().bytes().to_vec()
    };
    let place = damaged.windows(filter.len()).position(|window| window == filter).unwrap();
    damaged[place] ^= 1;
    let damaged = directory.file("damaged", &damaged);
    fails(
        &["import", "--format", "leveldb", &damaged, "-o", &path(&directory, "x")],
        b"",
        "can't be read as a LevelDB table",
    );
}

#[test]
fn an_imported_filter_answers_as_its_system_does() {
    let directory = Directory::new("foreign-ask");
    let ours = path(&directory, "ours.mayhap");
    // A filter of Java's Longs, which are asked for as numbers.
    let text = fs::read_to_string(golden("guava_mitz64.jsonl")).unwrap();
    let is_random = |rule: &Value| rule["rule"] == "sm_i64" && rule["count"].as_u64() > Some(0);
    let case = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|case| {
            case["false_positives"].as_u64() > Some(0)
                && is_random(&case["keys"])
                && is_random(&case["probes"])
        })
        .expect("a filter of Longs with some false positives");
    let file = directory.file("longs", &hex(&case, "serialized_hex"));
    succeeds(&["import", "-q", "--format", "guava", "--key-type", "i64", &file, "-o", &ours], b"");
    let keys = split_mix(case["keys"]["seed"].as_u64().unwrap());
    let keys: Vec<i64> =
        keys.take(usize::try_from(case["keys"]["count"].as_u64().unwrap()).unwrap()).collect();
    let lines: String = keys.iter().map(|key| format!("{key}\n")).collect();
    assert_eq!(succeeds(&["check", &ours, "-"], lines.as_bytes()), lines, "every key is found");
    // The probes were never put, and the answers are recorded.
    let probes: Vec<i64> = split_mix(case["probes"]["seed"].as_u64().unwrap()).take(200).collect();
    let answers = case["probe_answers"].as_str().unwrap().as_bytes();
    let expected: String = probes
        .iter()
        .zip(answers)
        .filter(|(_, answer)| **answer == b'1')
        .map(|(probe, _)| format!("{probe}\n"))
        .collect();
    let input: String = probes.iter().map(|probe| format!("{probe}\n")).collect();
    let output = mayhap(&["check", &ours, "-"], input.as_bytes());
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    fails(
        &["check", &ours, "-"],
        b"apple\n",
        "\"apple\" can't be a key of this filter, whose keys are of type i64",
    );
    // Without being imported.
    let direct = ["check", "--format", "guava", "--key-type", "i64", &file, "-"];
    assert_eq!(succeeds(&direct, lines.as_bytes()), lines);
}

#[test]
fn standard_input_is_a_filter_or_keys_and_not_both() {
    let directory = Directory::new("foreign-stdin");
    let mut filter = GuavaBloom::with_rate(100, 0.01, Sizing::Guava31).unwrap();
    filter.insert("apple");
    let bytes = filter.to_bytes().unwrap();
    let (file, keys) = (directory.file("filter", &bytes), directory.file("keys", b"apple\npear\n"));
    let with = |arguments: &[&'static str]| [arguments, &["--format", "guava"]].concat();
    assert_eq!(succeeds(&[&with(&["check", "-"])[..], &[&keys]].concat(), &bytes), "apple\n");
    for arguments in
        [&["check", "-"][..], &["check", "-", "-"], &["check", "-", "-F", "-"], &["verify", "-", "-"]]
    {
        fails(&with(arguments), &bytes, "standard input can be one filter or the keys, not both");
    }
    fails(
        &[&with(&["check", "-", "-F", "-"])[..], &[&keys]].concat(),
        &bytes,
        "standard input can be one filter",
    );
    // Of the keys that are looked for when none are named, there are none then.
    assert!(succeeds(&with(&["verify", "-", "--samples", "1k"]), &bytes).contains("no source was given"));
    let arguments = ["verify", "--format", "guava", &file, "--samples", "1k"];
    assert!(succeeds(&arguments, b"apple\n").contains("the only one of the source was found"));
}

/// The keys of the recorded cases: SplitMix64, as signed numbers.
fn split_mix(seed: u64) -> impl Iterator<Item = i64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)).cast_signed()
    })
}

#[test]
fn what_is_not_of_the_format_is_refused() {
    let directory = Directory::new("foreign-wrong");
    let out = path(&directory, "out");
    let import = |format: &str, file: &str, expected: &str| {
        fails(&["import", "--format", format, file, "-o", &out], b"", expected);
    };
    let text = directory.file("text", b"apple\npear\n");
    for format in ["guava", "spark", "parquet", "redis", "leveldb-block"] {
        import(format, &text, "can't be read as a");
    }
    import("guava", &path(&directory, "missing"), "no such file");
    import("parquet", &path(&directory, "missing"), "no such file");
    for format in ["guava", "parquet", "redis"] {
        import(format, directory.path(), "is a directory");
    }
    import("guava", &directory.file("empty", b""), "can't be read as a Guava filter");
    import("nothing", &text, "invalid value 'nothing'");
    import("crawler", &text, "give --hashes and --bits");
    let crawler = ["import", "--format", "crawler", &text, "-o", &out, "--hashes", "3", "--bits", "1000"];
    fails(&crawler, b"", "can't be read as a crawler's filter");
    let hashes = ["import", "--format", "guava", &text, "-o", &out, "--hashes", "3"];
    fails(&hashes, b"", "--hashes and --bits are for --format crawler");

    // Cut off, and with one wrong byte, where there is a checksum.
    let mut payload = hex(&cases("redisbloom_cf.jsonl")[0], "dump_hex");
    import("redis", &directory.file("cut", &payload[..payload.len() - 1]), "can't be read as a DUMP payload");
    payload[20] ^= 1;
    import("redis", &directory.file("changed", &payload), "can't be read as a DUMP payload");
    let guava = hex(&cases("guava_mitz64.jsonl")[1], "serialized_hex");
    import("guava", &directory.file("cut", &guava[..guava.len() - 1]), "the file is cut off");
    import("guava", &directory.file("long", &[&guava[..], b"x"].concat()), "can't be read as a Guava filter");
    let mut rdb = fs::read(golden("redisbloom_redis70.rdb")).unwrap();
    rdb[50] ^= 1;
    import("redis", &directory.file("rdb", &rdb), "can't be read as an .rdb file");
    let parquet = fs::read(golden("parquet_rust.parquet")).unwrap();
    import(
        "parquet",
        &directory.file("cut", &parquet[..parquet.len() - 9]),
        "can't be read as a Parquet file",
    );

    // Choices that the format doesn't have.
    for (format, flag) in
        [("guava", "--key"), ("redis", "--column"), ("parquet", "--block"), ("spark", "--row-group")]
    {
        fails(&["import", "--format", format, &text, "-o", &out, flag, "1"], b"", &format!("{flag} is for"));
    }
    let keyed = ["import", "--format", "redis", &text, "-o", &out, "--key", "x"];
    fails(&keyed, b"", "is no .rdb file but one filter");
    assert!(!Path::new(&out).exists());
}

#[test]
fn broken_chunks_are_refused() {
    let directory = Directory::new("foreign-broken-chunks");
    let case = cases("redisbloom_bf.jsonl").pop().unwrap();
    let text = String::from_utf8(lines_of_chunks(&case)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() > 1, "a header and something");
    let out = path(&directory, "out");
    let import = |text: &str, expected: &str| {
        fails(&["import", "--format", "redis", "-", "-o", &out], text.as_bytes(), expected);
    };
    import(lines[0], "can't be read as the SCANDUMP chunks of one filter: the file is cut off");
    import(&text.replacen(' ', " !", 1), "line 1 of - is no chunk");
    import(&format!("{}\n7", lines[0]), "can't be read as the SCANDUMP chunks");
    import("0 \n", "has no chunks");
    import("1 AAAA\n", "can't be read as the SCANDUMP chunks");
    assert!(!Path::new(&out).exists());
    // What doesn't matter: comments, empty lines, carriage returns, the last answer.
    let friendly = format!("# urls\r\n\n{}\r\n0 \n", lines.join("\r\n"));
    succeeds(&["import", "-q", "--format", "redis", "-", "-o", &out], friendly.as_bytes());
}

#[test]
fn filters_of_our_own_are_neither_imported_nor_exported() {
    let directory = Directory::new("foreign-ours");
    let ours = path(&directory, "ours.mayhap");
    BloomFilter::with_rate(100, 0.01).unwrap().save(&ours, Existing::Refuse).unwrap();
    let out = path(&directory, "out");
    fails(&["import", "--format", "guava", &ours, "-o", &out], b"", "is a mayhap file");
    fails(
        &["export", &ours, "-o", &out],
        b"",
        "is a blocked Bloom filter of mayhap's own: no other system hashes keys as it does",
    );
    let keyed = path(&directory, "keyed.mayhap");
    let builder = BloomFilter::builder().keys(100).rate(0.01).secret_key(SecretKey::new([7; 16]));
    builder.build().unwrap().save(&keyed, Existing::Refuse).unwrap();
    fails(&["export", &keyed, "-o", &out], b"", "of mayhap's own");
    fails(&["convert", &ours, "--to", "guava", "-o", &out], b"", "--to guava is a form of another system");
    fails(&["convert", &ours, "--to", "dense", "-o", &out], b"", "only bitmaps are dense or sparse");

    let theirs = directory.file("theirs", &hex(&cases("guava_mitz64.jsonl")[1], "serialized_hex"));
    let foreign = path(&directory, "foreign.mayhap");
    succeeds(&["import", "-q", "--format", "guava", &theirs, "-o", &foreign], b"");
    fails(
        &["export", &foreign, "--format", "redis", "-o", &out],
        b"",
        "holds a Guava filter, which can't be written as --format redis",
    );
    fails(&["export", &foreign, "--chunks", "-o", &out], b"", "only RedisBloom's filters come in chunks");
    fails(
        &["export", &foreign, "--rdb-version", "10", "-o", &out],
        b"",
        "--rdb-version is for filters of RedisBloom",
    );
    fails(
        &["convert", "--from", "guava", &theirs, "--to", "redis-dump", "-o", &out],
        b"",
        "a Guava filter can't become --to redis-dump: the two systems hash keys in different ways",
    );
    fails(&["convert", "--from", "guava", &theirs, "--to", "mayhap", "-o", &out], b"", "`mayhap import`");
    fails(&["export", &foreign, "-o", &theirs], b"", "is there already; --force replaces it");
    fails(&["import", "--format", "guava", &theirs, "-o", &foreign], b"", "is there already");
    fails(&["export", &theirs, "-o", &out], b"", "not a mayhap file");
    fails(&["export", &path(&directory, "missing"), "-o", &out], b"", "no such file");
    let mut damaged = fs::read(&foreign).unwrap();
    let middle = damaged.len() - 40;
    damaged[middle] ^= 1;
    fails(&["export", &directory.file("damaged", &damaged), "-o", &out], b"", "the file is damaged");
    assert!(!Path::new(&out).exists());
    let left: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(left.len(), 5, "{left:?}");
}

#[test]
fn bitmaps_change_their_form() {
    let directory = Directory::new("convert-bitmap");
    let (sparse, dense) = (path(&directory, "sparse"), path(&directory, "dense"));
    let mut bitmap = Bitmap::sparse();
    bitmap.extend([3, 5, 70_000]);
    bitmap.save(&sparse, Existing::Refuse).unwrap();
    let done = json(&["convert", "--json", &sparse, "--to", "dense", "-o", &dense]);
    assert_eq!(done["file_bytes"], fs::metadata(&dense).unwrap().len());
    let opened = Bitmap::open(&dense).unwrap();
    assert!(opened.is_dense() && opened.universe() == Some(70_001) && opened.iter().eq([3, 5, 70_000]));
    succeeds(&["convert", "-q", "--force", &dense, "--to", "sparse", "-o", &sparse], b"");
    let opened = Bitmap::open(&sparse).unwrap();
    assert!(!opened.is_dense() && opened.iter().eq([3, 5, 70_000]));

    let out = path(&directory, "out");
    succeeds(&["convert", "-q", &sparse, "--to", "dense", "--universe", "1M", "-o", &out], b"");
    assert_eq!(Bitmap::open(&out).unwrap().universe(), Some(1_000_000));
    let arguments = ["convert", &sparse, "--to", "dense", "--universe", "100", "--force", "-o", &out];
    fails(&arguments, b"", "70000");
    let empty = path(&directory, "empty");
    Bitmap::sparse().save(&empty, Existing::Refuse).unwrap();
    fails(&["convert", &empty, "--to", "dense", "--force", "-o", &out], b"", "say with --universe");
    fails(
        &["convert", &sparse, "--to", "sparse", "--universe", "9", "--force", "-o", &out],
        b"",
        "--to dense",
    );
}

#[test]
fn a_mayhap_file_is_written_again() {
    let directory = Directory::new("convert-again");
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/files");
    let out = path(&directory, "out");
    for name in [
        "v1.0-blocked-eight-xxh3-42",
        "v1.0-bitmap-sparse",
        "v1.0-cuckoo-4x16-xxh3-42",
        "v1.0-window-by-time-xxh3-42",
    ] {
        let file = format!("{files}/{name}.mayhap");
        succeeds(&["convert", "-q", "--force", &file, "--to", "mayhap", "-o", &out], b"");
        assert_eq!(
            fs::read(&out).unwrap(),
            fs::read(&file).unwrap(),
            "{name}: the version is still the same"
        );
    }
    let foreign = path(&directory, "foreign");
    let filter = ForeignFilter::LevelDb(LevelDbFilter::new(100, 10).unwrap());
    ForeignFile::from(filter).save(&foreign, Existing::Refuse).unwrap();
    let text = succeeds(&["convert", "--force", &foreign, "--to", "mayhap", "-o", &out], b"");
    assert!(text.starts_with("written"), "{text}");
    fails(
        &["convert", &foreign, "--to", "mayhap", "--key", "a", "--force", "-o", &out],
        b"",
        "go with --from",
    );
}
