//! Running commands one after the other, saying which and for how long.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
}

/// One check: a few commands that must all succeed.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) commands: Vec<Cargo>,
}

/// A call of cargo, from the root of the workspace.
#[derive(Debug)]
pub(crate) struct Cargo {
    arguments: Vec<String>,
    environment: Vec<(&'static str, String)>,
}

impl Cargo {
    /// Arguments separated by spaces; none of ours contains one.
    pub(crate) fn new(arguments: &str) -> Self {
        Self { arguments: arguments.split_whitespace().map(str::to_owned).collect(), environment: Vec::new() }
    }

    /// More arguments, as they are.
    pub(crate) fn arguments(mut self, more: &[String]) -> Self {
        self.arguments.extend_from_slice(more);
        self
    }

    /// Sets a variable for this call.
    pub(crate) fn environment(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }

    /// The line one would type.
    fn line(&self) -> String {
        let mut line = String::new();
        for (name, value) in &self.environment {
            line += &format!("{name}='{value}' ");
        }
        line + "cargo " + &self.arguments.join(" ")
    }

    fn run(&self) -> Result<(), String> {
        // Inside `cargo xtask`, this names the cargo that started us.
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(&self.arguments).current_dir(root());
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(status.to_string()),
            Err(error) => Err(format!("cannot start cargo: {error}")),
        }
    }
}

/// Runs the steps until one fails. The output of the commands is shown as it comes.
pub(crate) fn run_all(steps: &[Step]) -> Outcome {
    let all = Instant::now();
    let mut times = Vec::new();
    for step in steps {
        let start = Instant::now();
        println!("\n=== {}: {}", step.name, step.about);
        for command in &step.commands {
            println!("  $ {}", command.line());
            if let Err(problem) = command.run() {
                println!(
                    "\n=== {} FAILED ({problem}) after {:.1} s",
                    step.name,
                    start.elapsed().as_secs_f64()
                );
                println!("    the command:  {}", command.line());
                println!("    the step:     cargo xtask test {}", step.name);
                return Outcome::Failed;
            }
        }
        times.push((step.name, start.elapsed().as_secs_f64()));
    }
    println!("\n=== all passed");
    for (name, seconds) in times {
        println!("    {name:<14}{seconds:>7.1} s");
    }
    println!("    {:<14}{:>7.1} s", "in total", all.elapsed().as_secs_f64());
    Outcome::Passed
}

/// Runs one command whose output speaks for itself.
pub(crate) fn run_alone(command: &Cargo) -> Outcome {
    match command.run() {
        Ok(()) => Outcome::Passed,
        Err(problem) => {
            eprintln!("xtask: `{}` failed: {problem}", command.line());
            Outcome::Failed
        }
    }
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}
