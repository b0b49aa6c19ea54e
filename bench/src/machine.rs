//! What the numbers were made on and with.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// One line per fact, for the top of a report.
pub(crate) fn facts() -> Vec<(&'static str, String)> {
    let build = if cfg!(target_feature = "avx2") {
        "compiled with AVX2: mayhap's kernel inlines into the caller"
    } else {
        "baseline of the target: mayhap chooses its kernel at run time"
    };
    vec![
        ("date", today()),
        ("machine", machine()),
        ("system", system()),
        ("compiler", format!("{}, {}", env!("BENCH_RUSTC"), build)),
        ("versions", String::from(env!("BENCH_VERSIONS"))),
        ("command", format!("mayhap-bench {}", std::env::args().skip(1).collect::<Vec<_>>().join(" "))),
    ]
}

pub(crate) fn markdown() -> String {
    facts().into_iter().map(|(name, fact)| format!("- {name}: {fact}\n")).collect()
}

pub(crate) fn json() -> Value {
    facts().into_iter().map(|(name, fact)| (String::from(name), json!(fact))).collect()
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let cpu = field("/proc/cpuinfo", "model name").unwrap_or_else(|| String::from("unknown CPU"));
    let family = field("/proc/cpuinfo", "cpu family").unwrap_or_default();
    let model = field("/proc/cpuinfo", "model").unwrap_or_default();
    let cache = read("/sys/devices/system/cpu/cpu0/cache/index3/size");
    let memory = field("/proc/meminfo", "MemTotal").unwrap_or_default();
    format!("{cores} cores of {cpu} (family {family}, model {model}), L3 {cache}, memory {memory}")
}

fn system() -> String {
    format!(
        "Linux {}, transparent huge pages: {}",
        read("/proc/sys/kernel/osrelease"),
        read("/sys/kernel/mm/transparent_hugepage/enabled")
    )
}

/// The value of the first line `name : value`.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let value = text.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.trim() == name)?.1;
    Some(String::from(value.trim()))
}

fn read(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|_| String::from("unknown"), |text| String::from(text.trim()))
}

fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil_date(seconds / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

/// Year, month and day of a number of days since 1970-01-01.
///
/// Years are counted from March, so that the leap day is the last of its year (Hinnant, "chrono-compatible
/// low-level date algorithms").
fn civil_date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::civil_date;

    #[test]
    fn dates() {
        assert_eq!(civil_date(0), (1970, 1, 1));
        assert_eq!(civil_date(11_016), (2000, 2, 29));
        assert_eq!(civil_date(20_772), (2026, 11, 15));
    }
}
