//! The project's chores, as `cargo xtask TASK`.
//!
//! This crate depends on nothing, not even on mayhap: it builds in a second, and still runs when the library doesn't
//! compile. What needs the library (fuzzing, benchmarks) is a program of its own that is started from here.

mod checks;
mod clients;
mod step;

use std::process::ExitCode;

use step::Outcome;

const TASKS: &str = "\
Usage: cargo xtask TASK

Tasks:
  test [STEP…]    every check, in order, or only the named ones
  fuzz [TARGET…] [--seconds N] [--seed S]
                  feed mutated input to the fuzz targets (all of them, 15 s in total, if nothing is said)
  clients         the server, with the Redis clients that people use: redis-cli, redis-py, node-redis
  bench [ARG…]    the comparisons with other filters; see docs/benchmarks.md

Steps of `test`:";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let outcome = match task.as_str() {
        "test" => checks::run(&rest),
        "fuzz" => step::run_alone(&checks::fuzz(&rest)),
        "clients" => clients::run(),
        "bench" => step::run_alone(&checks::bench(&rest)),
        "" | "help" | "-h" | "--help" => {
            println!("{TASKS}");
            for step in checks::all() {
                println!("  {:<14}{}", step.name, step.about);
            }
            Outcome::Passed
        }
        unknown => {
            eprintln!("xtask: there is no task `{unknown}`; `cargo xtask` lists them");
            Outcome::Failed
        }
    };
    match outcome {
        Outcome::Passed => ExitCode::SUCCESS,
        Outcome::Failed => ExitCode::FAILURE,
    }
}
