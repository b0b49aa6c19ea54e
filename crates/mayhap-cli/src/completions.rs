//! `mayhap completions`: what a shell needs to complete our command line.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::failure::{Answer, Failure, print};

/// Print completions for a shell
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  mayhap completions bash > ~/.local/share/bash-completion/completions/mayhap
  mayhap completions zsh > ~/.zfunc/_mayhap          a directory of $fpath
  mayhap completions fish > ~/.config/fish/completions/mayhap.fish
  mayhap completions powershell >> $PROFILE

Exit codes: 0 success, 2 error.";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Cli::command(), "mayhap", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Answer::Yes)
}
