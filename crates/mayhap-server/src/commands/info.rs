//! `INFO`: the server in figures.
//!
//! Names are Redis's, so that those who read them there read them here. Only what is known is told: a figure that this
//! server doesn't have is left out, not made up. Nothing here walks through keys.

use std::fmt::{Display, Write as _};

use mayhap_commands::spec::Keys;
use mayhap_commands::words::is;
use mayhap_commands::{Outcome, Reply};

use super::definition::{Group, text};
use super::process::Process;
use super::{Command, table};
use crate::REDIS_VERSION;
use crate::context::Context;
use crate::statistics::Count;

const SERVER: Group =
    Group { name: "server", categories: &["dangerous"], flags: &["loading", "stale"], keys: Keys::NONE };

pub(super) const COMMANDS: &[Command] = &[SERVER.command(
    ("INFO", -1),
    ("1.0.0", "Tells about the server, in sections.", "O(1)"),
    &[text("section").optional().multiple()],
    info,
)];

/// Writes the lines of a section.
type Writer = fn(&Context<'_>, &mut Lines);

/// Name, whether it is told without being asked for, and what writes it.
const SECTIONS: &[(&str, bool, Writer)] = &[
    ("Server", true, server),
    ("Clients", true, clients),
    ("Memory", true, memory),
    ("Persistence", true, persistence),
    ("Stats", true, statistics),
    ("Replication", true, replication),
    ("CPU", true, cpu),
    ("Commandstats", false, commands),
    ("Cluster", true, cluster),
    ("Keyspace", true, keyspace),
];

fn info(context: &mut Context<'_>, words: &[&[u8]]) -> Outcome {
    let asked = words.get(1..).unwrap_or_default();
    let any = |names: &[&str]| asked.iter().any(|word| names.iter().any(|name| is(word, name)));
    let (is_default, is_all) = (asked.is_empty() || any(&["default"]), any(&["all", "everything"]));
    let mut lines = Lines(String::new());
    for (name, is_usual, write) in SECTIONS {
        if is_all || is_default && *is_usual || any(&[name]) {
            lines.section(name);
            write(context, &mut lines);
        }
    }
    Reply::Bulk(lines.0.into_bytes()).into()
}

/// `name:value`, in sections with an empty line between them.
struct Lines(String);

impl Lines {
    fn section(&mut self, name: &str) {
        if !self.0.is_empty() {
            self.0.push_str("\r\n");
        }
        // A string takes everything that is written to it.
        let _ = write!(self.0, "# {name}\r\n");
    }

    fn add(&mut self, name: &str, value: impl Display) {
        let _ = write!(self.0, "{name}:{value}\r\n");
    }

    /// A size, and the same for people.
    fn add_bytes(&mut self, name: &str, bytes: u64) {
        self.add(name, bytes);
        self.add(&format!("{name}_human"), human(bytes));
    }
}

fn human(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["K", "M", "G", "T"];
    let (mut size, mut shown) = (bytes as f64, None);
    for unit in UNITS {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        shown = Some(unit);
    }
    shown.map_or_else(|| format!("{bytes}B"), |unit| format!("{size:.2}{unit}"))
}

fn server(context: &Context<'_>, lines: &mut Lines) {
    let shared = context.shared;
    let uptime = context.now.saturating_sub(shared.started_at) / 1000;
    lines.add("redis_version", REDIS_VERSION);
    lines.add("redis_mode", "standalone");
    lines.add("server_name", "mayhap");
    lines.add("mayhap_version", env!("CARGO_PKG_VERSION"));
    lines.add("os", format_args!("{} {}", std::env::consts::OS, std::env::consts::ARCH));
    lines.add("arch_bits", usize::BITS);
    lines.add("process_id", std::process::id());
    lines.add("run_id", &shared.run_id);
    lines.add("tcp_port", shared.local_addr().port());
    lines.add("server_time_usec", context.now.saturating_mul(1000));
    lines.add("uptime_in_seconds", uptime);
    lines.add("uptime_in_days", uptime / 86_400);
    lines.add("worker_threads", shared.inboxes.len());
}

fn clients(context: &Context<'_>, lines: &mut Lines) {
    let all = context.shared.clients.all();
    let most =
        |of: fn(&crate::clients::Client) -> u64| all.iter().map(|client| of(client)).max().unwrap_or(0);
    lines.add("connected_clients", all.len());
    lines.add("maxclients", context.shared.settings.maxclients());
    lines.add("client_recent_max_input_buffer", most(crate::clients::Client::input_bytes));
    lines.add("client_recent_max_output_buffer", most(crate::clients::Client::output_bytes));
    lines.add("blocked_clients", 0);
}

fn memory(context: &Context<'_>, lines: &mut Lines) {
    let shared = context.shared;
    let (dataset, transfers, buffers) =
        (shared.keyspace.used_bytes(), shared.transfers.bytes(), shared.buffers.bytes());
    lines.add_bytes("used_memory", shared.used_bytes());
    let process = Process::now();
    if let Some(resident) = process.resident_bytes {
        lines.add_bytes("used_memory_rss", resident);
    }
    if let Some(peak) = process.peak_resident_bytes {
        lines.add_bytes("used_memory_rss_peak", peak);
    }
    lines.add("used_memory_dataset", dataset);
    lines.add("used_memory_transfers", transfers);
    lines.add("mem_clients_normal", buffers);
    if let Some(total) = Process::system_bytes() {
        lines.add_bytes("total_system_memory", total);
    }
    lines.add_bytes("maxmemory", shared.keyspace.limit());
    lines.add("maxmemory_policy", "noeviction");
}

/// Clients wait for a server that is loading. This one never is.
fn persistence(_: &Context<'_>, lines: &mut Lines) {
    lines.add("loading", 0);
}

fn statistics(context: &Context<'_>, lines: &mut Lines) {
    let counts = &context.shared.statistics;
    lines.add("total_connections_received", counts.total(Count::Connections));
    lines.add("total_commands_processed", counts.total(Count::Commands));
    lines.add("total_net_input_bytes", counts.total(Count::InputBytes));
    lines.add("total_net_output_bytes", counts.total(Count::OutputBytes));
    lines.add("rejected_connections", counts.rejected_connections());
    lines.add("expired_keys", context.shared.keyspace.expired());
    lines.add("evicted_keys", 0);
    lines.add("keyspace_hits", counts.total(Count::Hits));
    lines.add("keyspace_misses", counts.total(Count::Misses));
    lines.add("total_error_replies", counts.total(Count::Errors));
    lines.add("protocol_errors", counts.total(Count::ProtocolErrors));
    lines.add("client_output_buffer_limit_disconnections", counts.total(Count::OutputLimit));
    lines.add("timed_out_connections", counts.total(Count::TimedOut));
    lines.add("polls_caught", counts.total(Count::PollsCaught));
    lines.add("polls_in_vain", counts.total(Count::PollsInVain));
    lines.add("slowlog_len", context.shared.slowlog.len());
}

fn replication(_: &Context<'_>, lines: &mut Lines) {
    lines.add("role", "master");
    lines.add("connected_slaves", 0);
}

fn cpu(_: &Context<'_>, lines: &mut Lines) {
    let process = Process::now();
    if let (Some(system), Some(user)) = (process.system_seconds, process.user_seconds) {
        lines.add("used_cpu_sys", format_args!("{system:.6}"));
        lines.add("used_cpu_user", format_args!("{user:.6}"));
    }
}

fn commands(context: &Context<'_>, lines: &mut Lines) {
    for (place, spec) in table().specs().enumerate() {
        let counts = context.shared.statistics.command(place);
        if counts.calls > 0 {
            let name = spec.name.to_ascii_lowercase();
            let micros = counts.nanoseconds as f64 / 1000.0;
            lines.add(
                &format!("cmdstat_{name}"),
                format_args!(
                    "calls={},usec={:.0},usec_per_call={:.2},rejected_calls=0,failed_calls={}",
                    counts.calls,
                    micros,
                    micros / counts.calls as f64,
                    counts.failed
                ),
            );
        }
    }
}

fn cluster(_: &Context<'_>, lines: &mut Lines) {
    lines.add("cluster_enabled", 0);
}

fn keyspace(context: &Context<'_>, lines: &mut Lines) {
    let (keys, expiring) = (context.shared.keyspace.len() as u64, context.shared.keyspace.expiring());
    if keys > 0 {
        // They are counted one after the other, and keys come and go meanwhile.
        lines.add("db0", format_args!("keys={keys},expires={},avg_ttl=0", expiring.min(keys)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_for_people() {
        assert_eq!(human(0), "0B");
        assert_eq!(human(1023), "1023B");
        assert_eq!(human(1536), "1.50K");
        assert_eq!(human(3 << 30), "3.00G");
        assert_eq!(human(u64::MAX), "16777216.00T");
    }
}
