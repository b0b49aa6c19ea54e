//! The settings of the server that are numbers, switches or words of a few.

use std::sync::atomic::Ordering;

use mayhap_commands::settings::bytes;

use super::{SettingError, Settings};
use crate::log::Level;

/// A setting by its name.
#[derive(Debug)]
pub struct Setting {
    /// As files, flags and `CONFIG` call it.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Whether it can't be changed while the server runs.
    pub is_fixed: bool,
    kind: Kind,
    pub(super) default: u64,
}

#[derive(Debug)]
enum Kind {
    /// A whole number between these.
    Integer(u64, u64),
    /// A size with a unit, at least this.
    Bytes(u64),
    /// A whole number, or -1 for never.
    OrNever,
    /// yes or no.
    Switch,
    Level,
}

macro_rules! settings {
    ($($(#[doc = $about:literal])* $when:ident $method:ident -> $type:ty = $name:literal, $kind:expr, $default:expr;)*) => {
        /// Every one of them.
        pub const SETTINGS: &[Setting] = &[$(Setting {
            name: $name,
            about: concat!($($about),*).trim_ascii(),
            is_fixed: settings!(@$when),
            kind: $kind,
            default: $default,
        }),*];

        #[allow(non_camel_case_types, reason = "numbered like the methods are called")]
        enum Place { $($method),* }

        impl Settings {
            $(
                $(#[doc = $about])*
                #[must_use]
                pub fn $method(&self) -> $type {
                    FromNumber::from_number(self.numbers[Place::$method as usize].load(Ordering::Relaxed))
                }
            )*
        }
    };
    (@fixed) => { true };
    (@live) => { false };
}

settings! {
    /// The port to listen on; 0: any that is free.
    fixed port -> u16 = "port", Kind::Integer(0, 65_535), 25_666;
    /// Threads that serve connections; 0: one for each core.
    fixed threads -> usize = "threads", Kind::Integer(0, 1024), 0;
    /// Clients that may be connected at once.
    live maxclients -> usize = "maxclients", Kind::Integer(1, 1 << 20), 10_000;
    /// Bytes that all keys and values may take together; 0: no limit.
    live maxmemory -> u64 = "maxmemory", Kind::Bytes(0), 0;
    /// Bytes that the buffers of all clients may take together.
    live maxmemory_clients -> u64 = "maxmemory-clients", Kind::Bytes(1 << 20), 1 << 30;
    /// Bytes that dumps and loads which are under way may take together.
    fixed maxmemory_transfers -> u64 = "maxmemory-transfers", Kind::Bytes(1 << 20), 4 << 30;
    /// The longest request, in bytes.
    live max_request_bytes -> usize = "max-request-bytes", Kind::Bytes(1 << 10), 512 << 20;
    /// The most words of a request.
    live max_arguments -> usize = "max-arguments", Kind::Integer(16, (1 << 31) - 1), 1 << 20;
    /// Bytes of replies that may wait for a client; a client that leaves more is disconnected.
    live client_output_limit -> usize = "client-output-limit", Kind::Bytes(1 << 16), 256 << 20;
    /// Seconds after which a client that sent half a request, or doesn't take its replies, is disconnected.
    live stall_timeout -> u64 = "stall-timeout", Kind::Integer(1, 1 << 31), 60;
    /// Seconds after which a silent client is disconnected; 0: never.
    live timeout -> u64 = "timeout", Kind::Integer(0, 1 << 31), 0;
    /// Seconds of silence after which the system asks whether the other end of a connection is still there; 0: never.
    /// For connections that come after the change.
    live tcp_keepalive -> u64 = "tcp-keepalive", Kind::Integer(0, 32_767), 300;
    /// Seconds that a stop waits for clients to take their replies.
    live shutdown_timeout -> u64 = "shutdown-timeout", Kind::Integer(0, 1 << 31), 10;
    /// Microseconds for which a thread that expects the next command soon looks for it before it sleeps; 0: never.
    live poll_before_sleep -> u64 = "poll-before-sleep", Kind::Integer(0, 10_000), 200;
    /// What is logged: error, warn, info or debug.
    live log_level -> Level = "log-level", Kind::Level, Level::Info as u64;
    /// Commands that take so many microseconds or more are kept in the slow log; 0: all, -1: none.
    live slowlog_log_slower_than -> u64 = "slowlog-log-slower-than", Kind::OrNever, 10_000;
    /// How many commands the slow log keeps.
    live slowlog_max_len -> usize = "slowlog-max-len", Kind::Integer(0, 1 << 20), 128;
    /// Whether `DEBUG` does anything.
    fixed enable_debug_command -> bool = "enable-debug-command", Kind::Switch, 0;
}

impl Setting {
    pub(super) fn parse(&self, value: &str) -> Result<u64, SettingError> {
        let number = || value.trim().parse::<u64>().ok();
        let (parsed, can_be) = match self.kind {
            Kind::Integer(least, most) => (
                number().filter(|number| (least..=most).contains(number)),
                format!("a number between {least} and {most}"),
            ),
            Kind::Bytes(least) => (
                bytes(value).filter(|size| *size >= least && usize::try_from(*size).is_ok()),
                format!("a number of bytes, such as 4096, 64mb or 2gb, and at least {least}"),
            ),
            Kind::OrNever => (
                if value.trim() == "-1" { Some(u64::MAX) } else { number() },
                "a number, or -1 for never".to_owned(),
            ),
            Kind::Switch => (
                match value.to_ascii_lowercase().as_str() {
                    "yes" | "true" => Some(1),
                    "no" | "false" => Some(0),
                    _ => None,
                },
                "yes or no".to_owned(),
            ),
            Kind::Level => {
                (Level::parse(value).map(|level| level as u64), "error, warn, info or debug".to_owned())
            }
        };
        parsed.ok_or_else(|| SettingError::Invalid(format!("{} must be {can_be}", self.name)))
    }

    pub(super) fn text(&self, number: u64) -> String {
        match self.kind {
            Kind::Integer(..) | Kind::Bytes(_) => number.to_string(),
            Kind::OrNever if number == u64::MAX => "-1".to_owned(),
            Kind::OrNever => number.to_string(),
            Kind::Switch => if number == 0 { "no" } else { "yes" }.to_owned(),
            Kind::Level => Level::from_number(number).name().to_owned(),
        }
    }
}

trait FromNumber {
    fn from_number(number: u64) -> Self;
}

impl FromNumber for u64 {
    fn from_number(number: u64) -> Self {
        number
    }
}

impl FromNumber for usize {
    fn from_number(number: u64) -> Self {
        // Checked when it was set.
        Self::try_from(number).unwrap_or(Self::MAX)
    }
}

impl FromNumber for u16 {
    fn from_number(number: u64) -> Self {
        Self::try_from(number).unwrap_or(Self::MAX)
    }
}

impl FromNumber for bool {
    fn from_number(number: u64) -> Self {
        number != 0
    }
}

impl FromNumber for Level {
    fn from_number(number: u64) -> Self {
        Self::from_number(number)
    }
}
