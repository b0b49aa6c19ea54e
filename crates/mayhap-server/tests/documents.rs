//! The list of commands in `docs/commands.md` is the one the server works with.
//!
//! Run with `MAYHAP_WRITE_DOCS=1` to write it anew.

#![allow(clippy::unwrap_used, reason = "a check that panics has failed")]

use std::fmt::Write as _;

use mayhap_server::commands::table;

const BEGIN: &str = "<!-- commands: begin -->\n";
const END: &str = "<!-- commands: end -->\n";

#[test]
fn the_list_of_commands_is_the_servers() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/commands.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("docs/commands.md marks where the list begins");
    let (list, after) = rest.split_once(END).expect("docs/commands.md marks where the list ends");
    let expected = markdown();
    if std::env::var_os("MAYHAP_WRITE_DOCS").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{expected}{END}{after}")).unwrap();
        return;
    }
    assert!(
        list == expected,
        "docs/commands.md has another list than the server: write it anew with \
         `MAYHAP_WRITE_DOCS=1 cargo test -p mayhap-server --test documents`"
    );
}

fn markdown() -> String {
    let mut text = String::from("| command | what it does |\n|---|---|\n");
    let table = table();
    for place in 0..table.len() {
        let Some(spec) = table.spec(place) else { continue };
        let subcommands = table.subcommands(place);
        if subcommands.is_empty() {
            row(&mut text, &spec.syntax(spec.name), spec.summary);
        }
        for subcommand in subcommands {
            let name = subcommand.spec.name.replace('|', " ");
            row(&mut text, &subcommand.spec.syntax(&name), subcommand.spec.summary);
        }
    }
    text
}

fn row(text: &mut String, syntax: &str, summary: &str) {
    let _ = writeln!(text, "| `{}` | {summary} |", syntax.replace('|', "\\|"));
}
