//! What somebody sees who watches: bars on a terminal, nowhere else, and nothing of them at the end.

#![cfg(unix)]

mod run;

use std::fs::File;
use std::io::Read as _;
use std::process::{ExitStatus, Stdio};
use std::thread;

use run::{Directory, command, mayhap};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Takes a line of the terminal away, to draw it anew.
const CLEAR: &str = "\r\u{1b}[2K";

/// Runs the program with its messages on a terminal, and its results too or into a pipe. What was drawn, and what came
/// through the pipe.
fn watch(arguments: &[&str], results_too: bool) -> (String, Vec<u8>, ExitStatus) {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&controller).expect("a terminal of ours");
    unlockpt(&controller).expect("a terminal to open");
    let name = ptsname(&controller, Vec::new()).expect("its name");
    let mut child = {
        // Nobody but the program may have it open, or the end would never come.
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = File::from(rustix::fs::open(name, flags, Mode::empty()).expect("the terminal opens"));
        let mut command = command(arguments);
        command.stdin(Stdio::null()).stderr(terminal.try_clone().expect("a second handle"));
        if results_too {
            command.stdout(terminal);
        }
        command.spawn().expect("the program starts")
    };
    let drawn = thread::spawn(move || {
        let (mut controller, mut drawn) = (File::from(controller), Vec::new());
        // An error is the end: nobody has the terminal any more.
        let _ = controller.read_to_end(&mut drawn);
        String::from_utf8(drawn).expect("text")
    });
    let mut results = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut results).expect("the results");
    }
    let status = child.wait().expect("the program ends");
    (drawn.join().expect("the reader ends"), results, status)
}

/// What stays on the terminal, of which all is shown that came after the last bar was taken away.
fn left(drawn: &str) -> &str {
    let left = drawn.rsplit(CLEAR).next().unwrap_or(drawn);
    assert!(!left.contains(['█', '░']), "a bar was left behind: {drawn:?}");
    left
}

fn numbers(range: std::ops::Range<u32>) -> Vec<u8> {
    range.map(|number| format!("{number}\n")).collect::<String>().into_bytes()
}

#[test]
fn long_work_shows_a_bar_and_takes_it_away() {
    let directory = Directory::new("terminal-bars");
    let keys = directory.file("keys", &numbers(0..30_000));
    let some = directory.file("some", &numbers(100..30_000));
    let filter = format!("{}/filter", directory.path());
    let build = ["build", "--kind", "scalable-cuckoo", "-n", "1k", "--force", "-o", &filter];
    for (arguments, in_bar, at_end) in [
        ([&build[..], &[&keys]].concat(), "30 k of 30 k keys", "30 000 different keys"),
        (vec!["add", "--dry-run", &filter, &keys], "30 k of 30 k keys", "30 000 keys read"),
        (vec!["verify", &filter, &keys], "0 missing", "keeps its promise"),
        (vec!["verify", &filter, "--no-keys"], "absent keys", "keeps its promise"),
        (vec!["check", "-c", &filter, &keys], "30 k found", "30000"),
        (vec!["remove", &filter, &some], "29.9 k of 29.9 k keys", "29 900 keys removed"),
        (vec!["dedup", "-c", &keys], "30 k lines, 30 k new", "30 000 lines read"),
        (vec!["missing", "--range", "1..30001", &keys], "30 k lines", "1 of 30 000 numbers is missing"),
    ] {
        let (drawn, _, status) = watch(&arguments, true);
        assert!(status.success(), "{arguments:?}: {drawn:?}");
        assert!(drawn.contains(in_bar) && drawn.contains('%'), "{arguments:?}: no bar in {drawn:?}");
        assert!(left(&drawn).contains(at_end), "{arguments:?}: {drawn:?}");
    }
}

#[test]
fn compacting_shows_how_many_layers_there_still_are() {
    let directory = Directory::new("terminal-compact");
    // More buckets than are gone through in one step.
    let keys = directory.file("keys", &numbers(0..400_000));
    let some = directory.file("some", &numbers(1_000..400_000));
    let filter = format!("{}/filter", directory.path());
    let build = ["build", "-q", "--kind", "scalable-cuckoo", "-n", "10k", "-o", &filter, &keys];
    assert!(mayhap(&build, b"").status.success());
    assert!(mayhap(&["remove", "-q", &filter, &some], b"").status.success());
    let (drawn, _, status) = watch(&["compact", &filter], true);
    assert!(status.success() && drawn.contains("%  6 layers"), "{drawn:?}");
    let left = left(&drawn);
    assert!(left.contains("5 layers given back") && left.ends_with('\n'), "{drawn:?}");
}

#[test]
fn nobody_who_asks_for_silence_or_does_not_watch_gets_a_bar() {
    let directory = Directory::new("terminal-silence");
    let keys = directory.file("keys", &numbers(0..3_000));
    let filter = format!("{}/filter", directory.path());
    let (drawn, _, _) = watch(&["build", "-q", "-o", &filter, &keys], true);
    assert_eq!(drawn, "");
    for arguments in [&["check", "-q", &filter, &keys][..], &["verify", "-q", &filter, &keys]] {
        let (drawn, _, status) = watch(arguments, true);
        assert!(status.success() && drawn.is_empty(), "{arguments:?}: {drawn:?}");
    }
    for arguments in [&["verify", &filter, &keys][..], &["check", "-c", &filter, &keys], &["dedup", &keys]] {
        let output = mayhap(arguments, b"");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!message.contains(['█', '░', '\r', '\u{1b}']), "{arguments:?}: {message:?}");
    }
}

#[test]
fn results_and_bars_keep_out_of_each_others_way() {
    let directory = Directory::new("terminal-results");
    let lines = numbers(0..3_000);
    let keys = directory.file("keys", &lines);
    let filter = format!("{}/filter", directory.path());
    assert!(mayhap(&["build", "-q", "-o", &filter, &keys], b"").status.success());
    for arguments in [&["check", &filter, &keys][..], &["dedup", "-q", &keys]] {
        // Lines that scroll by are progress enough, and a bar would be drawn over them.
        let (drawn, _, _) = watch(arguments, true);
        assert_eq!(drawn.replace('\r', "").as_bytes(), lines, "{arguments:?}");
        let (_, results, _) = watch(arguments, false);
        assert_eq!(results, lines, "{arguments:?}");
    }
    let (drawn, results, _) = watch(&["check", &filter, &keys], false);
    assert!(drawn.contains("3 k found") && left(&drawn).is_empty(), "{drawn:?}");
    assert_eq!(results, lines);
    let (drawn, results, _) = watch(&["verify", "--json", &filter, &keys], false);
    assert!(drawn.contains('%') && left(&drawn).is_empty(), "{drawn:?}");
    assert!(serde_json::from_slice::<serde_json::Value>(&results).is_ok(), "{results:?}");
}

#[test]
fn a_bar_counts_the_keys_of_all_threads() {
    let directory = Directory::new("terminal-threads");
    let filter = format!("{}/filter", directory.path());
    let keys = directory.file("keys", b"a\nb\nc\n");
    let (drawn, _, _) = watch(&["build", "--threads", "8", "-o", &filter, &keys], true);
    assert!(drawn.contains("  3 keys"), "{drawn:?}");
}
