//! Flags that several commands have: one definition of each, so that it has the same words everywhere.
//!
//! A command whose `--json` or `--quiet` means something else has its own: the lines that `check` prints as JSON are its
//! results, not a summary of them, and its `-q` stops at the first.

use clap::Args;

/// For commands that write or change a file: how they tell what they did.
#[derive(Args, Debug, Clone)]
pub(crate) struct SummaryFlags {
    /// Print the summary as JSON on standard output
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) json: bool,

    #[command(flatten)]
    quiet: Quiet,
}

impl SummaryFlags {
    /// Whether nothing is to be said but errors.
    pub(crate) fn quiet(&self) -> bool {
        self.quiet.quiet
    }
}

/// For commands that say something beside their results.
#[derive(Args, Debug, Clone)]
pub(crate) struct Quiet {
    /// No summary, no warning, no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// For commands that can be tried out first.
#[derive(Args, Debug, Clone)]
pub(crate) struct DryRun {
    /// Say what would come of it, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// For commands whose result is one report.
#[derive(Args, Debug, Clone)]
pub(crate) struct JsonReport {
    /// Write the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
