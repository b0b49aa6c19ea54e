//! A progress line for people who watch.

use std::io::{self, IsTerminal as _};

use indicatif::{ProgressBar, ProgressStyle};

/// Drawn on stderr while a command reads, and gone when it ends. Only on a terminal, and only if the results don't go
/// to a terminal too, where they would be drawn over.
#[derive(Debug)]
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// For `total_bytes` of input, or for input of unknown length.
    pub(crate) fn new(total_bytes: Option<u64>, is_wanted: bool) -> Self {
        Self::beside_nothing(total_bytes, is_wanted && !io::stdout().is_terminal())
    }

    /// For a command that prints nothing while it reads: it may be drawn wherever somebody watches.
    pub(crate) fn beside_nothing(total_bytes: Option<u64>, is_wanted: bool) -> Self {
        if !is_wanted || !io::stderr().is_terminal() {
            return Self(None);
        }
        let (bar, template) = match total_bytes {
            Some(total) => {
                (ProgressBar::new(total), "{wide_bar} {percent:>3}%  {bytes_per_sec}, {eta} left  {msg}")
            }
            None => (ProgressBar::new_spinner(), "{spinner} {bytes}, {bytes_per_sec}  {msg}"),
        };
        match ProgressStyle::with_template(template) {
            Ok(style) => Self(Some(bar.with_style(style))),
            Err(_) => Self(None),
        }
    }

    /// For work in so many steps, whose results are printed when all is done: so it is drawn on any terminal.
    pub(crate) fn steps(total: u64, is_wanted: bool) -> Self {
        if !is_wanted || !io::stderr().is_terminal() {
            return Self(None);
        }
        let style = ProgressStyle::with_template("{wide_bar} {percent:>3}%  {msg}");
        Self(style.ok().map(|style| ProgressBar::new(total).with_style(style)))
    }

    /// More bytes were read, or steps done. `message` is asked for only if somebody watches.
    pub(crate) fn advance(&self, bytes: u64, message: impl FnOnce() -> String) {
        if let Some(bar) = &self.0 {
            bar.set_message(message());
            bar.inc(bytes);
        }
    }

    /// Prints a line to stderr without tearing the bar.
    pub(crate) fn say(&self, line: &str) {
        match &self.0 {
            Some(bar) => bar.suspend(|| crate::failure::say(line)),
            None => crate::failure::say(line),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
