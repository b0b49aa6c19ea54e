//! `mayhap bench`, run for a moment: that it runs and adds up, not how fast it is.

mod run;

use run::{fails, mayhap};
use serde_json::Value;

#[test]
fn every_kind_is_measured() {
    let output = mayhap(&["bench", "-n", "20k", "--seconds", "0.1", "--json"], b"");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["planned_rate"], 0.01);
    let [size] = &report["sizes"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!(size["keys"], 20_000);
    assert!(size["rounds"].as_u64().unwrap() >= 1);
    assert!(size["random_line"]["ns"].as_f64().unwrap() > 0.0);
    let filters = size["filters"].as_array().unwrap();
    assert_eq!(filters.len(), 9);
    for filter in filters {
        for operation in ["insert", "hit", "miss"] {
            assert!(filter[operation]["batch_ns"].as_f64().unwrap() > 0.0, "{filter}");
            assert!(filter[operation]["single_ns"].as_f64().unwrap() > 0.0, "{filter}");
        }
        // Six standard deviations above what was promised.
        assert!(filter["measured_rate"].as_f64().unwrap() < 0.0114, "{filter}");
        assert!((7.0..60.0).contains(&filter["bits_per_key"].as_f64().unwrap()), "{filter}");
    }
    let deletes = |kind: &str| {
        let filter = filters.iter().find(|filter| filter["kind"] == kind).unwrap();
        filter["remove"]["batch_ns"].as_f64()
    };
    assert!(deletes("cuckoo").unwrap() > 0.0);
    assert_eq!(deletes("bloom"), None);
}

#[test]
fn the_table_has_the_kinds_that_were_asked_for() {
    let arguments = ["bench", "-n", "10k", "-p", "0.1%", "--seconds", "0.05", "--kinds", "bloom,d-left"];
    let output = mayhap(&arguments, b"");
    let text = String::from_utf8(output.stdout).unwrap();
    for part in ["10 k keys at 0.1%", "BloomFilter", "DLeftCounting", "limit: a random line", "512 MiB"] {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    assert!(!text.contains("CuckooFilter"), "{text}");
}

#[test]
fn what_can_not_be_measured_is_said() {
    for (arguments, expected) in [
        (&["-n", "0"][..], "a filter for 0 keys"),
        (&["-n", "10"], "done before a clock can tell"),
        (&["-n", "1e30"], "too large"),
        (&["-n", "10B"], "--memory allows 537 MB (512 MiB)"),
        (&["-n", "1M", "--memory", "1k"], "leave it out with --kinds"),
        (&["--memory", "1k"], "--memory allows"),
        (&["-p", "0"], "a rate of `0` is zero"),
        (&["-p", "1"], "did you mean 1%?"),
        (&["--seconds", "0"], "`0` is not a time"),
        (&["--kinds", "quick"], "invalid value 'quick'"),
    ] {
        fails(&[&["bench"], arguments].concat(), b"", expected);
    }
}
