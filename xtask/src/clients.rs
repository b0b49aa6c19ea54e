//! `cargo xtask clients`: the server, checked by the Redis clients that people use.
//!
//! The checks are programs in `tests/clients`. What they need (redis-cli, redis-py, node-redis) is installed if it isn't
//! there: the packages below `target/clients`, redis-cli from the system's own packages. Where that can't be done, for
//! want of a registry for one, the check is left out and said so at the end.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::checks::PROFILE;
use crate::step::{Cargo, Outcome, root, run_alone};

/// The server is checked with each.
const LAYOUTS: [&str; 2] = ["native", "redisbloom"];

/// Runs all checks that can be run.
pub(crate) fn run() -> Outcome {
    let build = Cargo::new(&format!("build --quiet {PROFILE} --package mayhap-cli"));
    if run_alone(&build) == Outcome::Failed {
        return Outcome::Failed;
    }
    let (mut checks, mut skipped) = (Vec::new(), Vec::new());
    for check in [redis_cli(), redis_cli_hints(), redis_py(), node_redis()] {
        match check {
            Ok(check) => checks.push(check),
            Err(reason) => skipped.push(reason),
        }
    }
    for layout in LAYOUTS {
        println!("    layout {layout}");
        if let Err(problem) = run_checks(layout, &checks) {
            eprintln!("xtask: clients, layout {layout}: {problem}");
            return Outcome::Failed;
        }
    }
    for reason in skipped {
        println!("    SKIPPED {reason}");
    }
    Outcome::Passed
}

/// A program that takes the server's host and port.
struct Check {
    name: &'static str,
    program: PathBuf,
    script: PathBuf,
}

fn run_checks(layout: &str, checks: &[Check]) -> Result<(), String> {
    let server = Server::start(layout)?;
    for check in checks {
        let status = Command::new(&check.program)
            .arg(&check.script)
            .args([&server.host, &server.port])
            .current_dir(directory()?)
            .status()
            .map_err(|error| format!("cannot start {}: {error}", check.program.display()))?;
        if !status.success() {
            return Err(format!("{} found something ({status})", check.name));
        }
    }
    Ok(())
}

/// A server on any free port, which ends with this.
struct Server {
    child: Child,
    host: String,
    port: String,
}

impl Server {
    fn start(layout: &str) -> Result<Self, String> {
        let program = target().join("test-release").join("mayhap");
        let mut child = Command::new(&program)
            .args(["serve", "--port", "0", "--set", "log-level=warn"])
            .args(["--set", &format!("bf-layout={layout}"), "--set", &format!("cf-layout={layout}")])
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let mut line = String::new();
        let is_read =
            child.stdout.take().is_some_and(|stdout| BufReader::new(stdout).read_line(&mut line).is_ok());
        match address(&line).filter(|_| is_read) {
            Some((host, port)) => Ok(Self { child, host, port }),
            None => {
                end(&mut child);
                Err(format!("the server doesn't say where it is: {line:?}"))
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Of a check that is over, nothing needs to be answered any more.
fn end(child: &mut Child) {
    if let Err(error) = child.kill().and_then(|()| child.wait()) {
        eprintln!("xtask: cannot end the server: {error}");
    }
}

/// From the line with which the server begins: `mayhap 0.1.0 serves on 127.0.0.1:4321 with …`.
fn address(line: &str) -> Option<(String, String)> {
    let address = line.split(" serves on ").nth(1)?.split(' ').next()?;
    let (host, port) = address.rsplit_once(':')?;
    Some((host.to_owned(), port.to_owned()))
}

fn redis_cli() -> Result<Check, String> {
    install_redis_cli()?;
    Ok(Check { name: "redis-cli", program: "sh".into(), script: script("redis_cli.sh") })
}

fn redis_cli_hints() -> Result<Check, String> {
    install_redis_cli()?;
    succeeds(Command::new("python3").arg("--version")).map_err(|why| format!("redis-cli's hints: {why}"))?;
    Ok(Check { name: "redis-cli's hints", program: "python3".into(), script: script("redis_cli_hints.py") })
}

fn install_redis_cli() -> Result<(), String> {
    let found = || succeeds(Command::new("redis-benchmark").arg("--version")).is_ok();
    if found() {
        return Ok(());
    }
    let why = succeeds(Command::new("apt-get").args(["install", "--yes", "redis-tools"])).err();
    if found() {
        return Ok(());
    }
    Err(format!("redis-cli: not there, and not to be installed: {}", why.unwrap_or_default()))
}

fn redis_py() -> Result<Check, String> {
    let skipped = |why: String| format!("redis-py: {why}");
    let environment = directory().map_err(skipped)?.join("python");
    let program = environment.join("bin").join("python");
    let found = || succeeds(Command::new(&program).args(["-c", "import redis"])).is_ok();
    if !found() {
        succeeds(Command::new("python3").args(["-m", "venv"]).arg(&environment)).map_err(skipped)?;
        succeeds(Command::new(&program).args(["-m", "pip", "install", "--quiet", "redis"]))
            .map_err(skipped)?;
    }
    Ok(Check { name: "redis-py", program, script: script("redis_py.py") })
}

fn node_redis() -> Result<Check, String> {
    let skipped = |why: String| format!("node-redis: {why}");
    let directory = directory().map_err(skipped)?;
    if !directory.join("node_modules/redis/package.json").exists() {
        let arguments = ["install", "--no-audit", "--no-fund", "--prefix", ".", "redis"];
        succeeds(Command::new("npm").args(arguments).current_dir(&directory)).map_err(skipped)?;
    }
    Ok(Check { name: "node-redis", program: "node".into(), script: script("node_redis.mjs") })
}

fn script(name: &str) -> PathBuf {
    root().join("tests").join("clients").join(name)
}

/// Where packages are installed.
fn directory() -> Result<PathBuf, String> {
    let directory = target().join("clients");
    fs::create_dir_all(&directory)
        .map_err(|error| format!("cannot make {}: {error}", directory.display()))?;
    Ok(directory)
}

fn target() -> PathBuf {
    let chosen = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    root().join(chosen.as_deref().unwrap_or(Path::new("target")))
}

/// Runs a command that has nothing to say, unless it fails.
fn succeeds(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = errors
        .lines()
        .find(|line| line.to_ascii_lowercase().contains("error"))
        .or_else(|| errors.lines().rfind(|line| !line.trim().is_empty()))
        .unwrap_or_default();
    Err(format!("{name} failed ({}): {line}", output.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_in_the_first_line() {
        let line = "mayhap 0.1.0 serves on 127.0.0.1:4321 with 2 threads. Try: redis-cli -h 127.0.0.1\n";
        assert_eq!(address(line), Some(("127.0.0.1".to_owned(), "4321".to_owned())));
        assert_eq!(address("mayhap: cannot listen\n"), None);
    }

    #[test]
    fn every_script_is_there() {
        for name in ["redis_cli.sh", "redis_cli_hints.py", "redis_py.py", "node_redis.mjs"] {
            assert!(script(name).exists(), "{name}");
        }
    }
}
