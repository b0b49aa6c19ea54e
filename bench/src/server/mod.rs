//! `mayhap serve` beside redis-server: CPU time of the server for each command, in one run.
//!
//! The servers are pinned to core 0 and the client, this process, to core 1, and they take turns, round after round. The
//! yardstick is what Redis pays for a GET. Nothing but loopback TCP lies between: at one command a round trip that, and
//! the system calls, is most of the cost.

#![allow(clippy::cast_possible_truncation, reason = "counts and places of samples, for people to read")]

mod client;
mod latency;
mod process;
mod threads;

use std::path::Path;

use serde_json::json;

use crate::measure::median;
use crate::report::{self, Report};
use crate::{Failure, Settings};
use client::{Client, Pipeline};
use process::Process;

/// Commands in flight when they are pipelined.
const PIPELINE: usize = 64;
/// Items of a `MADD` or `MEXISTS`.
const ITEMS: usize = 16;

/// One kind of command to one server.
struct Load {
    name: String,
    server: Which,
    /// Commands sent together before their replies are read.
    depth: usize,
    /// Words of the `number`th command.
    words: Box<dyn Fn(u64) -> Vec<String>>,
    /// Nanoseconds of the server's CPU time a command, and commands a second, of each round.
    cpu: Vec<f64>,
    rate: Vec<f64>,
    /// What it may cost, as a multiple of Redis's GET at the same depth.
    target: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Redis,
    Mayhap,
    /// mayhap that never looks for the next command before it sleeps.
    Asleep,
}

pub(crate) fn run(keys: usize, mayhap: &Path, settings: &Settings) -> Result<Vec<Report>, Failure> {
    process::pin_this_process("1")?;
    let redis = Process::redis(0)?;
    let server = Process::mayhap(mayhap, "0", 1)?;
    let mut to_redis = Client::connect(redis.port())?;
    let mut to_mayhap = Client::connect(server.port())?;
    prepare(&mut to_redis, &mut to_mayhap, keys)?;
    // One command in flight costs the same whatever the size of the filter.
    let asleep = Process::mayhap_with(mayhap, "0", 1, &["poll-before-sleep=0"])?;
    let mut to_asleep = Client::connect(asleep.port())?;
    fill(&mut to_asleep, keys.min(1_000_000), false)?;

    let mut loads = loads(keys as u64);
    loads.retain(|load| load.server == Which::Redis || settings.admits(&load.name));
    let rounds = settings.rounds.unwrap_or(7);
    for round in 0..rounds {
        for load in &mut loads {
            let (process, client) = match load.server {
                Which::Redis => (&redis, &mut to_redis),
                Which::Mayhap => (&server, &mut to_mayhap),
                Which::Asleep => (&asleep, &mut to_asleep),
            };
            let count = if load.depth == 1 { 30_000 } else { 200_000 };
            load.run(process, client, count, round as u64)?;
        }
        eprintln!("  server, round {} of {rounds}", round + 1);
    }
    let mut reports = vec![table(&loads, keys, rounds)];
    drop((to_redis, to_mayhap, to_asleep, redis, server, asleep));
    // Filters of other sizes are asked for what a miss of the cache costs; the rest doesn't depend on the size.
    if keys == 1_000_000 && settings.only.is_empty() {
        reports.push(latency::run(mayhap)?);
        process::pin_this_process("0,1")?;
        reports.push(threads::run(mayhap, keys, rounds)?);
    }
    Ok(reports)
}

/// Fills what the commands ask.
fn prepare(redis: &mut Client, mayhap: &mut Client, keys: usize) -> Result<(), Failure> {
    let mut pipeline = Pipeline::default();
    for number in 0..100_000u64 {
        pipeline.push(&["SET", &key(number), "value"]);
    }
    redis.send(&pipeline)?;
    let mut pipeline = Pipeline::default();
    // Ten times the room that the rounds of BF.ADD need beyond the keys that are asked.
    pipeline.push(&["BF.RESERVE", "added", "0.01", "10000000"]);
    pipeline.push(&["CF.RESERVE", "churn", "10000000"]);
    mayhap.send(&pipeline)?;
    fill(mayhap, keys, keys <= MOST_CUCKOO)
}

/// Above so many keys only the Bloom filter is made: a cuckoo filter would take minutes.
const MOST_CUCKOO: usize = 10_000_000;

/// Makes the filter `bloom` and puts the keys there, and into `cuckoo`, if that is wanted.
fn fill(mayhap: &mut Client, keys: usize, with_cuckoo: bool) -> Result<(), Failure> {
    let capacity = keys.to_string();
    let mut pipeline = Pipeline::default();
    pipeline.push(&["BF.RESERVE", "bloom", "0.01", &capacity]);
    pipeline.push(&["CF.RESERVE", "cuckoo", &capacity]);
    mayhap.send(&pipeline)?;
    let filters = [("BF.INSERT", "bloom"), ("CF.INSERT", "cuckoo")];
    let filters = if with_cuckoo { &filters[..] } else { &filters[..1] };
    for start in (0..keys as u64).step_by(10_000) {
        let mut pipeline = Pipeline::default();
        for first in (start..(start + 10_000).min(keys as u64)).step_by(100) {
            for (command, filter) in filters {
                let mut words = vec![(*command).to_owned(), (*filter).to_owned(), "ITEMS".to_owned()];
                words.extend((first..first + 100).map(key));
                pipeline.push(&words);
            }
        }
        mayhap.send(&pipeline)?;
    }
    Ok(())
}

/// A key of fifteen bytes or so, the length of a user's name with a prefix.
fn key(number: u64) -> String {
    format!("user:{number:010}")
}

fn loads(keys: u64) -> Vec<Load> {
    let mut loads = Vec::new();
    let mut add = |name: &str, server, depth, target, words: Box<dyn Fn(u64) -> Vec<String>>| {
        loads.push(Load {
            name: name.to_owned(),
            server,
            depth,
            words,
            cpu: Vec::new(),
            rate: Vec::new(),
            target,
        });
    };
    // Half of what is asked is there.
    let asked = move |number: u64| key(scatter(number) % (2 * keys));
    let one = move |command: &'static str, filter: &'static str| {
        move |number: u64| vec![command.to_owned(), filter.to_owned(), asked(number)]
    };
    let fresh = |command: &'static str, filter: &'static str| {
        move |number: u64| vec![command.to_owned(), filter.to_owned(), format!("new:{number:012}")]
    };
    for depth in [PIPELINE, 1] {
        add("PING", Which::Redis, depth, None, Box::new(|_| vec!["PING".to_owned()]));
        add(
            "GET",
            Which::Redis,
            depth,
            None,
            Box::new(|number| vec!["GET".to_owned(), key(scatter(number) % 100_000)]),
        );
        add("PING", Which::Mayhap, depth, None, Box::new(|_| vec!["PING".to_owned()]));
        add("BF.EXISTS", Which::Mayhap, depth, Some(0.6), Box::new(one("BF.EXISTS", "bloom")));
        add("BF.ADD", Which::Mayhap, depth, Some(0.6), Box::new(fresh("BF.ADD", "added")));
    }
    add("BF.EXISTS", Which::Asleep, 1, None, Box::new(one("BF.EXISTS", "bloom")));
    add("CF.EXISTS", Which::Mayhap, PIPELINE, Some(0.6), Box::new(one("CF.EXISTS", "cuckoo")));
    add("CF.ADD", Which::Mayhap, PIPELINE, Some(0.6), Box::new(fresh("CF.ADD", "churn")));
    add("CF.DEL", Which::Mayhap, PIPELINE, Some(0.6), Box::new(fresh("CF.DEL", "churn")));
    let many = move |command: &'static str, filter: &'static str| {
        move |number: u64| {
            let items = (0..ITEMS as u64).map(move |item| asked(number * ITEMS as u64 + item));
            [command.to_owned(), filter.to_owned()].into_iter().chain(items).collect()
        }
    };
    let many_fresh = |number: u64| {
        let items = (0..ITEMS as u64).map(|item| format!("many:{:012}", number * ITEMS as u64 + item));
        ["BF.MADD".to_owned(), "added".to_owned()].into_iter().chain(items).collect()
    };
    add("BF.MEXISTS of 16", Which::Mayhap, PIPELINE, Some(3.2), Box::new(many("BF.MEXISTS", "bloom")));
    add("BF.MADD of 16", Which::Mayhap, PIPELINE, Some(3.2), Box::new(many_fresh));
    // Of items that are there, so that the filter keeps its size: for comparing sizes.
    let many_known = move |number: u64| {
        let items = (0..ITEMS as u64).map(move |item| key(scatter(number * ITEMS as u64 + item) % keys));
        ["BF.MADD".to_owned(), "bloom".to_owned()].into_iter().chain(items).collect()
    };
    add("BF.MADD of known 16", Which::Mayhap, PIPELINE, Some(3.2), Box::new(many_known));
    loads
}

/// Spreads numbers over all 64 bits, so that neighbours in time are not neighbours in memory.
fn scatter(number: u64) -> u64 {
    (number ^ (number >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8
}

impl Load {
    fn run(
        &mut self,
        process: &Process,
        client: &mut Client,
        count: usize,
        round: u64,
    ) -> Result<(), Failure> {
        let count = if self.name.ends_with("16") { count / 8 } else { count };
        // Written out before the clock starts: the client must not be what is measured.
        let pipelines: Vec<Pipeline> = (0..count / self.depth)
            .map(|batch| {
                let mut pipeline = Pipeline::default();
                for place in 0..self.depth {
                    let number = round * count as u64 + (batch * self.depth + place) as u64;
                    pipeline.push(&(self.words)(number));
                }
                pipeline
            })
            .collect();
        let commands = (pipelines.len() * self.depth) as f64;
        let (cpu, start) = (process.cpu_nanoseconds()?, std::time::Instant::now());
        for pipeline in &pipelines {
            client.send(pipeline)?;
        }
        let seconds = start.elapsed().as_secs_f64();
        self.cpu.push((process.cpu_nanoseconds()? - cpu) / commands);
        self.rate.push(commands / seconds);
        Ok(())
    }
}

fn table(loads: &[Load], keys: usize, rounds: usize) -> Report {
    let get = |depth| {
        let load = loads
            .iter()
            .find(|load| load.server == Which::Redis && load.name == "GET" && load.depth == depth);
        load.map_or(f64::NAN, |load| median(&load.cpu))
    };
    let rows = loads.iter().map(|load| {
        let cpu = median(&load.cpu);
        let target = load.target.filter(|_| load.depth > 1);
        vec![
            match load.server {
                Which::Redis => format!("redis {}", load.name),
                Which::Mayhap => format!("mayhap {}", load.name),
                Which::Asleep => format!("mayhap {}, poll-before-sleep 0", load.name),
            },
            load.depth.to_string(),
            format!("{:.3}", cpu / 1000.0),
            format!("{:.2}x", cpu / get(load.depth)),
            target.map_or_else(|| "–".to_owned(), |target| format!("{target:.1}x")),
            report::count(median(&load.rate) as usize),
        ]
    });
    let samples: Vec<_> = loads
        .iter()
        .map(|load| {
            json!({"name": load.name, "mayhap": load.server != Which::Redis,
                   "polls": load.server == Which::Mayhap, "depth": load.depth,
                   "cpu_ns": load.cpu, "per_second": load.rate})
        })
        .collect();
    Report {
        title: format!("server: filters of {} keys", report::count(keys)),
        header: vec!["command", "in flight", "CPU µs", "of GET", "target", "commands/s"],
        rows: rows.collect(),
        notes: vec![format!(
            "Medians of {rounds} interleaved rounds. {}. Servers on core 0, one client on core 1; items of 15 \
             bytes, half of those asked are there.",
            process::redis_version()
        )],
        json: json!({"cell": "server", "keys": keys, "loads": samples}),
    }
}
