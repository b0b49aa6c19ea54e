//! Programs run as child processes: their time and their memory.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Failure;
use crate::measure::median;

/// One process that ran to its end.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) wall_seconds: f64,
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_bytes: f64,
}

/// The median of one figure over several runs.
pub(crate) fn middle(runs: &[Run], value: fn(&Run) -> f64) -> f64 {
    median(&runs.iter().map(value).collect::<Vec<_>>())
}

/// Refuses to go on without the program.
pub(crate) fn must_exist(mayhap: &Path) -> Result<(), Failure> {
    if mayhap.is_file() {
        return Ok(());
    }
    Err(format!(
        "there is no mayhap binary at {}: build it with `cargo build --release -p mayhap-cli`, or say where it is \
         with --mayhap",
        mayhap.display()
    )
    .into())
}

/// Runs a command to its end, its output thrown away.
pub(crate) fn run_child(command: &[&OsStr]) -> Result<Run, Failure> {
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
pub(crate) fn first_line(program: &str, arguments: &[&str]) -> String {
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
}
