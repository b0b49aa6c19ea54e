//! How much memory.

use super::count::three_digits;
use super::decimal::{Decimal, NotWhole};

const ACCEPTED: &str = "write bytes with or without a unit, such as 64MiB, 1.5GB, 512K or 1000000";

/// Reads a size in bytes.
///
/// `kB`, `MB`, `GB`, `TB` are powers of 1000; `KiB`, `MiB`, `GiB`, `TiB` and the bare letters `K`, `M`, `G`, `T` are
/// powers of 1024, as in `sort -S` and `head -c`. Case doesn't matter. A fraction of a byte is refused.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let (number, suffix) = Decimal::parse_prefix(text).ok_or_else(|| not_a_size(text))?;
    let unit = match suffix.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        _ => return Err(not_a_size(text)),
    };
    number.whole(unit).map_err(|problem| match problem {
        NotWhole::Fraction => format!("`{text}` is not a whole number of bytes; {ACCEPTED}"),
        NotWhole::TooLarge => {
            format!("`{text}` is too large: the limit is 2^64 - 1 bytes, about 18 million TB")
        }
    })
}

fn not_a_size(text: &str) -> String {
    format!("`{text}` is not a size; {ACCEPTED}")
}

/// A size in both kinds of unit: `126 MB (120 MiB)`; below 1000 bytes just `64 B`.
pub(crate) fn format_size(bytes: u64) -> String {
    const UNITS: [(f64, &str, f64, &str); 4] = [
        (1e12, "TB", (1u64 << 40) as f64, "TiB"),
        (1e9, "GB", (1u64 << 30) as f64, "GiB"),
        (1e6, "MB", (1u64 << 20) as f64, "MiB"),
        (1e3, "kB", (1u64 << 10) as f64, "KiB"),
    ];
    let value = bytes as f64;
    for (decimal, decimal_name, binary, binary_name) in UNITS {
        if value >= decimal * 0.9995 && bytes >= 1_000 {
            let (in_decimal, in_binary) = (value / decimal, value / binary);
            // Just above a power of 1000 the binary unit of the same rank may still be below 1.
            let binary_text =
                if in_binary >= 0.9995 { three_digits(in_binary) } else { format!("{in_binary:.3}") };
            return format!("{} {decimal_name} ({binary_text} {binary_name})", three_digits(in_decimal));
        }
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write() {
        for (text, bytes) in [
            ("0", 0),
            ("1000000", 1_000_000),
            ("1_000", 1_000),
            ("64B", 64),
            ("1kB", 1_000),
            ("1KB", 1_000),
            ("1.5GB", 1_500_000_000),
            ("64MiB", 64 << 20),
            ("64 MiB", 64 << 20),
            ("64mib", 64 << 20),
            ("512K", 512 << 10),
            ("512k", 512 << 10),
            ("1G", 1 << 30),
            ("1.5G", 3 << 29),
            ("2TiB", 2 << 40),
            ("1e6", 1_000_000),
            ("2^30", 1 << 30),
            ("0.5K", 512),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_they_should_not() {
        for text in ["", "MiB", "lots", "-1M", "1,5G", "1 XB", "64 MiBs", "1/2", "5%"] {
            let message = parse_size(text).unwrap_err();
            assert!(
                message.contains("is not a size; write bytes") && message.contains("64MiB"),
                "{text}: {message}"
            );
        }
        assert!(parse_size("1.5").unwrap_err().contains("whole number of bytes"));
        assert!(parse_size("0.3K").unwrap_err().contains("whole number of bytes"));
        for text in ["1e30", "16777216TiB", "18446744073709551616"] {
            assert!(parse_size(text).unwrap_err().contains("too large"), "{text}");
        }
        assert_eq!(parse_size("16777215TiB"), Ok(16_777_215 << 40));
    }

    #[test]
    fn printed_in_both_units() {
        for (bytes, text) in [
            (0, "0 B"),
            (64, "64 B"),
            (999, "999 B"),
            (1_000, "1 kB (0.977 KiB)"),
            (1_024, "1.02 kB (1 KiB)"),
            (64 << 20, "67.1 MB (64 MiB)"),
            (126_245_000, "126 MB (120 MiB)"),
            (1_235_000_000, "1.24 GB (1.15 GiB)"),
            (999_999_999, "1 GB (0.931 GiB)"),
        ] {
            assert_eq!(format_size(bytes), text);
        }
    }
}
