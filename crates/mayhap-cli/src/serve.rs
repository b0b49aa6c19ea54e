//! `mayhap serve`: filters for everybody who speaks the Redis protocol.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use clap::Args;
use mayhap_server::settings::SettingError;
use mayhap_server::{Handle, Server, Settings};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::failure::{Answer, Failure, print, say};
use crate::open_files;

/// Serve filters over the Redis protocol
///
/// Any Redis client will do: BF.* and CF.* are there, with replies and errors as Redis gives them.
///
/// Settings come from a file, the environment and flags; each of them overrides those before it. In the environment a
/// setting is MAYHAP_ and its name in capitals, with _ for -: MAYHAP_BF_LAYOUT=redisbloom. CONFIG GET * lists them all.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Port to listen on; 0 for any that is free [default: 25666]
    #[arg(short, long)]
    port: Option<u16>,

    /// Address to listen on [default: 127.0.0.1, which only this machine can reach]
    #[arg(short, long, value_name = "ADDRESS")]
    bind: Option<String>,

    /// Threads that serve connections [default: one for each core]
    #[arg(short, long, value_name = "COUNT")]
    threads: Option<usize>,

    /// File of settings, in TOML
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// A setting; may be given several times
    #[arg(short, long = "set", value_name = "NAME=VALUE")]
    set: Vec<String>,

    /// Check all settings, and leave
    #[arg(long)]
    check_config: bool,
}

const EXAMPLES: &str = "\
Examples:
  mayhap serve                                        on port 25666 of this machine
  mayhap serve --set bf-layout=redisbloom             with every bit where RedisBloom has it
  mayhap serve --config mayhap.toml --check-config    is that file right?
  redis-cli -p 25666 BF.ADD users alice               from another terminal

SIGTERM and SIGINT (Ctrl-C) stop it after what was sent has been answered; a second one stops it at once.

Exit codes: 0 success, 2 error.";

/// What a server has open beside its connections: queues of events, a few for each thread, and the standard streams.
const OTHER_FILES: u64 = 100;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let settings = settings(arguments)?;
    if arguments.check_config {
        print("the settings are right\n")?;
        return Ok(Answer::Yes);
    }
    check_open_files(settings.maxclients());
    let wanted = format!("{}:{}", settings.bind(), settings.port());
    let server = Server::bind(settings).map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AddrInUse => "; is another server running there? --port chooses another",
            _ => "",
        };
        Failure::Message(format!("cannot listen on {wanted}: {error}{hint}"))
    })?;
    stop_on_signals(server.handle())?;
    let address = server.local_addr();
    let threads = match server.threads() {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    print(&format!(
        "mayhap {} serves on {address} with {threads}. Try: redis-cli -h {} -p {} BF.ADD users alice\n",
        env!("CARGO_PKG_VERSION"),
        address.ip(),
        address.port()
    ))?;
    server.run().map_err(|error| Failure::Message(format!("the server failed: {error}")))?;
    Ok(Answer::Yes)
}

/// A connection that the system has no number for would wait without an answer, instead of being told that there are
/// `maxclients` already.
fn check_open_files(clients: usize) {
    let wanted = clients as u64 + OTHER_FILES;
    if let Some(allowed) = open_files::allow_all().filter(|allowed| *allowed < wanted) {
        say(&format!(
            "mayhap: warning: the system allows this process {allowed} open files, too few for maxclients {clients}: \
             further clients will wait without an answer; raise the limit (`ulimit -n {wanted}`) or lower maxclients"
        ));
    }
}

/// The settings from all sources, the strongest last.
fn settings(arguments: &Arguments) -> Result<Settings, Failure> {
    let mut settings =
        Settings::new().map_err(|error| Failure::Message(format!("no random secret key: {error}")))?;
    if let Some(path) = &arguments.config {
        read_file(&mut settings, path)?;
    }
    // Variables that are not text are not ours.
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    settings
        .read_environment(std::env::vars_os().filter_map(text))
        .map_err(|error| Failure::Message(format!("in the environment: {error}")))?;
    for pair in &arguments.set {
        let (name, value) = pair.split_once('=').ok_or_else(|| {
            Failure::Message(format!(
                "--set takes a name and a value, such as maxmemory=2gb, and not {pair:?}"
            ))
        })?;
        set(&mut settings, name.trim(), value)?;
    }
    let flags = [
        ("port", arguments.port.map(|port| port.to_string())),
        ("bind", arguments.bind.clone()),
        ("threads", arguments.threads.map(|threads| threads.to_string())),
    ];
    for (name, value) in flags {
        if let Some(value) = value {
            set(&mut settings, name, &value)?;
        }
    }
    Ok(settings)
}

fn read_file(settings: &mut Settings, path: &Path) -> Result<(), Failure> {
    let failure = |error: &dyn std::fmt::Display| Failure::Message(format!("{}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| failure(&error))?;
    settings.read_toml(&text).map_err(|error| failure(&error))
}

fn set(settings: &mut Settings, name: &str, value: &str) -> Result<(), Failure> {
    settings.set(name, value).map_err(|error| {
        Failure::Message(match error {
            SettingError::Unknown => format!("there is no setting {name:?}; docs/operations.md lists them, and CONFIG GET * of a running server"),
            error => error.to_string(),
        })
    })
}

/// A first signal drains, a second stops at once. That a terminal was closed is no reason to leave the clients alone.
fn stop_on_signals(handle: Handle) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| Failure::Message(format!("cannot watch for signals: {error}")))?;
    let watch = move || {
        for (count, _) in signals.forever().filter(|signal| *signal != SIGHUP).enumerate() {
            if count == 0 {
                say("mayhap: stopping; once more to stop at once");
                handle.shutdown();
            } else {
                handle.stop_now();
            }
        }
    };
    thread::Builder::new()
        .name("mayhap-signals".to_owned())
        .spawn(watch)
        .map(drop)
        .map_err(|error| Failure::Message(format!("cannot start a thread: {error}")))
}
