//! Why a command stopped, and how to say so.

use std::io::{self, Write as _};

/// The ways a command can end early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of our output is gone, which is not an error.
    OutputClosed,
    /// One sentence for the user: what was wrong and what to do.
    Message(String),
}

impl Failure {
    /// A failure to write results.
    pub(crate) fn from_output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::OutputClosed
        } else {
            Self::Message(format!("cannot write the output: {error}"))
        }
    }
}

impl From<mayhap::Error> for Failure {
    fn from(error: mayhap::Error) -> Self {
        Self::Message(error.to_string())
    }
}

/// Prints a line to stderr. That nobody can read it is no reason to stop, and `eprintln!` would panic.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
