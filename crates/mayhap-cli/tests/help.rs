//! What `mayhap` says about itself.

mod run;

use run::{fails, mayhap};

#[test]
fn every_command_shows_an_example_of_itself() {
    for command in ["plan", "dedup"] {
        let output = mayhap(&[command, "--help"], b"");
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("Examples:") && text.contains(&format!("  mayhap {command} ")), "{text}");
    }
    let output = mayhap(&["--help"], b"");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Examples:") && text.contains("Exit codes"), "{text}");
}

#[test]
fn the_version_is_the_crates() {
    let output = mayhap(&["--version"], b"");
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        concat!("mayhap ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn unknown_commands_are_refused() {
    fails(&["frobnicate"], b"", "unrecognized subcommand 'frobnicate'");
    let output = mayhap(&[], b"");
    assert_eq!(output.status.code(), Some(2));
}
