//! `--json` of every command: the names that `docs/cli.md` lists, no others, and where it says; and what errors are.

#![allow(clippy::unwrap_used)] // What a test stands on either is there, or the test fails.

mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use mayhap::codec::Existing;
use mayhap::{BloomFilter, ScalableBloom};
use run::{Directory, fails, mayhap};
use serde_json::Value;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Names, and the commands that print them.
type Vocabulary = BTreeMap<String, BTreeSet<String>>;

/// The commands with `--json`, in the order of the page.
const COMMANDS: [&str; 17] = [
    "plan", "build", "add", "remove", "compact", "check", "dedup", "info", "verify", "merge", "fold",
    "import", "export", "convert", "missing", "hash", "bench",
];

/// The table of the page: in the first column names, in the last the commands.
fn documented() -> Vocabulary {
    let page = fs::read_to_string(format!("{REPOSITORY}/docs/cli.md")).unwrap();
    let (_, section) = page.split_once("\n## Names in JSON\n").expect("the section is there");
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let mut names = Vocabulary::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [written, _, commands] = cells[..] else { panic!("three cells: {row}") };
        for name in written.split(", ") {
            let name = name.strip_prefix('`').and_then(|name| name.strip_suffix('`')).expect(row);
            let commands: BTreeSet<String> = commands.split(", ").map(str::to_owned).collect();
            assert!(commands.iter().all(|command| COMMANDS.contains(&command.as_str())), "{row}");
            assert!(names.insert(name.to_owned(), commands).is_none(), "{name} has two rows");
        }
    }
    names
}

/// Runs commands in a directory, and notes the names in what they print.
struct Notes {
    directory: Directory,
    names: Vocabulary,
}

impl Notes {
    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.directory.path())
    }

    /// Runs a line of words, of which those with a dot in front are files in the directory, and of which the first is the
    /// command. Any answer will do, but no error.
    fn run(&mut self, line: &str, input: &[u8]) {
        let words: Vec<String> = line
            .split_whitespace()
            .map(|word| match word.strip_prefix("./") {
                Some(name) => self.path(name),
                None => word.replace("REPOSITORY", REPOSITORY),
            })
            .collect();
        let mut arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        arguments.push("--json");
        let output = mayhap(&arguments, input);
        assert!(output.status.code() < Some(2), "{line}: {output:?}");
        // Where results are lines, or bytes, what is said of them is on the other stream.
        let is_beside = words[0] == "dedup" && !line.contains(" -c") || line.ends_with("-o -");
        let text = String::from_utf8(if is_beside { output.stderr } else { output.stdout }).unwrap();
        assert!(!text.is_empty(), "{line}");
        let skipped =
            if is_beside { text.lines().take_while(|line| !line.starts_with('{')).count() } else { 0 };
        let json: String = text.lines().skip(skipped).flat_map(|line| [line, "\n"]).collect();
        for value in serde_json::Deserializer::from_str(&json).into_iter() {
            note(
                &value.unwrap_or_else(|error| panic!("{line}: {error}: {text}")),
                &words[0],
                &mut self.names,
            );
        }
    }
}

fn note(value: &Value, command: &str, names: &mut Vocabulary) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| note(value, command, names)),
        Value::Object(fields) => {
            for (name, value) in fields {
                names.entry(name.clone()).or_default().insert(command.to_owned());
                note(value, command, names);
            }
        }
        _ => {}
    }
}

fn numbers(to: u32) -> Vec<u8> {
    (0..to).flat_map(|number| format!("{number}\n").into_bytes()).collect()
}

/// The bytes of the first case of a golden file for which that is true.
fn golden(name: &str, field: &str) -> Vec<u8> {
    let text = fs::read_to_string(format!("{REPOSITORY}/testdata/golden/{name}")).unwrap();
    let case: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let hex = case[field].as_str().unwrap();
    (0..hex.len()).step_by(2).map(|place| u8::from_str_radix(&hex[place..place + 2], 16).unwrap()).collect()
}

#[test]
fn every_name_is_in_the_table() {
    let mut notes = Notes { directory: Directory::new("json"), names: Vocabulary::new() };
    let keys = numbers(1_000);

    for line in [
        "plan -n 1M -p 1% --range 10M",
        "plan --exact-sets",
        "plan -n 1M -p 1% --for redis",
        "bench --seconds 0.2 -n 10k",
        "hash --list",
        "hash --compare",
    ] {
        notes.run(line, b"");
    }
    notes.run("hash", b"apple\n\xff\n");
    notes.run("missing -r 0..9", b"1\n");

    for kind in "bloom classic scalable counting dual d-left cuckoo scalable-cuckoo window bitmap".split(' ')
    {
        notes.run(&format!("build --kind {kind} -n 2k -o ./{kind}"), &keys);
        notes.run(&format!("add ./{kind}"), b"1\n100000\n");
        notes.run(&format!("info ./{kind}"), b"");
        let info = mayhap(&["info", "--json", &notes.path(kind)], b"");
        let info: Value = serde_json::from_slice(&info.stdout).unwrap();
        assert_eq!(info["kind"], kind, "what `build --kind` was told");
        notes.run(&format!("verify ./{kind} --samples 1k"), &keys);
    }
    let tightened = ScalableBloom::builder().keys(100).rate(0.01).tightening(0.5).build().unwrap();
    tightened.save(notes.path("tightened"), Existing::Refuse).unwrap();
    notes.run("info ./tightened", b"");
    notes.run("info --quick ./bloom", b"");
    notes.run("remove ./cuckoo", b"1\nno\n");
    notes.run("compact ./scalable-cuckoo", b"");
    notes.run("merge ./bloom ./bloom -o ./merged", b"");
    notes.run("fold ./bloom --by 1 -o ./folded", b"");
    notes.run("convert ./bitmap --to dense -o ./dense", b"");
    notes.run("info ./dense", b"");
    notes.run("check ./bloom", b"1\n\xff\n");
    notes.run("check -v ./bloom", b"1\n\xff\n");
    notes.run("check -c ./bloom", b"1\n");
    notes.run("dedup -n 1k -p 1% --state ./state", &keys);
    notes.run("dedup -c", &keys);
    notes.run("dedup -n 10 -p 1% --window 1h", &keys);
    // So full that it knows no more than bounds.
    notes.run("dedup -n 10 -p 1%", &keys);
    let mut bytes = fs::read(notes.path("bloom")).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    notes.directory.file("damaged", &bytes);
    notes.run("info ./damaged", b"");

    for (name, format, bytes) in [
        ("guava", "guava", golden("guava_mitz64.jsonl", "serialized_hex")),
        ("spark", "spark", golden("spark_v2.jsonl", "serialized_hex")),
        ("redis-bf", "redis", golden("redisbloom_bf.jsonl", "dump_hex")),
        ("redis-cf", "redis", golden("redisbloom_cf.jsonl", "dump_hex")),
        ("leveldb", "leveldb", golden("leveldb_filters.jsonl", "filter_hex")),
    ] {
        notes.directory.file(name, &bytes);
        notes.run(&format!("import --format {format} ./{name} -o ./{name}.mayhap"), b"");
        notes.run(&format!("info ./{name}.mayhap"), b"");
        notes.run(&format!("info --format {format} ./{name}"), b"");
        notes.run(&format!("export ./{name}.mayhap -o ./{name}.again"), b"");
    }
    notes.run("export ./redis-bf.mayhap --chunks -o -", b"");
    notes.run("merge ./guava.mayhap ./guava.mayhap -o ./guavas", b"");
    notes.run("add ./guava.mayhap", b"key\n");
    notes.run("verify ./guava.mayhap --samples 1k --no-keys", b"");
    notes.run("import --list --format redis REPOSITORY/testdata/golden/redisbloom_redis70.rdb", b"");
    notes.run("import --list --format parquet REPOSITORY/testdata/golden/parquet_pyarrow.parquet", b"");
    notes.run(
        "convert --from redis REPOSITORY/testdata/golden/redisbloom_redis70.rdb --key urls --to redis-dump -o ./urls",
        b"",
    );
    let file = BloomFilter::with_rate(100, 0.01).unwrap().to_bytes().unwrap();
    let payload = [b"mayhap\x00\x01\0\0\0\0\0\0\0\0", &file[..], b"\xff\xffchecksum\n"].concat();
    notes.run("import --format redis - -o ./native", &payload);

    let all: BTreeSet<String> = notes.names.values().flatten().cloned().collect();
    let commands: BTreeSet<String> = COMMANDS.iter().map(|command| (*command).to_owned()).collect();
    assert_eq!(all, commands, "every command was run");
    let documented = documented();
    let mut faults = String::new();
    for (name, commands) in &notes.names {
        if documented.get(name) != Some(commands) {
            faults += &format!("`{name}` of {commands:?}, in the table {:?}\n", documented.get(name));
        }
    }
    for name in documented.keys().filter(|name| !notes.names.contains_key(*name)) {
        faults += &format!("`{name}` is in the table, and nobody prints it\n");
    }
    assert!(faults.is_empty(), "{faults}");
}

/// A script that sees exit code 2 shows what is on stderr, whatever the command.
#[test]
fn errors_are_sentences_on_stderr() {
    let directory = Directory::new("json-errors");
    let lines = directory.file("lines", b"a\n");
    for arguments in [
        &["plan", "-n", "1M"][..],
        &["build", "-o", "absent/filter"],
        &["add", "absent"],
        &["remove", "absent"],
        &["compact", "absent"],
        &["check", "absent"],
        &["dedup", "absent"],
        &["info", "absent"],
        &["verify", "absent"],
        &["merge", "absent", "absent", "-o", "filter"],
        &["fold", "absent", "--by", "2", "-o", "filter"],
        &["import", "--format", "guava", "absent", "-o", "filter"],
        &["export", "absent", "-o", "filter"],
        &["convert", "absent", "--to", "mayhap", "-o", "filter"],
        &["missing", "-r", "0..9", &lines],
        &["hash", "-i", "absent"],
        &["bench", "-n", "1"],
    ] {
        fails(&[arguments, &["--json"]].concat(), b"", "mayhap: ");
        fails(
            &[arguments, &["--json", "--frobnicate"]].concat(),
            b"",
            "error: unexpected argument '--frobnicate'",
        );
    }
}
