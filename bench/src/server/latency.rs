//! How long a client waits, at half of what the server can do: quiet, and while a large filter grows.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Client, Pipeline};
use super::process::Process;
use crate::Failure;
use crate::report::Report;

/// Keys of the filter that grows while another client waits for answers.
const LARGE: usize = 100_000_000;

/// The server's own setting of `poll-before-sleep`.
const DEFAULT_POLL: u32 = 200;

pub(super) fn run(mayhap: &Path) -> Result<Report, Failure> {
    let server = Process::mayhap(mayhap, "0", 2)?;
    let mut client = Client::connect(server.port())?;
    let mut pipeline = Pipeline::default();
    pipeline.push(&["BF.RESERVE", "asked", "0.01", "1000000"]);
    // One key short of its second layer, which will be for twice as many.
    pipeline.push(&["BF.RESERVE", "large", "0.01", &(LARGE / 2).to_string()]);
    client.send(&pipeline)?;
    // Beside a thread that is busy on its core a worker can't stay awake for a client. Half of what it does when it
    // never stays awake is a load that it can bear at all times.
    poll_before_sleep(&mut client, 0)?;
    let busiest = rate_of_one(&mut client)?;
    poll_before_sleep(&mut client, DEFAULT_POLL)?;
    let quiet = latencies(&mut client, busiest / 2.0, Duration::from_secs(5))?;

    let growing = AtomicBool::new(false);
    let (while_growing, fill_seconds) = std::thread::scope(|scope| -> Result<_, Failure> {
        let filler = scope.spawn(|| fill(server.port(), &growing));
        while !growing.load(Ordering::Acquire) && !filler.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let latencies = latencies(&mut client, busiest / 2.0, Duration::from_secs(3))?;
        let seconds = filler.join().map_err(|_| "the client that fills the filter panicked")??;
        Ok((latencies, seconds))
    })?;
    let row = |name: &str, sorted: &[f64]| {
        let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize] / 1000.0;
        vec![
            name.to_owned(),
            format!("{:.0}", busiest / 2.0),
            format!("{:.0}", at(0.5)),
            format!("{:.0}", at(0.99)),
            format!("{:.0}", at(0.999)),
            format!("{:.0}", at(1.0)),
        ]
    };
    Ok(Report {
        title: "server: waiting for one BF.EXISTS, at half load".to_owned(),
        header: vec!["", "commands/s", "median µs", "99 % µs", "99.9 % µs", "longest µs"],
        rows: vec![row("quiet", &quiet), row("while a filter of 50M keys grows by 100M", &while_growing)],
        notes: vec![format!(
            "One client, one command in flight, sent by the clock: waiting for a late answer counts as \
             waiting. Half load is half of what one client gets with poll-before-sleep 0. Filling took \
             {fill_seconds:.0} s. Two server threads on core 0, all clients on core 1."
        )],
        json: json!({"cell": "server latency", "quiet_ns": summary(&quiet), "growing_ns": summary(&while_growing)}),
    })
}

fn summary(sorted: &[f64]) -> Vec<f64> {
    [0.5, 0.9, 0.99, 0.999, 1.0]
        .iter()
        .map(|share| sorted[((sorted.len() - 1) as f64 * share) as usize])
        .collect()
}

/// Sets for how many microseconds a worker looks for the next command before it sleeps.
fn poll_before_sleep(client: &mut Client, microseconds: u32) -> Result<(), Failure> {
    let mut pipeline = Pipeline::default();
    pipeline.push(&["CONFIG", "SET", "poll-before-sleep", &microseconds.to_string()]);
    client.send(&pipeline)
}

/// One question after another, as fast as they are answered.
fn rate_of_one(client: &mut Client) -> Result<f64, Failure> {
    let start = Instant::now();
    let count = 20_000;
    for number in 0..count {
        client.send(&question(number))?;
    }
    Ok(count as f64 / start.elapsed().as_secs_f64())
}

fn question(number: u64) -> Pipeline {
    let mut pipeline = Pipeline::default();
    pipeline.push(&["BF.EXISTS".to_owned(), "asked".to_owned(), format!("user:{number:010}")]);
    pipeline
}

/// Waiting times in nanoseconds, sorted. A question that should have been sent while another was waited for has waited
/// since then.
fn latencies(client: &mut Client, per_second: f64, time: Duration) -> Result<Vec<f64>, Failure> {
    let start = Instant::now();
    let mut waited = Vec::new();
    let mut number = 0;
    while start.elapsed() < time {
        let due = Duration::from_secs_f64(number as f64 / per_second);
        while start.elapsed() < due {
            // The client that fills the filter runs on this core, too.
            std::thread::yield_now();
        }
        client.send(&question(number))?;
        waited.push((start.elapsed() - due).as_nanos() as f64);
        number += 1;
    }
    waited.sort_by(f64::total_cmp);
    Ok(waited)
}

/// Fills the large filter to the brim, says so, and goes on at a walk: some thousand keys later it grows. What is to be
/// seen is the growth, not a second client that takes all it can get.
fn fill(port: u16, growing: &AtomicBool) -> Result<f64, Failure> {
    let mut client = Client::connect(port)?;
    let start = Instant::now();
    let batch = |first: usize, commands: usize, items: usize| {
        let mut pipeline = Pipeline::default();
        for command in 0..commands {
            let first = first + command * items;
            let mut words = vec!["BF.MADD".to_owned(), "large".to_owned()];
            words.extend((first..first + items).map(|number| format!("{number:x}")));
            pipeline.push(&words);
        }
        pipeline
    };
    // A few of the keys are taken for old ones, so that it isn't quite full.
    for first in (0..LARGE / 2).step_by(100_000) {
        client.send(&batch(first, 100, 1_000))?;
    }
    let seconds = start.elapsed().as_secs_f64();
    growing.store(true, Ordering::Release);
    for first in (LARGE / 2..LARGE / 2 + 300_000).step_by(100) {
        client.send(&batch(first, 1, 100))?;
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(seconds)
}
