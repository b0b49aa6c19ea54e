//! `mayhap man`: manual pages, made from the help.

mod page;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory as _};
use mayhap::codec::{Existing, FileError, save_bytes};

use crate::failure::{Answer, Failure, print, say};
use page::page;

/// Print the manual pages
///
/// Without a name, mayhap(1) is printed; with the name of a command, the page of that. The pages say what --help says, in
/// the form that man(1) reads.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The command to print the page of
    #[arg(value_name = "COMMAND", conflicts_with = "all")]
    command: Option<String>,

    /// Write all pages into this directory: mayhap.1, mayhap-build.1 and so on
    #[arg(long, value_name = "DIRECTORY")]
    all: Option<PathBuf>,

    /// Replace pages that are there
    #[arg(long, requires = "all")]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  mayhap man | man -l -                        read the page
  mayhap man build | man -l -                  read that of a command
  mayhap man --all ~/.local/share/man/man1     install them all

Exit codes: 0 success, 2 error.";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let mut cli = crate::Cli::command().disable_help_subcommand(true);
    // Gives each command its full name.
    cli.build();
    match (&arguments.all, &arguments.command) {
        (Some(directory), _) => write_all(&cli, directory, arguments.force)?,
        (None, None) => print(&page(&cli))?,
        (None, Some(name)) => match cli.find_subcommand(name) {
            Some(command) => print(&page(command))?,
            None => {
                let names: Vec<&str> = cli.get_subcommands().map(Command::get_name).collect();
                return Err(Failure::Message(format!(
                    "there is no command {name:?}; the commands are {}",
                    names.join(", ")
                )));
            }
        },
    }
    Ok(Answer::Yes)
}

fn write_all(cli: &Command, directory: &Path, force: bool) -> Result<(), Failure> {
    if !directory.is_dir() {
        return Err(Failure::Message(format!(
            "there is no directory {}; make it first",
            directory.display()
        )));
    }
    let pages: Vec<(PathBuf, String)> = std::iter::once(cli)
        .chain(cli.get_subcommands())
        .map(|command| (directory.join(format!("{}.1", page::name(command))), page(command)))
        .collect();
    // All or none: what is there is noticed before the first is written.
    if let Some((path, _)) = pages.iter().find(|(path, _)| !force && path.symlink_metadata().is_ok()) {
        return Err(Failure::Message(format!("{} is there already; --force replaces it", path.display())));
    }
    let existing = if force { Existing::Replace } else { Existing::Refuse };
    for (path, text) in &pages {
        save_bytes(path, existing, |file| file.write_all(text.as_bytes()))
            .map_err(|error: FileError| Failure::Message(error.to_string()))?;
    }
    say(&format!("mayhap: wrote {} pages to {}", pages.len(), directory.display()));
    Ok(())
}
