//! What the server says about itself: one line for each event, on standard error.
//!
//! ```text
//! time=2026-11-16T02:40:31.123Z level=info event=listening address=127.0.0.1:25666 threads=4
//! ```
//!
//! Written by hand: a line for each connection and each fault is all there is, and a framework for that would be the
//! largest dependency of the server.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// Something doesn't work.
    Error,
    /// Something may soon not work.
    Warn,
    /// Start and stop.
    Info,
    /// Every connection.
    Debug,
}

impl Level {
    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }

    /// A level by its name; Redis's names are understood, too.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "error" | "nothing" => Self::Error,
            "warn" | "warning" => Self::Warn,
            "info" | "notice" => Self::Info,
            "debug" | "verbose" => Self::Debug,
            _ => return None,
        })
    }

    pub(crate) const fn from_number(number: u64) -> Self {
        match number {
            0 => Self::Error,
            1 => Self::Warn,
            2 => Self::Info,
            _ => Self::Debug,
        }
    }
}

/// Where events go.
#[derive(Debug)]
pub struct Log {
    level: AtomicU8,
}

impl Log {
    /// A log of events of this level and above.
    #[must_use]
    pub const fn new(level: Level) -> Self {
        Self { level: AtomicU8::new(level as u8) }
    }

    /// Changes the level.
    pub fn set_level(&self, level: Level) {
        self.level.store(level as u8, Ordering::Relaxed);
    }

    /// Whether events of this level are written.
    #[must_use]
    pub fn has(&self, level: Level) -> bool {
        level as u8 <= self.level.load(Ordering::Relaxed)
    }

    /// Writes an event, with what is known about it.
    pub fn event(&self, level: Level, event: &str, fields: &[(&str, &dyn fmt::Display)]) {
        if self.has(level) {
            let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let line = line(since_1970, level, event, fields);
            // That nobody can read it is no reason to stop.
            let _ = io::stderr().lock().write_all(line.as_bytes());
        }
    }
}

fn line(since_1970: Duration, level: Level, event: &str, fields: &[(&str, &dyn fmt::Display)]) -> String {
    let mut line = String::with_capacity(128);
    let _ = write!(line, "time={} level={} event=", Utc(since_1970), level.name());
    push_value(&mut line, event);
    for (name, value) in fields {
        let _ = write!(line, " {name}=");
        push_value(&mut line, &value.to_string());
    }
    line.push('\n');
    line
}

/// Values with spaces, quotes or anything that doesn't print are quoted, so that a line stays a line whatever a client
/// chose as its name.
fn push_value(line: &mut String, value: &str) {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b'=');
    if !value.is_empty() && value.bytes().all(is_plain) {
        line.push_str(value);
    } else {
        let _ = write!(line, "{value:?}");
    }
}

/// A moment as ISO 8601 has it.
struct Utc(Duration);

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let (year, month, day) = date(seconds / 86_400);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        let millis = self.0.subsec_millis();
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// Year, month and day of a number of days since 1970. Years are counted from March, so that the day that some of them
/// have more is their last.
fn date(days: u64) -> (u64, u64, u64) {
    // Days since 1 March of the year 0, in cycles of 400 years, which all have as many days.
    let days = days + 719_468;
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Months from March on have 31, 30, 31, 30, 31 days, twice and a bit: 153 in five.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (cycle * 400 + year + next_year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_parts() {
        let moment = Duration::from_millis(1_794_796_831_123);
        let text =
            line(moment, Level::Info, "listening", &[("address", &"127.0.0.1:1"), ("name", &"a \"b\"\n")]);
        let expected = "time=2026-11-16T02:40:31.123Z level=info event=listening address=127.0.0.1:1 name=\"a \\\"b\\\"\\n\"\n";
        assert_eq!(text, expected);
        let text = line(moment, Level::Error, "cannot accept", &[]);
        assert_eq!(text, "time=2026-11-16T02:40:31.123Z level=error event=\"cannot accept\"\n");
    }

    #[test]
    fn dates_are_right() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(59), (1970, 3, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(11_017), (2000, 3, 1));
        assert_eq!(date(19_722), (2023, 12, 31));
        assert_eq!(date(47_540), (2100, 2, 28));
        assert_eq!(date(47_541), (2100, 3, 1));
    }

    #[test]
    fn levels_are_ordered() {
        let log = Log::new(Level::Warn);
        assert!(log.has(Level::Error) && log.has(Level::Warn) && !log.has(Level::Info));
        for level in [Level::Error, Level::Warn, Level::Info, Level::Debug] {
            assert_eq!(Level::parse(level.name()), Some(level));
            assert_eq!(Level::from_number(level as u64), level);
        }
    }
}
