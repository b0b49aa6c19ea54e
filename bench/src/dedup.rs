//! `mayhap dedup` against the two commands people use today, as child processes.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::measure::median;
use crate::report::{self, Report};
use crate::{Failure, Settings, keys};

/// One process that ran to its end.
#[derive(Clone, Copy)]
struct Run {
    wall_seconds: f64,
    cpu_seconds: f64,
    peak_bytes: f64,
}

/// Times every command over a file of `lines` distinct URL lines; the output goes to /dev/null.
pub(crate) fn run(lines: usize, mayhap: &Path, settings: &Settings) -> Result<Report, Failure> {
    if !mayhap.is_file() {
        return Err(format!(
            "there is no mayhap binary at {}: build it with `cargo build --release -p mayhap-cli`, or say \
             where it is with --mayhap",
            mayhap.display()
        )
        .into());
    }
    let file = UrlFile::create(lines)?;
    let planned = format!("{lines}");
    let mayhap = mayhap.as_os_str();
    let path = file.path.as_os_str();
    let ways: [(&str, Vec<&std::ffi::OsStr>); 4] = [
        ("mayhap dedup", vec![mayhap, "dedup".as_ref(), path]),
        ("mayhap dedup -n N", vec![mayhap, "dedup".as_ref(), "-n".as_ref(), planned.as_ref(), path]),
        ("awk '!s[$0]++'", vec!["awk".as_ref(), "!s[$0]++".as_ref(), path]),
        ("LC_ALL=C sort -u", vec!["sort".as_ref(), "-u".as_ref(), path]),
    ];

    let rounds = settings.rounds.unwrap_or(3);
    let mut runs: [Vec<Run>; 4] = [const { Vec::new() }; 4];
    for round in 0..rounds {
        for ((name, command), runs) in ways.iter().zip(&mut runs) {
            if settings.admits(name) {
                eprintln!("  {name}, round {} of {rounds}", round + 1);
                runs.push(run_child(command)?);
            }
        }
    }

    let middle = |runs: &[Run], value: fn(&Run) -> f64| median(&runs.iter().map(value).collect::<Vec<_>>());
    let ours = middle(&runs[0], |run| run.wall_seconds);
    let rows = ways.iter().zip(&runs).filter(|(_, runs)| !runs.is_empty()).map(|((name, _), runs)| {
        let wall = middle(runs, |run| run.wall_seconds);
        vec![
            String::from(*name),
            format!("{wall:.2}"),
            format!("{:.2}", middle(runs, |run| run.cpu_seconds)),
            report::bytes(middle(runs, |run| run.peak_bytes)),
            report::ratio(wall, ours),
        ]
    });
    let named = ways.iter().map(|(name, _)| name).zip(&runs);
    let samples: Vec<Value> =
        named.map(|(name, runs)| json!({"name": name, "runs": runs_json(runs)})).collect();
    Ok(Report {
        title: format!(
            "dedup: {} distinct URL lines ({})",
            report::count(lines),
            report::bytes(file.bytes as f64)
        ),
        header: vec!["command", "wall s", "CPU s", "peak memory", "mayhap is"],
        rows: rows.collect(),
        notes: vec![format!(
            "Medians of {rounds} interleaved rounds; the file is in the page cache, the output goes to \
             /dev/null. awk is {}, sort is {}. Targets: 10x sort, 4x awk, 1/20 of awk's memory.",
            first_line("awk", &["-W", "version"]),
            first_line("sort", &["--version"]),
        )],
        json: json!({"cell": "dedup", "lines": lines, "bytes": file.bytes, "commands": samples}),
    })
}

fn runs_json(runs: &[Run]) -> Vec<Value> {
    let json = |run: &Run| {
        let (wall, cpu, peak) = (run.wall_seconds, run.cpu_seconds, run.peak_bytes);
        json!({"wall_s": wall, "cpu_s": cpu, "peak_bytes": peak})
    };
    runs.iter().map(json).collect()
}

/// A file of distinct URLs in the temporary directory, removed when dropped.
struct UrlFile {
    path: PathBuf,
    bytes: u64,
}

impl UrlFile {
    fn create(lines: usize) -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("mayhap-bench-{}.txt", std::process::id()));
        eprintln!("dedup: writing {} lines to {}", report::count(lines), path.display());
        let mut file = Self { path, bytes: 0 };
        let mut output = BufWriter::with_capacity(1 << 20, File::create(&file.path)?);
        let mut line = String::new();
        for number in keys::present(0, lines) {
            line.clear();
            keys::write_url(&mut line, number);
            line.push('\n');
            file.bytes += line.len() as u64;
            output.write_all(line.as_bytes())?;
        }
        output.flush()?;
        Ok(file)
    }
}

impl Drop for UrlFile {
    fn drop(&mut self) {
        // Nothing to be done about a file that can't be removed: the system clears its temporary directory.
        let _ = fs::remove_file(&self.path);
    }
}

fn run_child(command: &[&std::ffi::OsStr]) -> Result<Run, Failure> {
    let (program, arguments) = command.split_first().ok_or("a command has a program")?;
    let start = Instant::now();
    let child = Command::new(program)
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{} does not start: {error}", program.display()))?;
    let (status, usage) = wait_with_usage(libc::pid_t::try_from(child.id())?)?;
    let wall_seconds = start.elapsed().as_secs_f64();
    if status != 0 {
        return Err(format!("{} ended with wait status {status}", program.display()).into());
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    Ok(Run {
        wall_seconds,
        cpu_seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        // Linux counts in KiB.
        peak_bytes: usage.ru_maxrss as f64 * 1024.0,
    })
}

/// Waits for a child and returns its wait status and what it used: the standard library's wait doesn't tell
/// its memory.
fn wait_with_usage(pid: libc::pid_t) -> Result<(i32, libc::rusage), Failure> {
    let mut status = 0;
    // SAFETY: rusage is plain numbers, for which all zeros is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live variables of the right types; `pid` is a child nobody else waits for.
    let waited = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
    if waited == pid { Ok((status, usage)) } else { Err(std::io::Error::last_os_error().into()) }
}

/// The first line a program prints about itself, or its name.
fn first_line(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    String::from(text.lines().next().filter(|line| !line.is_empty()).unwrap_or(program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_s_memory_is_its_own() {
        let small = run_child(&["true".as_ref()]).expect("true runs");
        assert!(small.peak_bytes > 0.0 && small.wall_seconds > 0.0);
        assert!(run_child(&["false".as_ref()]).is_err());
    }

    #[test]
    fn the_file_has_its_lines_and_goes_away() {
        let file = UrlFile::create(1000).expect("a small temporary file");
        let text = fs::read_to_string(&file.path).expect("the file just written");
        assert_eq!(text.lines().count(), 1000);
        assert_eq!(text.len() as u64, file.bytes);
        let path = file.path.clone();
        drop(file);
        assert!(!path.exists());
    }
}
