//! What the operating system knows about this process.

use std::fs;

/// Times of Linux's `/proc` are in hundredths of a second, on every machine: the kernel converts them.
const TICKS_PER_SECOND: f64 = 100.0;

/// What the process uses; nothing, where there is no `/proc`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Process {
    pub(super) resident_bytes: Option<u64>,
    pub(super) peak_resident_bytes: Option<u64>,
    pub(super) user_seconds: Option<f64>,
    pub(super) system_seconds: Option<f64>,
}

impl Process {
    /// As it is now.
    pub(super) fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // The name of the program stands in brackets and may have spaces and brackets of its own; what follows has not.
        let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let seconds = |place: usize| {
            let ticks: f64 = after_name.split_ascii_whitespace().nth(place)?.parse().ok()?;
            Some(ticks / TICKS_PER_SECOND)
        };
        Self {
            resident_bytes: kilobytes(&status, "VmRSS:"),
            peak_resident_bytes: kilobytes(&status, "VmHWM:"),
            // The 14th and 15th field of the file; the third is the first after the name.
            user_seconds: seconds(11),
            system_seconds: seconds(12),
        }
    }

    /// The memory of the machine.
    pub(super) fn system_bytes() -> Option<u64> {
        kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")
    }
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn linux_tells() {
        let process = Process::now();
        assert!(process.resident_bytes.unwrap() > 100_000);
        assert!(process.peak_resident_bytes >= process.resident_bytes);
        assert!(process.user_seconds.is_some() && process.system_seconds.is_some());
        assert!(Process::system_bytes() > process.resident_bytes);
    }
}
