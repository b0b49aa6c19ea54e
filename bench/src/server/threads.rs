//! One hot filter, asked through one server thread and through two.

use std::path::Path;
use std::time::Instant;

use serde_json::json;

use super::client::{Client, Pipeline};
use super::process::Process;
use super::{PIPELINE, key, scatter};
use crate::Failure;
use crate::measure::median;
use crate::report::{self, Report};

/// Commands of each client in a round.
const COMMANDS: usize = 200_000;
const CLIENTS: usize = 2;

/// Nanoseconds of CPU a command, and commands a second.
type Sample = (f64, f64);

pub(super) fn run(mayhap: &Path, keys: usize, rounds: usize) -> Result<Report, Failure> {
    let servers = [Process::mayhap(mayhap, "0,1", 1)?, Process::mayhap(mayhap, "0,1", 2)?];
    for server in &servers {
        super::fill(&mut Client::connect(server.port())?, keys, false)?;
    }
    let mut samples: [Vec<Sample>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (server, samples) in servers.iter().zip(&mut samples) {
            samples.push(ask(server, keys)?);
        }
    }
    let middle = |threads: usize, part: fn(&Sample) -> f64| {
        median(&samples[threads].iter().map(part).collect::<Vec<_>>())
    };
    let one = middle(0, |sample| sample.0);
    let row = |name: &str, threads: usize| {
        let cpu = middle(threads, |sample| sample.0);
        vec![
            name.to_owned(),
            format!("{:.3}", cpu / 1000.0),
            format!("{:.2}x", cpu / one),
            report::count(middle(threads, |sample| sample.1) as usize),
        ]
    };
    Ok(Report {
        title: format!("server: one filter of {} keys, two clients", report::count(keys)),
        header: vec!["server threads", "CPU µs", "of one thread's", "commands/s"],
        rows: vec![row("1", 0), row("2", 1)],
        notes: vec![format!(
            "BF.EXISTS, {PIPELINE} in flight for each client; medians of {rounds} interleaved rounds. Servers and \
             clients share two cores. Target: 1.15x."
        )],
        json: json!({"cell": "server threads", "keys": keys, "one": samples[0], "two": samples[1]}),
    })
}

fn ask(server: &Process, keys: usize) -> Result<Sample, Failure> {
    let pipelines: Vec<Vec<Pipeline>> = (0..CLIENTS).map(|client| questions(client, keys)).collect();
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(Client::connect(server.port())?);
    }
    let (cpu, start) = (server.cpu_nanoseconds()?, Instant::now());
    std::thread::scope(|scope| {
        let threads: Vec<_> = clients
            .iter_mut()
            .zip(&pipelines)
            .map(|(client, pipelines)| {
                scope.spawn(move || pipelines.iter().try_for_each(|pipeline| client.send(pipeline)))
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a client panicked")?)
    })?;
    let commands = (CLIENTS * COMMANDS / PIPELINE * PIPELINE) as f64;
    Ok(((server.cpu_nanoseconds()? - cpu) / commands, commands / start.elapsed().as_secs_f64()))
}

fn questions(client: usize, keys: usize) -> Vec<Pipeline> {
    (0..COMMANDS / PIPELINE)
        .map(|batch| {
            let mut pipeline = Pipeline::default();
            for place in 0..PIPELINE {
                let number = scatter((client * COMMANDS + batch * PIPELINE + place) as u64);
                pipeline.push(&["BF.EXISTS", "bloom", &key(number % (2 * keys as u64))]);
            }
            pipeline
        })
        .collect()
}
