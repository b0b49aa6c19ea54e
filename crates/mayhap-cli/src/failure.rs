//! How a command ends: with an answer, or early, and how to say so.

use std::io::{self, Write as _};
use std::path::Path;

use mayhap::codec::FileError;

/// What a command that came to its end has to say by its exit code, as grep does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Found, or simply done.
    Yes,
    /// Nothing found, or not as it should be.
    No,
}

/// The ways a command can end early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of our output is gone, which is not an error.
    OutputClosed,
    /// One sentence for the user: what was wrong and what to do.
    Message(String),
}

impl Failure {
    /// A file that is not to be replaced.
    pub(crate) fn is_there(path: &Path) -> Self {
        Self::Message(format!(
            "{} is there already; --force replaces it, or choose another name",
            path.display()
        ))
    }

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
        match error {
            // Another process was faster, for the file wasn't there when the command began.
            mayhap::Error::File(FileError::AlreadyExists { path }) => Self::is_there(&path),
            _ => Self::Message(error.to_string()),
        }
    }
}

/// Writes results to stdout.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::from_output(&error))
}

/// Writes to stdout what is to be said of a file that has been written, if one has. Should that fail, the error says that
/// the file is there: who only sees the exit code would take it for lost.
pub(crate) fn print_of(written: Option<&Path>, text: &str) -> Result<(), Failure> {
    print(text).map_err(|failure| match (failure, written) {
        (Failure::Message(message), Some(path)) => Failure::Message(format!(
            "{message}; {} had been written by then, and is complete",
            path.display()
        )),
        (failure, _) => failure,
    })
}

/// Prints a line to stderr. That nobody can read it is no reason to stop, and `eprintln!` would panic.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
