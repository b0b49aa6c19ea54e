//! Servers as child processes, pinned to a core, stopped when dropped.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Failure;

pub(super) struct Process {
    child: Child,
    port: u16,
}

impl Process {
    /// Redis without persistence, which would be measured too.
    pub(super) fn redis(core: usize) -> Result<Self, Failure> {
        let port = free_port()?;
        let arguments = ["--port", &port.to_string(), "--save", "", "--appendonly", "no"];
        Self::start(&core.to_string(), "redis-server".as_ref(), &arguments, port).map_err(|error| {
            format!("redis-server does not start ({error}); install it with `apt-get install redis-server`")
                .into()
        })
    }

    /// `mayhap serve` on these cores.
    pub(super) fn mayhap(binary: &Path, cores: &str, threads: usize) -> Result<Self, Failure> {
        Self::mayhap_with(binary, cores, threads, &[])
    }

    /// The same with settings, such as `timeout=60`.
    pub(super) fn mayhap_with(
        binary: &Path,
        cores: &str,
        threads: usize,
        settings: &[&str],
    ) -> Result<Self, Failure> {
        let port = free_port()?;
        let (port_text, threads) = (port.to_string(), threads.to_string());
        let mut arguments = vec!["serve", "--port", &port_text, "--threads", &threads];
        arguments.extend(settings.iter().flat_map(|setting| ["--set", setting]));
        Self::start(cores, binary, &arguments, port).map_err(|error| {
            format!(
                "{} serve does not start ({error}): build it with `cargo build --release -p mayhap-cli`, or \
                 say where it is with --mayhap",
                binary.display()
            )
            .into()
        })
    }

    fn start(cores: &str, program: &Path, arguments: &[&str], port: u16) -> Result<Self, Failure> {
        let child = Command::new("taskset")
            .args(["-c", cores])
            .arg(program)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let process = Self { child, port };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if start.elapsed() > Duration::from_secs(10) {
                return Err("nobody listens after ten seconds".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(process)
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// CPU time of all its threads, as the scheduler has counted it.
    pub(super) fn cpu_nanoseconds(&self) -> Result<f64, Failure> {
        let mut sum = 0.0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let text = fs::read_to_string(thread?.path().join("schedstat"))?;
            let nanoseconds = text.split_whitespace().next().unwrap_or("0");
            sum += nanoseconds.parse::<f64>()?;
        }
        Ok(sum)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It holds nothing worth saving.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that was free a moment ago.
fn free_port() -> Result<u16, Failure> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Keeps this process, the client, on these cores.
pub(super) fn pin_this_process(cores: &str) -> Result<(), Failure> {
    let process = std::process::id().to_string();
    let status = Command::new("taskset")
        .args(["-acp", cores, &process])
        .stdout(Stdio::null())
        .status()
        .map_err(|error| format!("taskset does not start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("cores {cores} can't be had").into()) }
}

pub(super) fn redis_version() -> String {
    let output = Command::new("redis-server").arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let version = text.split_whitespace().find(|word| word.starts_with("v="));
    format!("redis-server {}", version.map_or("of unknown version", |version| &version[2..]))
}
