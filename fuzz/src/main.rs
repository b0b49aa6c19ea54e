//! The loop that drives the fuzz targets: `cargo xtask fuzz`.
//!
//! Every case is determined by target, seed and number, so a finding is repeated by naming them. Three things are
//! findings: a panic, a case that doesn't end, and an allocation larger than the target allows.

mod allocation;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use mayhap_fuzz::{TARGETS, Target, input_of};

const USAGE: &str = "\
Usage: cargo xtask fuzz [TARGET…] [--seconds N] [--seed S] [--case C] [--hex BYTES]

  --seconds N   time for all targets together (15)
  --seed S      start of the random sequence (1)
  --case C      run this case only
  --hex BYTES   run this input only

Targets:";

/// Found in the input's hex dump up to here; longer inputs are repeated by their number.
const LONGEST_HEX: usize = 2048;

#[derive(Debug)]
struct Options {
    targets: Vec<Target>,
    seconds: f64,
    seed: u64,
    case: Option<u64>,
    input: Option<Vec<u8>>,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{USAGE}");
            TARGETS.iter().for_each(|target| println!("  {:<14}{}", target.name, target.about));
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            eprintln!("fuzz: {problem}; `cargo xtask fuzz --help` shows what there is");
            return ExitCode::from(2);
        }
    };
    watch::start();
    // Reporting a panic reads the program's own symbols, which no target's limit is meant for.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        watch::end();
        report(panic);
    }));
    println!("fuzz: seed {}", options.seed);
    let time = Duration::from_secs_f64(options.seconds / options.targets.len() as f64);
    let passed = options.targets.iter().all(|target| match (&options.input, options.case) {
        (Some(input), _) => run_one(target, options.seed, None, input),
        (None, Some(case)) => {
            let input = input_of(target, &(target.seeds)(), options.seed, case);
            run_one(target, options.seed, Some(case), &input)
        }
        (None, None) => run_for(target, options.seed, time),
    });
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs the seeds themselves, then cases until the time is over.
fn run_for(target: &Target, seed: u64, time: Duration) -> bool {
    let seeds = (target.seeds)();
    let start = Instant::now();
    for input in &seeds {
        if !run_one(target, seed, None, input) {
            return false;
        }
    }
    let mut case = 0;
    while start.elapsed() < time {
        let input = input_of(target, &seeds, seed, case);
        if !run_one(target, seed, Some(case), &input) {
            return false;
        }
        case += 1;
    }
    println!(
        "fuzz: {:<10}{case:>9} cases from {} seeds in {:.1} s",
        target.name,
        seeds.len(),
        start.elapsed().as_secs_f64()
    );
    true
}

/// False after a panic, which has been reported.
fn run_one(target: &Target, seed: u64, case: Option<u64>, input: &[u8]) -> bool {
    watch::begin(target, seed, case);
    let result = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    watch::end();
    if result.is_err() {
        eprintln!("fuzz: target `{}` panicked on {} bytes of input", target.name, input.len());
        if let Some(case) = case {
            eprintln!("fuzz: repeat it with: cargo xtask fuzz {} --seed {seed} --case {case}", target.name);
        }
        if input.len() <= LONGEST_HEX {
            let hex: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
            eprintln!("fuzz: or with:        cargo xtask fuzz {} --hex {hex}", target.name);
        }
    }
    result.is_ok()
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let mut options = Options { targets: Vec::new(), seconds: 15.0, seed: 1, case: None, input: None };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "-h" | "--help" => return Ok(None),
            "--seconds" => {
                options.seconds = number(&argument, &value()?)?;
                if !(0.0..=1e9).contains(&options.seconds) {
                    return Err("--seconds is out of range".to_owned());
                }
            }
            "--seed" => options.seed = number(&argument, &value()?)?,
            "--case" => options.case = Some(number(&argument, &value()?)?),
            "--hex" => options.input = Some(from_hex(&value()?)?),
            name => match TARGETS.iter().find(|target| target.name == name) {
                Some(target) => options.targets.push(*target),
                None => return Err(format!("there is no target `{name}`")),
            },
        }
    }
    if options.targets.is_empty() {
        if options.case.is_some() || options.input.is_some() {
            return Err("--case and --hex need a target".to_owned());
        }
        options.targets = TARGETS.to_vec();
    }
    Ok(Some(options))
}

fn number<T: std::str::FromStr>(option: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{option} needs a number, not `{text}`"))
}

fn from_hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    match digits {
        Some(digits) if digits.len().is_multiple_of(2) => {
            Ok(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
        }
        _ => Err("--hex needs an even number of hexadecimal digits".to_owned()),
    }
}
