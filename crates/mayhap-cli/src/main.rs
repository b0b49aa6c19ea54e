//! `mayhap`: membership filters on the command line.
//!
//! `main` chooses; one module per subcommand does. Results go to stdout, everything said about them to stderr. Exit
//! codes: 0 for success (also when the reader of our output leaves early), 2 for an error.

mod dedup;
mod failure;
mod input;
mod lines;
mod numbers;
mod plan;
mod progress;
mod serve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

/// Is this key in the set? No, or mayhap.
///
/// Membership filters answer that for very large sets in very little memory, with an error rate you choose.
#[derive(Parser)]
#[command(name = "mayhap", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  mayhap plan -n 100M -p 1%            what would a filter of 100 million keys cost?
  mayhap dedup urls.txt > unique.txt   every line once, in 64 MiB of memory
  mayhap serve                         filters for every Redis client, on port 25666

Exit codes: 0 success, 2 error.";

#[derive(Subcommand)]
enum Command {
    Plan(plan::Arguments),
    Dedup(dedup::Arguments),
    Serve(serve::Arguments),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Dedup(arguments) => dedup::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
    };
    match result {
        // Whoever read our output (`head`, a pager) has seen enough.
        Ok(()) | Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(Failure::Message(message)) => {
            failure::say(&format!("mayhap: {message}"));
            ExitCode::from(2)
        }
    }
}
