//! What `cargo xtask test` checks.

use std::fs;
use std::process::{Command, Stdio};

use crate::step::{Cargo, Outcome, Step, root, run_all};

/// Optimised, because rates need many keys, but with overflow checks and debug assertions, and without the link-time
/// optimisation that would make every test binary slow to build.
pub(crate) const PROFILE: &str = "--profile test-release";

/// Where the no_std probe lives: outside the workspace, so that nothing else in it can turn `std` on.
const PROBE: &str = "xtask/no_std_probe";

/// All checks, quick ones first.
pub(crate) fn all() -> Vec<Step> {
    vec![
        Step {
            name: "format",
            about: "the code is laid out by rustfmt",
            commands: vec![
                Cargo::new("fmt --all --check"),
                Cargo::new(&format!("fmt --manifest-path {PROBE}/Cargo.toml --check")),
            ],
        },
        Step {
            name: "clippy",
            about: "no warnings, in any crate, test or benchmark",
            commands: vec![Cargo::new("clippy --workspace --all-targets --all-features -- -D warnings")],
        },
        Step {
            name: "tests",
            about: "unit and integration tests, in release mode",
            commands: vec![Cargo::new(&format!(
                "test {PROFILE} --workspace --exclude mayhap-bench --all-features --lib --bins --tests"
            ))],
        },
        Step {
            name: "examples",
            about: "the examples in the README and the documentation run",
            commands: vec![Cargo::new(&format!("test {PROFILE} --package mayhap --doc"))],
        },
        Step {
            name: "rustdoc",
            about: "the documentation builds without warnings",
            commands: vec![
                Cargo::new("doc --no-deps --workspace --exclude mayhap-bench --all-features")
                    .environment("RUSTDOCFLAGS", "-D warnings"),
            ],
        },
        Step {
            name: "features",
            about: "the library builds with no feature, and with each one alone",
            commands: feature_builds(),
        },
        Step {
            name: "no_std",
            about: "the library needs nothing of std: a program without it builds",
            commands: vec![Cargo::new(&format!("build --manifest-path {PROBE}/Cargo.toml"))],
        },
        Step {
            name: "clients",
            about: "redis-cli, redis-py and node-redis find what they need",
            commands: vec![Cargo::new("xtask clients")],
        },
        Step { name: "fuzz", about: "a brief fuzz", commands: vec![fuzz(&[])] },
    ]
}

/// Runs all checks, or those named.
pub(crate) fn run(names: &[String]) -> Outcome {
    let mut steps = all();
    if let Some(unknown) = names.iter().find(|name| steps.iter().all(|step| step.name != name.as_str())) {
        let known: Vec<_> = steps.iter().map(|step| step.name).collect();
        eprintln!("xtask: there is no step `{unknown}`; the steps are {}", known.join(", "));
        return Outcome::Failed;
    }
    if !names.is_empty() {
        steps.retain(|step| names.iter().any(|name| name == step.name));
    }
    if let Err(problem) = set_up() {
        eprintln!("xtask: {problem}");
        return Outcome::Failed;
    }
    run_all(&steps)
}

/// The fuzzer is its own program: the library has to be optimised for it, and xtask must not wait for that.
pub(crate) fn fuzz(arguments: &[String]) -> Cargo {
    Cargo::new(&format!("run --quiet {PROFILE} --package mayhap-fuzz --")).arguments(arguments)
}

/// The benchmarks are not built by anything else: they pull in other people's filters.
pub(crate) fn bench(arguments: &[String]) -> Cargo {
    Cargo::new("run --release --package mayhap-bench --").arguments(arguments)
}

/// Everything the checks need that a fresh clone doesn't have.
fn set_up() -> Result<(), String> {
    for (tool, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let found = Command::new(cargo)
            .args([tool, "--version"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !found {
            return Err(format!("`cargo {tool}` is missing; add it with `rustup component add {component}`"));
        }
    }
    // The probe is a workspace of its own; it gets the versions this one has, without asking the network.
    let (from, to) = (root().join("Cargo.lock"), root().join(PROBE).join("Cargo.lock"));
    fs::copy(&from, &to)
        .map_err(|error| format!("cannot copy {} to {}: {error}", from.display(), to.display()))?;
    Ok(())
}

/// Clippy rather than a plain build, so that an import only another feature needs is an error.
fn feature_builds() -> Vec<Cargo> {
    let build = |feature: &str| {
        let chosen = if feature.is_empty() { String::new() } else { format!("--features {feature}") };
        Cargo::new(&format!("clippy --package mayhap --no-default-features {chosen} -- -D warnings"))
    };
    let manifest = fs::read_to_string(root().join("crates/mayhap/Cargo.toml")).unwrap_or_default();
    let mut builds = vec![build("")];
    builds.extend(features(&manifest).iter().map(|feature| build(feature)));
    builds
}

/// The names in a manifest's `[features]` table, but for `default`, which every other step builds.
fn features(manifest: &str) -> Vec<String> {
    manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "[features]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name.trim().to_owned())
        .filter(|name| name != "default" && !name.starts_with('#'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_those_of_the_table() {
        let manifest = "[package]\nname = \"x\"\n[features]\n# a = b\ndefault = [\"std\"]\nstd = []\n\nformats = [\"std\"]\n[dependencies]\ny = \"1\"\n";
        assert_eq!(features(manifest), ["std", "formats"]);
        assert!(features("[package]\nname = \"x\"\n").is_empty());
    }

    #[test]
    fn the_library_is_built_without_features_and_with_std_alone() {
        assert!(feature_builds().len() >= 2);
    }
}
