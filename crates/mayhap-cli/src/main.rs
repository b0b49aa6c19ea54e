//! `mayhap`: membership filters on the command line.
//!
//! `main` chooses; one module per subcommand does. Results go to stdout, everything said about them to stderr. Exit
//! codes as grep has them: 0 for yes (also when the reader of our output leaves early), 1 for no, 2 for an error.

mod add;
mod bench;
mod build;
mod change;
mod check;
mod columns;
mod compact;
mod completions;
mod convert;
mod dedup;
mod digests;
mod export;
mod failure;
mod filter_file;
mod flags;
mod fold;
mod foreign;
mod hash;
mod import;
mod info;
mod keys;
mod lock;
mod man;
mod measure;
mod merge;
mod missing;
mod numbers;
mod open_files;
mod output;
mod plan;
mod progress;
mod remove;
mod serve;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::{Answer, Failure};

/// Is this key in the set? No, or mayhap.
///
/// Membership filters answer that for very large sets in very little memory, with an error rate you choose.
#[derive(Parser)]
#[command(name = "mayhap", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  mayhap plan -n 100M -p 1%                  what would a filter of 100 million keys cost?
  mayhap build -p 0.1% -o seen.mayhap urls   a filter of every line of a file
  mayhap check seen.mayhap new-urls          which of these lines are in it?
  mayhap dedup urls.txt > unique.txt         every line once, in 64 MiB of memory
  mayhap serve                               filters for every Redis client, on port 25666

Exit codes: 0 yes or done, 1 no, 2 error.";

#[derive(Subcommand)]
enum Command {
    Plan(plan::Arguments),
    Build(build::Arguments),
    Add(add::Arguments),
    Remove(remove::Arguments),
    Compact(compact::Arguments),
    Check(check::Arguments),
    Dedup(dedup::Arguments),
    Info(info::Arguments),
    Verify(verify::Arguments),
    Merge(merge::Arguments),
    Fold(fold::Arguments),
    Convert(convert::Arguments),
    Import(import::Arguments),
    Export(export::Arguments),
    Missing(missing::Arguments),
    Hash(hash::Arguments),
    Bench(bench::Arguments),
    Serve(serve::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

fn main() -> ExitCode {
    match run(&Cli::parse().command) {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        // Whoever read our output (`head`, a pager) has seen enough.
        Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(Failure::Message(message)) => {
            failure::say(&format!("mayhap: {message}"));
            ExitCode::from(2)
        }
    }
}

fn run(command: &Command) -> Result<Answer, Failure> {
    match command {
        Command::Plan(arguments) => plan::run(arguments),
        Command::Build(arguments) => build::run(arguments),
        Command::Add(arguments) => add::run(arguments),
        Command::Remove(arguments) => remove::run(arguments),
        Command::Compact(arguments) => compact::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Dedup(arguments) => dedup::run(arguments),
        Command::Info(arguments) => info::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
        Command::Merge(arguments) => merge::run(arguments),
        Command::Fold(arguments) => fold::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Import(arguments) => import::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Missing(arguments) => missing::run(arguments),
        Command::Hash(arguments) => hash::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Man(arguments) => man::run(arguments),
    }
}
