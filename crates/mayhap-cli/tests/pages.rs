//! Runs `README.md`, `docs/cookbook.md` and `docs/cli.md`: every block of bash, in order, as a reader would copy it.
//!
//! A block of text after one is what it prints; `…` in it stands for anything. Blocks with another word after `bash` are
//! run where that program is installed.

mod run;

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use run::Directory;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The port of the server in the pages: one that is free takes its place.
const PORT: &str = "25666";

/// Of `user:1` to `user:1000`, at 1 %.
const GUAVA_CASE: &str = "g-64-stringUtf8-n1000-p0.01";

/// Lines of bash, and what they print.
#[derive(Debug, Default)]
struct Block {
    line: usize,
    script: String,
    expected: Option<String>,
    /// A program that it needs, which may not be there.
    needs: Option<String>,
}

#[test]
fn every_recipe_runs() {
    every_block_runs("docs/cookbook.md", 12);
}

#[test]
fn every_command_is_shown_as_it_is() {
    every_block_runs("docs/cli.md", 12);
}

#[test]
fn the_front_page_is_as_it_says() {
    every_block_runs("README.md", 1);
}

/// Runs a page, which has at least so many blocks; most of them say what they print.
fn every_block_runs(page: &str, least: usize) {
    let text = fs::read_to_string(format!("{REPOSITORY}/{page}")).expect("the page");
    let blocks = blocks(&text);
    assert!(blocks.len() >= least, "{} blocks", blocks.len());
    assert!(blocks.iter().filter(|block| block.expected.is_some()).count() * 3 >= least * 2);
    let directory = Directory::new(&page.replace('/', "-"));
    let root = Path::new(directory.path());
    // What the page finds in a checkout.
    std::os::unix::fs::symlink(format!("{REPOSITORY}/testdata"), root.join("testdata")).expect("a link");
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = port.expect("a free port").port().to_string();

    let is_run: Vec<bool> =
        blocks.iter().map(|block| block.needs.as_deref().is_none_or(is_installed)).collect();
    // One shell for all: what a recipe starts or sets is there for the next.
    let mut script = String::from("set -eu\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n");
    for (number, (block, _)) in blocks.iter().zip(&is_run).enumerate().filter(|(_, (_, is_run))| **is_run) {
        script += &format!("exec >.out{number} 2>.err{number}\n{}", block.script.replace(PORT, &port));
    }
    script += "exec >/dev/null 2>&1\ntouch .done\n";
    fs::write(root.join(".script"), script).expect("a file");
    let path = format!(
        "{}:{}",
        Path::new(env!("CARGO_BIN_EXE_mayhap")).parent().expect("a directory").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let status = Command::new("bash")
        .arg(".script")
        .current_dir(root)
        .env("PATH", path)
        // A reader has none: a page that uses it must set it.
        .env_remove("PORT")
        .status()
        .expect("bash is there");
    let last = (0..blocks.len()).rev().find(|number| root.join(format!(".out{number}")).exists());

    for (number, (block, _)) in blocks.iter().zip(&is_run).enumerate().filter(|(_, (_, is_run))| **is_run) {
        let read = |what: &str| fs::read_to_string(root.join(format!(".{what}{number}"))).unwrap_or_default();
        let (printed, said) = (read("out"), read("err"));
        let place = format!("{page}, line {}: printed\n{printed}\nsaid\n{said}", block.line);
        assert!(status.success() || Some(number) != last, "{place}\nand failed");
        if let Some(expected) = &block.expected {
            let fits = expected.lines().count() == printed.lines().count()
                && expected.lines().zip(printed.lines()).all(|(expected, line)| matches(expected, line));
            assert!(fits, "{place}\ninstead of\n{expected}");
        }
    }
    assert!(root.join(".done").exists(), "the last recipe came to its end");
}

/// The blocks of a page.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines = page.lines().enumerate();
    // Whether only empty lines stand between the last block and here.
    let mut is_after_block = false;
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            is_after_block &= line.is_empty();
            continue;
        };
        let text: String = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| *line != "```")
            .flat_map(|line| [line, "\n"])
            .collect();
        let mut words = info.split_whitespace();
        match (words.next(), words.next()) {
            (Some("bash"), needs) => {
                let needs = needs.map(str::to_owned);
                blocks.push(Block { line: number + 1, script: text, expected: None, needs });
                is_after_block = true;
            }
            (Some("text"), _) if is_after_block => {
                if let Some(block) = blocks.last_mut() {
                    block.expected = Some(text);
                }
                is_after_block = false;
            }
            _ => is_after_block = false,
        }
    }
    blocks
}

/// Whether a line is as shown, where `…` stands for anything, and any space for any other.
fn matches(expected: &str, line: &str) -> bool {
    let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (expected, line) = (spaced(expected), spaced(line));
    let Some((first, others)) = expected.split_once('…') else { return expected == line };
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let (middle, last) = others.rsplit_once('…').unwrap_or(("", others));
    for part in middle.split('…') {
        match rest.find(part) {
            Some(place) => rest = &rest[place + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[test]
fn dots_stand_for_anything() {
    assert!(matches("a", "a") && !matches("a", "ab") && !matches("ab", "a"));
    assert!(matches("in … s", "in 0.01 s") && !matches("in … s", "in 0.01 m"));
    assert!(matches("a…b…c", "a12b3b4c") && !matches("a…b…c", "a12b34"));
    assert!(matches("a…", "abc") && matches("…", "") && !matches("", "a"));
    assert!(matches("a  b", "a b") && !matches("a b", "ab"));
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

#[test]
fn the_filter_of_a_java_program_is_the_recorded_one() {
    assert_eq!(fs::read(format!("{REPOSITORY}/testdata/guava-users.bin")).expect("a file"), guava_filter());
}

/// A filter as Guava's `writeTo` wrote it, of the keys that its record names.
fn guava_filter() -> Vec<u8> {
    let text =
        fs::read_to_string(format!("{REPOSITORY}/testdata/golden/guava_mitz64.jsonl")).expect("golden data");
    let case = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
        .find(|case| case["id"] == GUAVA_CASE)
        .expect("the case is there");
    let hex = case["serialized_hex"].as_str().expect("text");
    let byte = |place: usize| u8::from_str_radix(&hex[place..place + 2], 16).expect("hexadecimal digits");
    (0..hex.len()).step_by(2).map(byte).collect()
}
