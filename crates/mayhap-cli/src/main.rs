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
mod json_bytes;
mod keys;
mod kind_word;
mod lock;
mod man;
mod measure;
mod merge;
mod missing;
mod numbers;
mod open_files;
mod output;
mod over_plan;
mod plan;
mod progress;
mod remove;
mod serve;
mod verify;

use std::process::ExitCode;

use clap::{Arg, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

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
  mayhap dedup urls.txt > unique.txt         every line once, in constant memory
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
    let command = with_negative_numbers(Cli::command());
    let cli = Cli::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit());
    match run(&cli.command) {
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

/// What flags call their values that are numbers.
const NUMBERS: [&str; 12] = [
    "BITS", "BYTES", "COUNT", "FACTOR", "NUMBER", "PORT", "RANGE", "RATE", "SECONDS", "SHARE", "SIZE", "TIME",
];

/// Lets flags that take numbers take `-1` and `-1M`, too, which else are taken for flags that there aren't. Each says then
/// what it accepts.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    command.mut_subcommands(|command| {
        command.mut_args(
            |argument| {
                if takes_number(&argument) { argument.allow_hyphen_values(true) } else { argument }
            },
        )
    })
}

fn takes_number(argument: &Arg) -> bool {
    let names = argument.get_value_names().unwrap_or_default();
    argument.get_action().takes_values()
        && !argument.is_positional()
        && names.iter().any(|name| NUMBERS.contains(&name.as_str()))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every flag whose value is a number says what is wrong with a negative one, or takes it.
    #[test]
    fn negative_numbers_are_no_flags() {
        let command = with_negative_numbers(Cli::command());
        let mut flags = 0;
        for subcommand in command.get_subcommands() {
            for flag in subcommand.get_arguments().filter(|flag| takes_number(flag)) {
                flags += 1;
                for value in ["-1", "-1M", "-0.5%"] {
                    let long = format!("--{}", flag.get_long().unwrap());
                    let words = ["mayhap", subcommand.get_name(), &long, value];
                    let error = command.clone().try_get_matches_from(words).unwrap_err().to_string();
                    assert!(error.contains(&format!("invalid value '{value}'")), "{words:?}: {error}");
                }
            }
        }
        assert!(flags > 50, "{flags}");
    }
}
