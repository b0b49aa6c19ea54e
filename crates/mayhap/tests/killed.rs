//! A process that is killed while it saves leaves the old file or the new one, whole, and nothing that stands in the
//! way of the next save.
//!
//! The test runs itself as a child that saves one filter over the other, again and again, and kills it at a different
//! moment each time.

#![allow(clippy::unwrap_used, reason = "a check that panics has failed")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use mayhap::BloomFilter;
use mayhap::codec::Existing;

/// Tells the child where to save.
const TARGET: &str = "MAYHAP_TEST_SAVE_TO";
/// Kills, each a little later after the child's first save than the one before.
const KILLS: u64 = 40;

/// Generation 0 holds the even numbers, generation 1 the odd ones. Large enough that a save takes milliseconds.
fn generation(odd: bool) -> BloomFilter {
    let mut filter = BloomFilter::with_rate(500_000, 0.001).unwrap();
    filter.extend((0..500_000u64).map(|number| 2 * number + u64::from(odd)));
    filter
}

#[test]
fn a_killed_save_leaves_a_whole_file() {
    if let Ok(target) = env::var(TARGET) {
        save_for_ever(Path::new(&target));
    }
    let directory = env::temp_dir().join(format!("mayhap-killed-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join("set.mayhap");
    let generations = [generation(false), generation(true)];
    let mut seen = [0; 2];
    for kill in 0..KILLS {
        generations[0].save(&path, Existing::Replace).unwrap();
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["a_killed_save_leaves_a_whole_file", "--exact", "--nocapture"])
            .env(TARGET, &path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for(&ready_file(&path));
        thread::sleep(Duration::from_micros(kill * 397));
        child.kill().unwrap();
        child.wait().unwrap();

        let found = BloomFilter::open(&path).unwrap();
        let which = generations.iter().position(|filter| *filter == found);
        seen[which.expect("the file is one of the two that were saved")] += 1;
        fs::remove_file(ready_file(&path)).unwrap();
    }
    assert!(seen[1] > 0, "no save was ever finished: {seen:?}");
    assert!(leftovers(&directory) > 0, "no save was ever interrupted");
    generations[1].save(&path, Existing::Replace).unwrap();
    assert!(BloomFilter::open(&path).unwrap() == generations[1]);
    fs::remove_dir_all(&directory).unwrap();
}

/// What the child does until it is killed.
fn save_for_ever(path: &Path) -> ! {
    let generations = [generation(true), generation(false)];
    fs::write(ready_file(path), "").unwrap();
    loop {
        for filter in &generations {
            filter.save(path, Existing::Replace).unwrap();
        }
    }
}

/// Stands beside the target once the child is about to save.
fn ready_file(path: &Path) -> PathBuf {
    path.with_extension("ready")
}

/// Temporary files of saves that were interrupted.
fn leftovers(directory: &Path) -> usize {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with(".mayhap-")).count()
}

fn wait_for(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "the child never began to save");
        thread::sleep(Duration::from_millis(1));
    }
}
