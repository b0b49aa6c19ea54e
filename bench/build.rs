//! Records what the numbers were made with: the compiler and the versions Cargo.lock picked for the peers.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

const REPORTED: [&str; 17] = [
    "fastbloom",
    "bloomfilter",
    "growable-bloom-filter",
    "sbbf-rs",
    "parquet",
    "hashbrown",
    "foldhash",
    "xxhash-rust",
    "cuckoofilter",
    "scalable_cuckoo_filter",
    "pdatastructs",
    "probabilistic-collections",
    "bloom",
    "fastbloom-rs",
    "bloomcraft",
    "rustywallet-bloom",
    "mayhap",
];

fn main() {
    let lock_path = Path::new("../Cargo.lock");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", lock_path.display());
    let lock = fs::read_to_string(lock_path).unwrap_or_default();
    let versions: Vec<String> =
        REPORTED.iter().map(|&name| format!("{name} {}", locked_versions(&lock, name))).collect();
    println!("cargo::rustc-env=BENCH_VERSIONS={}", versions.join(", "));

    let rustc = env::var("RUSTC").unwrap_or_else(|_| String::from("rustc"));
    let version = Command::new(rustc).arg("--version").output().ok();
    let version = version.and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo::rustc-env=BENCH_RUSTC={}", version.as_deref().unwrap_or("unknown rustc").trim());
}

/// The versions of `name` in the lock file, joined by "/" when other crates pull in another one too.
fn locked_versions(lock: &str, name: &str) -> String {
    let header = format!("name = \"{name}\"");
    let mut lines = lock.lines();
    let mut versions = Vec::new();
    while let Some(line) = lines.next() {
        if line == header
            && let Some(version) = lines.next().and_then(|line| line.strip_prefix("version = "))
        {
            versions.push(version.trim_matches('"'));
        }
    }
    if versions.is_empty() { String::from("of unknown version") } else { versions.join("/") }
}
