//! `mayhap dedup` against the two commands people use today, as child processes.

use std::path::Path;

use serde_json::{Value, json};

use crate::child::{Run, first_line, middle, must_exist, run_child};
use crate::report::{self, Report};
use crate::url_file::UrlFile;
use crate::{Failure, Settings, keys};

/// Times every command over a file of `lines` distinct URL lines; the output goes to /dev/null.
pub(crate) fn run(lines: usize, mayhap: &Path, settings: &Settings) -> Result<Report, Failure> {
    must_exist(mayhap)?;
    let file = UrlFile::create("dedup", keys::present(0, lines), "")?;
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

    let ours = middle(&runs[0], |run| run.wall_seconds);
    let rows = ways.iter().zip(&runs).filter(|(_, runs)| !runs.is_empty()).map(|((name, _), runs)| {
        let wall = middle(runs, |run| run.wall_seconds);
        vec![
            String::from(*name),
            format!("{wall:.2}"),
            format!("{:.2}", middle(runs, |run| run.cpu_seconds)),
            report::bytes(middle(runs, |run| run.peak_bytes)),
            report::ratio(wall / ours),
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

pub(crate) fn runs_json(runs: &[Run]) -> Vec<Value> {
    let json = |run: &Run| {
        let (wall, cpu, peak) = (run.wall_seconds, run.cpu_seconds, run.peak_bytes);
        json!({"wall_s": wall, "cpu_s": cpu, "peak_bytes": peak})
    };
    runs.iter().map(json).collect()
}
