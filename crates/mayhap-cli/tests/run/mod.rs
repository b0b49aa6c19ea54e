//! Running the real program.

#![allow(dead_code, unreachable_pub)] // Each test file includes this one and uses its part.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use mayhap::AnyFilter;
use serde_json::Value;

/// The program, with its standard streams taken over.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mayhap"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the program on `input` to its end.
pub fn mayhap(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = command(arguments).spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let input = input.to_vec();
    // Beside the reading of its output, so that neither side waits for the other. That it doesn't read is its business.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends");
    output
}

/// Runs the program and expects it to refuse: exit code 2, nothing on stdout, and `expected` on stderr.
pub fn fails(arguments: &[&str], input: &[u8], expected: &str) {
    let output = mayhap(arguments, input);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    assert!(message.contains(expected), "{arguments:?}: {message}");
    assert!(!message.contains("panicked"), "{arguments:?}: {message}");
}

/// Builds a filter and gives the summary in JSON.
pub fn build(arguments: &[&str], input: &[u8]) -> Value {
    let output = mayhap(&[&["build", "--json"], arguments].concat(), input);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

/// The filter in the file has all of these.
pub fn holds_all(path: &str, keys: impl IntoIterator<Item = impl AsRef<[u8]>>) {
    let filter = AnyFilter::open(path).expect("a filter");
    for key in keys {
        assert!(filter.contains(key.as_ref()), "{path}: {:?}", String::from_utf8_lossy(key.as_ref()));
    }
}

/// So many different lines.
pub fn numbered_lines(count: u64) -> Vec<u8> {
    (0..count).flat_map(|i| format!("https://example.org/{i}\n").into_bytes()).collect()
}

pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// Runs the program with its output appended to the file it is to read, and expects it to refuse. Should it not, it is
/// stopped before the disk is full.
pub fn refuses_own_output(arguments: &[&str], file: &str) {
    let before = fs::read(file).expect("the file is there");
    let append = || fs::OpenOptions::new().append(true).open(file).expect("the file can be written");
    let stdin = fs::File::open(file).expect("the file can be read");
    let mut child = command(arguments).stdin(stdin).stdout(append()).spawn().expect("the program starts");
    let is_endless = || fs::metadata(file).expect("the file is there").len() > 100_000_000;
    while child.try_wait().expect("the program can be waited for").is_none() {
        if is_endless() {
            child.kill().expect("the program can be stopped");
        }
        thread::sleep(std::time::Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("the program ended");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert!(message.contains("is also the output"), "{arguments:?}: {message}");
    assert!(fs::read(file).expect("the file is there") == before, "{arguments:?}");
}

/// A directory of its own for one test, gone at its end.
#[derive(Debug)]
pub struct Directory(PathBuf);

impl Directory {
    pub fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory for the test");
        Self(path)
    }

    /// Writes a file and gives its path.
    pub fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.0.join(name);
        fs::write(&path, content).expect("a file for the test");
        path.to_str().expect("a path in UTF-8").to_owned()
    }

    pub fn path(&self) -> &str {
        self.0.to_str().expect("a path in UTF-8")
    }

    /// The names in it, in order.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the directory is there");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
