//! `mayhap build` and `mayhap check` beside `wc -l`, which does nothing but read.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::child::{Run, middle, must_exist, run_child};
use crate::dedup::runs_json;
use crate::report::{self, Report};
use crate::url_file::UrlFile;
use crate::{Failure, Settings, keys};

/// What the filter is asked about: half of it is there.
const ASKED: usize = 10_000_000;
/// Makes the lines 40 bytes long on average, as URLs of a crawl are.
const SUFFIX: &str = "?page=all";

/// The filter that is built, removed when dropped.
struct FilterFile(PathBuf);

impl Drop for FilterFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Builds a filter of `lines` lines, and asks it about others.
pub(crate) fn run(lines: usize, mayhap: &Path, settings: &Settings) -> Result<Report, Failure> {
    must_exist(mayhap)?;
    let built = UrlFile::create("build", keys::present(0, lines), SUFFIX)?;
    let half = ASKED.min(lines) / 2;
    let asked = keys::present(0, half).flat_map(|number| [number, number + (lines as u64)]);
    let asked = UrlFile::create("check", asked, SUFFIX)?;
    let filter = FilterFile(std::env::temp_dir().join(format!("mayhap-bench-{}.mayhap", std::process::id())));
    let planned = format!("{lines}");
    let ways = ways(mayhap.as_os_str(), &planned, &built, &asked, filter.0.as_os_str());

    let rounds = settings.rounds.unwrap_or(3);
    let mut runs: [Vec<Run>; 4] = [const { Vec::new() }; 4];
    for round in 0..rounds {
        for ((name, command), runs) in ways.iter().zip(&mut runs) {
            eprintln!("  {name}, round {} of {rounds}", round + 1);
            runs.push(run_child(command)?);
        }
    }
    let filter_bytes = fs::metadata(&filter.0)?.len() as f64;
    let rate = |place: usize, bytes: u64| bytes as f64 / middle(&runs[place], |run| run.wall_seconds);
    let bytes_of = |place: usize| if place < 2 { built.bytes } else { asked.bytes };
    let rows = ways.iter().enumerate().map(|(place, (name, _))| {
        // `wc` stands before each of ours.
        let share = rate(place, bytes_of(place)) / rate(place & !1, bytes_of(place));
        vec![
            String::from(*name),
            format!("{:.2}", middle(&runs[place], |run| run.wall_seconds)),
            format!("{:.2}", middle(&runs[place], |run| run.cpu_seconds)),
            format!("{}/s", report::bytes(rate(place, bytes_of(place)))),
            report::bytes(middle(&runs[place], |run| run.peak_bytes)),
            format!("{share:.2}"),
        ]
    });
    let rows = rows.collect();
    let samples =
        ways.iter().zip(&runs).map(|((name, _), runs)| json!({"name": name, "runs": runs_json(runs)}));
    Ok(Report {
        title: format!(
            "files: a filter of {} URL lines ({}), asked about {} ({})",
            report::count(lines),
            report::bytes(built.bytes as f64),
            report::count(half * 2),
            report::bytes(asked.bytes as f64)
        ),
        header: vec!["command", "wall s", "CPU s", "rate", "peak memory", "of wc -l"],
        rows,
        notes: vec![format!(
            "Medians of {rounds} interleaved rounds; the files are in the page cache, the output goes to /dev/null. \
             The filter takes {}. Targets: build 0.25 of wc's rate, with at most 256 MiB beside the filter; check 0.2.",
            report::bytes(filter_bytes)
        )],
        json: json!({"cell": "files", "lines": lines, "filter_bytes": filter_bytes,
                     "commands": samples.collect::<Vec<_>>()}),
    })
}

/// Each of ours after the reading alone.
fn ways<'a>(
    mayhap: &'a OsStr,
    planned: &'a str,
    built: &'a UrlFile,
    asked: &'a UrlFile,
    filter: &'a OsStr,
) -> [(&'static str, Vec<&'a OsStr>); 4] {
    let (built, asked) = (built.path.as_os_str(), asked.path.as_os_str());
    let build = ["build", "-q", "--force", "-n", planned, "-o"].map(OsStr::new);
    let build = [&[mayhap], &build[..], &[filter, built]].concat();
    [
        ("wc -l, the keys", vec!["wc".as_ref(), "-l".as_ref(), built]),
        ("mayhap build -n N", build),
        ("wc -l, the questions", vec!["wc".as_ref(), "-l".as_ref(), asked]),
        ("mayhap check", vec![mayhap, "check".as_ref(), filter, asked]),
    ]
}
