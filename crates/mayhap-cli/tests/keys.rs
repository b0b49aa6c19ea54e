//! What is a key in lines, tables, packed files and Parquet columns, as a user gives them to `mayhap build`.

mod run;

use std::fs;

use mayhap::BloomFilter;
use run::{Directory, build, fails, gzip, holds_all, mayhap, numbered_lines};

#[test]
fn tables_packed_files_and_nul() {
    let directory = Directory::new("build-tables");
    let path = format!("{}/filter", directory.path());
    let csv = "id,\"name\",note\n1,\"Ada, Countess\",x\n2,\"Grace \"\"Amazing\"\"\",\"a\nb\"\n3,Edsger,\n"
        .as_bytes();
    let plain = directory.file("people.csv", csv);
    let packed = directory.file("people.csv.gz", &gzip(csv));
    let zstd = directory.file("people.csv.zst", &zstd::encode_all(csv, 3).unwrap());
    let keys = ["Ada, Countess", "Grace \"Amazing\"", "Edsger"];
    for file in [&plain, &packed, &zstd] {
        for field in [&["--field", "name"][..], &["--field", "2", "--header"], &["--column", "name", "--csv"]]
        {
            let summary = build(&[&["--force", "-o", &path, file], field].concat(), b"");
            assert_eq!(summary["keys_now"], 3, "{file} {field:?}");
            holds_all(&path, keys);
        }
    }
    let tsv = directory.file("people.tsv", b"id\tname\n1\tAda\n2\tGrace\n");
    assert_eq!(build(&["--force", "-o", &path, "-f", "name", &tsv], b"")["keys_now"], 2);
    holds_all(&path, ["Ada", "Grace"]);
    assert_eq!(
        build(&["--force", "-o", &path, "-f", "2", "--delimiter", ";"], b"1;Ada\n2;Grace\n")["keys_now"],
        2
    );
    holds_all(&path, ["Ada", "Grace"]);
    assert_eq!(build(&["--force", "-o", &path, "-z"], b"a\nb\0c\0")["keys_now"], 2);
    holds_all(&path, ["a\nb", "c"]);
    assert_eq!(build(&["--force", "-o", &path], &gzip(b"a\nb"))["keys_now"], 2);
    holds_all(&path, ["a", "b"]);

    fails(
        &["build", "--force", "-o", &path, "-f", "nam", &plain],
        b"",
        "no field is named \"nam\"; there are: id, name, note",
    );
    fails(&["build", "--force", "-o", &path, "-f", "4", &plain], b"", "no field 4");
    fails(&["build", "--force", "-o", &path, "-f", "0", &plain], b"", "counted from 1");
    fails(&["build", "--force", "-o", &path, "--csv", &plain], b"", "which field");
    let cut = directory.file("cut.gz", &gzip(&numbered_lines(10_000))[..5_000]);
    fails(&["build", "--force", "-o", &path, &cut], b"", "cut.gz");
    holds_all(&path, ["a", "b"]);
}

#[test]
fn line_ends_are_no_part_of_a_key_and_must_not_be_mixed() {
    let directory = Directory::new("build-ends");
    let path = format!("{}/filter", directory.path());
    build(&["-o", &path], b"a\r\nb\r\n");
    holds_all(&path, ["a", "b"]);
    for (input, expected) in [
        (
            &b"a\r\nb\n"[..],
            "the line \"b\" ends in LF alone, those before it in CR LF; the same key would be two",
        ),
        (b"a\nb\r\n", "the line \"b\" ends in CR LF, those before it in LF alone"),
        (b"a\nb\r\nc", "the line \"b\" ends in CR LF, those before it in LF alone"),
        (b"a\nb\r", "the line \"b\" ends in a CR alone, those before it in LF alone"),
    ] {
        fails(&["build", "--force", "-o", &path], input, expected);
        fails(&["build", "--force", "-o", &path], input, "--line-ends strip");
    }
    assert_eq!(build(&["--force", "-o", &path, "--line-ends", "strip"], b"a\r\nb\na\n")["keys_now"], 2);
    assert_eq!(build(&["--force", "-o", &path, "--line-ends", "keep"], b"a\r\nb\na\n")["keys_now"], 3);
}

/// What some editors write before a text is no part of its first key, in whichever command, and of no other key.
#[test]
fn a_byte_order_mark_is_no_part_of_a_key() {
    let directory = Directory::new("build-mark");
    let path = format!("{}/filter", directory.path());
    let marked = directory.file("marked", "\u{feff}a\r\nb\r\n".as_bytes());
    let packed = directory.file("packed.gz", &gzip("\u{feff}c\n\u{feff}d\n".as_bytes()));
    let summary = build(&["-n", "10", "-p", "1e-6", "-o", &path, &marked, &packed], b"");
    assert_eq!(summary["keys_now"], 4);
    holds_all(&path, ["a", "b", "c", "\u{feff}d"]);
    for (arguments, input, expected) in [
        // Lines are printed as they came.
        (&["check", &path][..], "\u{feff}a\nc\n", "\u{feff}a\nc\n"),
        (
            &["check", "--json", &path],
            "\u{feff}a\n",
            &format!("{{\"found_in\":[\"{path}\"],\"record\":\"a\"}}\n"),
        ),
        (&["check", "-v", &path], "a\n\u{feff}a\n", "\u{feff}a\n"),
        (&["check", "-v", "-z", &path], "\u{feff}a\0", "\u{feff}a\0"),
        (&["dedup", "-q"], "\u{feff}a\nb\na\n", "\u{feff}a\nb\n"),
        (&["missing", "-q", "-r", "0..3"], "\u{feff}0\n2\n", "1\n"),
        (&["hash"], "\u{feff}apple\n", "517a430dcf1f8a00  apple\n"),
    ] {
        let output = mayhap(arguments, input.as_bytes());
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{arguments:?}: {output:?}");
    }
}

/// As many editors leave it on Windows. A line without an end doesn't end otherwise than the others.
#[test]
fn the_last_line_needs_no_end() {
    let directory = Directory::new("build-last-line");
    let path = format!("{}/filter", directory.path());
    let (open, cut) = (directory.file("open", b"a\r\nb\r\na"), directory.file("cut", b"c\r\nb\r"));
    let (lf, packed) = (directory.file("lf", b"d\na"), directory.file("packed.gz", &gzip(b"e\r\nf")));
    for (files, input, keys) in [
        (&[][..], &b"a\r\nb"[..], &["a", "b"][..]),
        (&[][..], b"a\nb", &["a", "b"]),
        (&[][..], b"a\r", &["a"]),
        (&["-z"][..], b"a\r\0b", &["a\r", "b"]),
        (&[open.as_str(), &cut, &lf, &packed, &open][..], b"", &["a", "b", "c", "d", "e", "f"]),
    ] {
        let arguments = [&["--force", "-o", &path], files].concat();
        assert_eq!(build(&arguments, input)["keys_now"], keys.len(), "{arguments:?}");
        holds_all(&path, keys.iter().copied());
    }
    // And those before it still have to.
    fails(&["build", "--force", "-o", &path], b"a\r\nb\nc", "the line \"b\" ends in LF alone");
}

/// A file in `testdata/parquet`.
fn parquet_types() -> String {
    format!("{}/../../testdata/parquet/types.parquet", env!("CARGO_MANIFEST_DIR"))
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_parquet_file_is_recognised_and_not_taken_for_lines() {
    let directory = Directory::new("build-no-parquet");
    let path = format!("{}/filter", directory.path());
    let table = directory.file("table.parquet", b"PAR1 and so on PAR1");
    fails(&["build", "-o", &path, "-f", "id", &table], b"", "--features parquet");
    let lines = directory.file("lines", b"PAR1\nPAR2\n");
    assert_eq!(build(&["-o", &path, &lines], b"")["keys_now"], 2);
}

#[test]
fn a_parquet_file_that_is_cut_off_or_comes_through_a_pipe_is_called_so() {
    let directory = Directory::new("build-half-parquet");
    let path = format!("{}/filter", directory.path());
    let whole = fs::read(parquet_types()).expect("the file is in the repository");
    let half = directory.file("half.parquet", &whole[..whole.len() / 2]);
    let build = ["build", "-o", &path];
    for more in [&[half.as_str()][..], &["-f", "name", &half]] {
        fails(&[&build[..], more].concat(), b"", "begins as a Parquet file and doesn't end as one");
    }
    for pipe in ["-", "/dev/stdin"] {
        fails(&[&build[..], &[pipe]].concat(), &whole, "a Parquet file comes through");
        let expected = "a Parquet file can't come through a pipe, and must be named";
        fails(&[&build[..], &["-f", "name", pipe]].concat(), &whole, expected);
        fails(&[&build[..], &["--csv", "-f", "name", pipe]].concat(), &whole, "a Parquet file comes through");
    }
    let packed = directory.file("whole.parquet.gz", &gzip(&whole));
    for more in [&[packed.as_str()][..], &["-f", "name", &packed]] {
        fails(&[&build[..], more].concat(), b"", "unpack it with gunzip and name the file");
    }
    fails(&[&build[..], &["-"]].concat(), &gzip(&whole), "standard input is a Parquet file packed with gzip");
    let filter = BloomFilter::with_rate(10, 0.01).expect("a small filter").to_bytes().expect("its bytes");
    fails(&[&build[..], &["-"]].concat(), &gzip(&filter), "is a mayhap file and not a list of keys");
    assert_eq!(directory.names(), ["half.parquet", "whole.parquet.gz"]);
}

#[cfg(feature = "parquet")]
mod parquet_columns {
    use std::fs::File;
    use std::sync::Arc;

    use parquet::basic::{Compression, GzipLevel, ZstdLevel};
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    const SCHEMA: &str = "message users {
        REQUIRED INT64 id;
        OPTIONAL BINARY name (UTF8);
        REQUIRED INT32 small (INTEGER(32,false));
        REQUIRED DOUBLE score;
        REPEATED BINARY tags (UTF8);
    }";

    /// Two row groups of so many users; every third has no name, and each has two tags.
    #[allow(clippy::unwrap_used)] // Part of the tests.
    fn table(directory: &Directory, compression: Compression, users: i64) -> String {
        let path = format!("{}/users.parquet", directory.path());
        let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
        let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
        let mut writer = SerializedFileWriter::new(File::create(&path).unwrap(), schema, properties).unwrap();
        for group in 0..2 {
            let ids: Vec<i64> = (group * users..(group + 1) * users).collect();
            let mut rows = writer.next_row_group().unwrap();
            let mut column = rows.next_column().unwrap().unwrap();
            column.typed::<Int64Type>().write_batch(&ids, None, None).unwrap();
            column.close().unwrap();
            let present: Vec<i16> = ids.iter().map(|id| i16::from(id % 3 != 0)).collect();
            let names: Vec<ByteArray> = ids
                .iter()
                .filter(|id| **id % 3 != 0)
                .map(|id| format!("user {id}").as_str().into())
                .collect();
            let mut column = rows.next_column().unwrap().unwrap();
            column.typed::<ByteArrayType>().write_batch(&names, Some(&present), None).unwrap();
            column.close().unwrap();
            let mut column = rows.next_column().unwrap().unwrap();
            column.typed::<Int32Type>().write_batch(&vec![-1; ids.len()], None, None).unwrap();
            column.close().unwrap();
            let mut column = rows.next_column().unwrap().unwrap();
            column.typed::<DoubleType>().write_batch(&vec![0.5; ids.len()], None, None).unwrap();
            column.close().unwrap();
            let tags: Vec<ByteArray> = ids
                .iter()
                .flat_map(|id| [format!("a{id}"), format!("b{id}")])
                .map(|tag| tag.as_str().into())
                .collect();
            let repetition: Vec<i16> = (0..tags.len()).map(|i| i16::from(i % 2 == 1)).collect();
            let mut column = rows.next_column().unwrap().unwrap();
            column
                .typed::<ByteArrayType>()
                .write_batch(&tags, Some(&vec![1; tags.len()]), Some(&repetition))
                .unwrap();
            column.close().unwrap();
            rows.close().unwrap();
        }
        writer.close().unwrap();
        path
    }

    #[test]
    fn strings_numbers_and_lists_are_keys() {
        let directory = Directory::new("build-parquet");
        let path = format!("{}/filter", directory.path());
        for compression in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(GzipLevel::default()),
            Compression::ZSTD(ZstdLevel::default()),
        ] {
            let users = table(&directory, compression, 30_000);
            let keys = |field: &str| {
                let summary = build(&["--force", "-o", &path, "-f", field, &users], b"");
                assert_eq!(summary["input_bytes"], fs::metadata(&users).unwrap().len(), "{compression}");
                (summary["lines"].as_u64().unwrap(), summary["keys_now"].as_u64().unwrap())
            };
            assert_eq!(keys("id"), (60_000, 60_000));
            holds_all(&path, (0..60_000).map(|id| id.to_string()));
            assert_eq!(keys("1"), (60_000, 60_000));
            assert_eq!(keys("name"), (40_000, 40_000));
            holds_all(&path, (0..60_000).filter(|id| id % 3 != 0).map(|id| format!("user {id}")));
            assert_eq!(keys("small"), (60_000, 1));
            holds_all(&path, ["4294967295"]);
            assert_eq!(keys("tags").0, 120_000);
            holds_all(&path, (0..60_000).map(|id| format!("b{id}")));
        }
    }

    #[test]
    fn uuids_decimals_and_times_are_keys_as_imported_filters_take_them() {
        let directory = Directory::new("build-parquet-types");
        let (path, types) = (format!("{}/filter", directory.path()), parquet_types());
        let build = |field: &str| {
            let keys =
                build(&["--force", "-o", &path, "-f", field, &types], b"")["keys_now"].as_u64().unwrap();
            let verified = mayhap(&["verify", &path, "-f", field, &types], b"");
            assert_eq!(verified.status.code(), Some(0), "{field}: {verified:?}");
            keys
        };
        assert_eq!(build("uid"), 5);
        holds_all(&path, ["be96447d-7385-558c-b0be-83a6632a5ab2", "0adedf02-e466-573b-a3fe-6a7f799d7d3d"]);
        assert_eq!(build("dec"), 4);
        holds_all(&path, ["0.01", "-12.30", "0.00", "1234567.89"]);
        assert_eq!(build("day"), 3);
        holds_all(&path, ["0", "-1", "19782"]);
        fails(&["build", "--force", "-o", &path, "-f", "half", &types], b"", "is of type FLOAT16");

        for column in ["uid", "u64", "u32", "day", "at", "name"] {
            let import = ["import", "-q", "--force", "--format", "parquet", &types, "--column", column];
            assert!(mayhap(&[&import[..], &["-o", &path]].concat(), b"").status.success());
            let verified = mayhap(&["verify", &path, "-f", column, &types], b"");
            assert_eq!(verified.status.code(), Some(0), "{column}: {verified:?}");
        }
        let integers = types.replace("types", "decimal_int");
        let summary = super::build(&["--force", "-o", &path, "-f", "dec", &integers], b"");
        assert_eq!(summary["keys_now"], 4);
        holds_all(&path, ["0.01", "-12.30", "0.00", "1234567.89"]);
    }

    #[test]
    fn a_key_with_a_newline_is_one_record_if_lines_end_in_nul() {
        let directory = Directory::new("build-parquet-nul");
        let (path, types) = (format!("{}/filter", directory.path()), parquet_types());
        build(&["-o", &path, "-f", "name", &types], b"");
        let found = mayhap(&["check", "-z", "-f", "name", &path, &types], b"");
        assert_eq!(found.stdout, b"ann\nlee\0bob\0cid\0dot\0eve\0");
    }

    #[test]
    fn what_is_no_key_is_said() {
        let directory = Directory::new("build-parquet-wrong");
        let path = format!("{}/filter", directory.path());
        let users = table(&directory, Compression::SNAPPY, 10);
        fails(
            &["build", "-o", &path, &users],
            b"",
            "which column is the key? say so with --field; there are: id, name",
        );
        fails(&["build", "-o", &path, "-f", "nam", &users], b"", "no column is named \"nam\"");
        fails(&["build", "-o", &path, "-f", "9", &users], b"", "no column is named \"9\"");
        fails(&["build", "-o", &path, "-f", "score", &users], b"", "is of type DOUBLE");
        let damaged = directory.file("damaged.parquet", b"PAR1 and so on PAR1");
        fails(&["build", "-o", &path, "-f", "id", &damaged], b"", "can't be read");
        assert_eq!(directory.names(), ["damaged.parquet", "users.parquet"]);
    }
}
