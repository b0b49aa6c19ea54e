//! What `mayhap` says about itself: help, completions and manual pages.

mod run;

use std::fs;
use std::process::Command;

use run::{Directory, fails, mayhap};

const COMMANDS: [&str; 20] = [
    "plan",
    "build",
    "add",
    "remove",
    "compact",
    "check",
    "dedup",
    "info",
    "verify",
    "merge",
    "fold",
    "convert",
    "import",
    "export",
    "missing",
    "hash",
    "bench",
    "serve",
    "completions",
    "man",
];

/// What it prints, of a command that succeeds.
fn stdout(arguments: &[&str]) -> String {
    let output = mayhap(arguments, b"");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    assert!(output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_list_above_is_complete() {
    let help = stdout(&["--help"]);
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let listed: Vec<&str> = list
        .lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert_eq!(listed, COMMANDS);
}

#[test]
fn every_command_shows_an_example_of_itself() {
    for command in COMMANDS {
        for flag in ["--help", "-h"] {
            let text = stdout(&[command, flag]);
            assert!(text.contains("Examples:"), "{text}");
            assert!(text.contains(&format!("mayhap {command}")), "{text}");
            assert!(text.contains("Exit codes:"), "{text}");
            assert!(text.contains(&format!("Usage: mayhap {command}")), "{text}");
        }
    }
    let text = stdout(&["--help"]);
    assert!(text.contains("Examples:") && text.contains("Exit codes"), "{text}");
}

#[test]
fn help_fits_a_terminal_and_says_what_every_option_is() {
    for command in COMMANDS {
        let text = stdout(&[command, "-h"]);
        for line in text.lines() {
            // 100 columns, but for examples, which are not to be broken.
            assert!(
                line.chars().count() <= 100 || line.contains("mayhap ") || line.contains("  "),
                "{line:?}"
            );
        }
        let options = text.lines().filter(|line| line.trim_start().starts_with('-'));
        for option in options {
            assert!(!option.trim_end().ends_with('>'), "{command}: {option:?} has no explanation");
        }
    }
}

#[test]
fn results_can_be_had_as_json() {
    // Those without have no result but a file that is not ours to define.
    for command in COMMANDS.iter().filter(|command| !["serve", "completions", "man"].contains(command)) {
        let text = stdout(&[command, "--help"]);
        assert!(text.contains("--json"), "{command}:\n{text}");
    }
}

/// What the short help of a command says about a flag.
fn explanation(command: &str, flag: &str) -> Option<String> {
    let help = stdout(&[command, "-h"]);
    let line = help.lines().find(|line| line.split_whitespace().any(|word| word == flag))?;
    let (_, words) = line.split_once(&format!("{flag}  "))?;
    Some(words.trim().to_owned())
}

#[test]
fn flags_that_mean_the_same_have_the_same_words() {
    let those_with = |flag: &str, words: &str| -> Vec<&str> {
        let said = |command: &&str| explanation(command, flag).as_deref() == Some(words);
        COMMANDS.into_iter().filter(said).collect()
    };
    let (summary, silent) =
        ("Print the summary as JSON on standard output", "No summary, no warning, no progress");
    let writers = ["build", "add", "remove", "compact", "merge", "fold", "convert", "export"];
    assert_eq!(those_with("--json", summary), writers);
    assert_eq!(those_with("--json", "Write the report as JSON"), ["plan", "bench"]);
    assert_eq!(
        those_with("--quiet", silent),
        [
            "build", "add", "remove", "compact", "dedup", "merge", "fold", "convert", "import", "export",
            "missing"
        ]
    );
    // The others mean something else: their exit code is the answer.
    let others = COMMANDS
        .into_iter()
        .filter(|command| explanation(command, "--quiet").is_some_and(|words| words != silent));
    assert_eq!(others.collect::<Vec<_>>(), ["check", "verify"]);
    let rehearsals = COMMANDS.into_iter().filter(|command| explanation(command, "--dry-run").is_some());
    let rehearsals: Vec<&str> = rehearsals.collect();
    assert_eq!(rehearsals, ["add", "remove", "compact", "fold"]);
    assert_eq!(those_with("--dry-run", "Say what would come of it, and write nothing"), rehearsals);
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    for command in [
        "build", "add", "remove", "compact", "dedup", "merge", "fold", "convert", "import", "export",
        "verify", "check",
    ] {
        fails(&[command, "--json", "-q"], b"", "cannot be used with");
    }
    for command in ["compact", "fold"] {
        fails(&[command, "--dry-run", "-q", "filter"], b"", "cannot be used with");
    }
}

#[test]
fn every_shell_has_completions_of_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(&["completions", shell]);
        for command in COMMANDS {
            assert!(script.contains(command), "{shell}: no {command}");
        }
        assert!(script.contains("skip-invalid"), "{shell}");
    }
    fails(&["completions", "tcsh"], b"", "invalid value 'tcsh'");
    fails(&["completions"], b"", "required");
}

#[test]
fn bash_takes_its_completions() {
    let directory = Directory::new("completions");
    let script = directory.file("mayhap.bash", stdout(&["completions", "bash"]).as_bytes());
    let Ok(output) = Command::new("bash").args(["-n", &script]).output() else { return };
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    // Sourced, it offers what begins alike.
    let ask = format!(
        "source {script}; COMP_WORDS=(mayhap mis); COMP_CWORD=1; _mayhap mayhap mis mayhap; echo \"${{COMPREPLY[@]}}\""
    );
    let output = Command::new("bash").args(["--norc", "-c", &ask]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "missing", "{output:?}");
}

#[test]
fn every_command_has_a_manual_page() {
    let main = stdout(&["man"]);
    for command in COMMANDS {
        assert!(main.contains(&format!("mayhap\\-{command}(1)")), "{command} is not in mayhap(1)");
        let page = stdout(&["man", command]);
        check_page(&page, &format!("mayhap-{command}"));
        // Examples keep their lines.
        let (_, examples) = page.split_once(".SH EXAMPLES\n.nf\n").unwrap();
        assert!(examples.lines().next().unwrap().starts_with("  "), "{examples}");
        assert!(page.contains(".SH SEE ALSO"), "{page}");
    }
    check_page(&main, "mayhap");
    fails(&["man", "frobnicate"], b"", "there is no command \"frobnicate\"; the commands are plan, build");
}

/// What man(1) needs: a title, the sections in their order, and requests that it knows.
fn check_page(page: &str, name: &str) {
    let title = page.lines().find(|line| line.starts_with(".TH")).expect("a title");
    assert!(title.contains(name) && title.contains(concat!("mayhap ", env!("CARGO_PKG_VERSION"))), "{title}");
    let sections: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
    assert_eq!(sections[..3], ["NAME", "SYNOPSIS", "DESCRIPTION"], "{name}");
    assert!(
        sections.contains(&"EXAMPLES")
            && sections.contains(&"\"EXIT STATUS\"") | sections.contains(&"EXIT STATUS"),
        "{name}: {sections:?}"
    );
    for line in page.lines().filter(|line| line.starts_with(['.', '\''])) {
        let request = line[1..].split_whitespace().next().unwrap_or_default();
        let known =
            ["TH", "SH", "SS", "TP", "PP", "RS", "RE", "IP", "br", "sp", "nf", "fi", "ie", "el", "ds"];
        assert!(known.contains(&request), "{name}: {line:?}");
    }
}

#[test]
fn all_pages_are_written_at_once_and_nothing_is_overwritten() {
    let directory = Directory::new("man");
    let output = mayhap(&["man", "--all", directory.path()], b"");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("wrote 21 pages"), "{output:?}");
    let names = || {
        let mut names: Vec<String> = fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let mut expected: Vec<String> = COMMANDS.iter().map(|command| format!("mayhap-{command}.1")).collect();
    expected.push("mayhap.1".to_owned());
    expected.sort();
    assert_eq!(names(), expected);
    let page = format!("{}/mayhap-hash.1", directory.path());
    assert_eq!(fs::read_to_string(&page).unwrap(), stdout(&["man", "hash"]));

    fs::write(&page, "mine").unwrap();
    fs::remove_file(format!("{}/mayhap-build.1", directory.path())).unwrap();
    fails(&["man", "--all", directory.path()], b"", "is there already; --force replaces it");
    assert_eq!(names().len(), 20, "nothing was written");
    assert_eq!(mayhap(&["man", "--all", directory.path(), "--force"], b"").status.code(), Some(0));
    assert_eq!(names(), expected);
    assert_ne!(fs::read_to_string(&page).unwrap(), "mine");
    fails(&["man", "--all", &format!("{}/absent", directory.path())], b"", "there is no directory");
}

#[test]
fn the_version_is_the_crates() {
    assert_eq!(stdout(&["--version"]), concat!("mayhap ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn unknown_commands_are_refused() {
    fails(&["frobnicate"], b"", "unrecognized subcommand 'frobnicate'");
    let output = mayhap(&[], b"");
    assert_eq!(output.status.code(), Some(2));
}

/// One of a thing has no plural, in whatever is said about a filter of one key.
#[test]
fn one_thing_is_not_several() {
    let directory = Directory::new("help-one");
    let table = directory.file("table.csv", b"a\nb\n");
    let line = directory.file("line", b"a\n");
    let state = format!("{}/state", directory.path());
    let mut said = Vec::new();
    let mut listen = |arguments: &[&str], input: &[u8]| {
        let output = mayhap(arguments, input);
        for text in [output.stdout, output.stderr] {
            said.push((arguments.join(" "), String::from_utf8_lossy(&text).replace('\n', " ")));
        }
    };
    let kinds =
        ["bloom", "classic", "scalable", "counting", "dual", "d-left", "cuckoo", "scalable-cuckoo", "window"];
    for kind in kinds {
        let path = format!("{}/{kind}", directory.path());
        for keys in [&[][..], &["-n", "1"]] {
            listen(&[&["build", "--force", "--kind", kind, "-o", &path, &line], keys].concat(), b"");
            listen(&["info", &path], b"");
            listen(&["add", &path], b"a\n");
            listen(&["remove", "--strict", &path], b"b\n");
            listen(&["remove", &path], b"a\n");
            listen(&["verify", &path, &line], b"");
            listen(&["check", "-c", &path, &line], b"");
            listen(&["compact", &path], b"");
            listen(&["fold", &path, "--by", "1", "--dry-run"], b"");
        }
        listen(&["build", "--force", "--kind", kind, "-n", "1", "-p", "1e-40", "-o", &path], b"a\n");
    }
    listen(&["dedup", "-n", "1", "--state", &state, &line], b"");
    listen(&["dedup", "-c"], b"a\n");
    listen(&["missing", "-r", "0..1", "--skip-invalid"], b"x\n");
    listen(&["missing", "-r", "0..1"], b"0\n");
    listen(&["build", "-o", "none", "-f", "2", &table], b"");
    listen(&["bench", "-n", "1"], b"");
    listen(&["plan", "-n", "1"], b"");
    listen(&["plan", "-n", "1", "--key-bytes", "1"], b"");
    listen(&["plan", "-n", "2", "--range", "1"], b"");
    listen(&["plan", "-n", "1", "--range", "1"], b"");
    for system in ["redis", "leveldb", "guava"] {
        listen(&["plan", "-n", "1", "-p", "99%", "--for", system], b"");
    }
    let mut wrong = Vec::new();
    for (command, text) in said {
        let words: Vec<&str> = text.split_whitespace().collect();
        for triple in words.windows(3) {
            // 2^31 - 1 is more than one.
            let (count, thing) = (triple[1], triple[2].trim_end_matches([',', ';', ':', '.']));
            if triple[0] == "-" {
                continue;
            }
            let is_plural = thing.len() > 3 && thing.ends_with('s') && thing != "times";
            if count == "1" && is_plural {
                wrong.push(format!("{command}: 1 {thing}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
