//! What has been seen of the range: a bit for each number of it.

use mayhap::Bitmap;
use mayhap::sizing::bitmap::{dense_bytes, sparse_bytes};

use super::range::NumberRange;
use crate::failure::Failure;
use crate::keys::Batch;
use crate::numbers::{format_count, format_size};

/// The numbers of the range that occurred.
#[derive(Debug)]
pub(super) struct Seen {
    range: NumberRange,
    /// By their place in the range.
    bitmap: Bitmap,
    memory: u64,
    skips_invalid: bool,
    counts: Counts,
    /// The input that is being read, and how many of its lines have been.
    source: String,
    source_lines: u64,
}

/// What the lines were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) lines: u64,
    /// Numbers of the range that had been there already.
    pub(super) repeated: u64,
    pub(super) outside: u64,
    pub(super) invalid: u64,
}

/// A line as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parsed {
    Number(u64),
    /// Below 0, or 2^64 and above: in no range.
    Beyond,
    Invalid,
}

impl Seen {
    /// For a range and an input of so many bytes, if that is known. Memory is compared with its limit before it is taken.
    pub(super) fn new(
        range: NumberRange,
        input_bytes: Option<u64>,
        memory: u64,
        skips_invalid: bool,
    ) -> Result<Self, Failure> {
        let dense = dense_bytes(range.len());
        // A number and its line end are two bytes at least. Of a pipe nobody knows, so it is taken to bring them all,
        // if there is memory for that.
        let expected = match input_bytes {
            Some(bytes) => bytes / 2 + 1,
            None if dense <= memory => range.len(),
            None => 0,
        };
        if dense > memory && sparse_bytes(range.len(), expected) >= dense {
            return Err(Failure::Message(format!(
                "a bit for each of {} numbers takes {}, and --memory allows {}; allow more, or ask for a smaller range",
                format_count(range.len()),
                format_size(dense),
                format_size(memory)
            )));
        }
        Ok(Self {
            range,
            bitmap: Bitmap::new(range.len(), expected)?,
            memory,
            skips_invalid,
            counts: Counts::default(),
            source: String::new(),
            source_lines: 0,
        })
    }

    /// Marks the numbers of whole lines.
    pub(super) fn read(&mut self, batch: &Batch) -> Result<(), Failure> {
        if self.source != batch.source() {
            batch.source().clone_into(&mut self.source);
            self.source_lines = 0;
        }
        batch.for_each(|line, _| {
            self.counts.lines += 1;
            self.source_lines += 1;
            match parse(line) {
                Parsed::Number(number) => match self.range.place(number) {
                    Some(place) => {
                        let is_new =
                            self.bitmap.insert(place).map_err(|error| Failure::Message(error.to_string()))?;
                        self.counts.repeated += u64::from(!is_new);
                    }
                    None => self.counts.outside += 1,
                },
                Parsed::Beyond => self.counts.outside += 1,
                Parsed::Invalid if self.skips_invalid => self.counts.invalid += 1,
                Parsed::Invalid => return Err(self.not_a_number(line)),
            }
            Ok(())
        })?;
        self.check_memory()
    }

    /// The sparse form grows with what it holds.
    fn check_memory(&self) -> Result<(), Failure> {
        if self.memory_bytes() <= self.memory {
            return Ok(());
        }
        Err(Failure::Message(format!(
            "the numbers seen take more than the {} that --memory allows; allow more, or ask for a smaller range",
            format_size(self.memory)
        )))
    }

    #[cold]
    fn not_a_number(&self, line: &[u8]) -> Failure {
        let shown: String = String::from_utf8_lossy(line).chars().take(40).collect();
        Failure::Message(format!(
            "{}, line {}: {shown:?} is no whole number; --skip-invalid passes over such lines",
            self.source, self.source_lines
        ))
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    pub(super) fn range(&self) -> NumberRange {
        self.range
    }

    /// The numbers that occurred, by their place in the range.
    pub(super) fn bitmap(&self) -> &Bitmap {
        &self.bitmap
    }

    /// How many numbers of the range did not occur.
    pub(super) fn missing(&self) -> u64 {
        self.range.len() - self.bitmap.len()
    }

    /// About what it takes. Quick, which to go through the sparse form would not be.
    pub(super) fn memory_bytes(&self) -> u64 {
        if self.bitmap.is_dense() {
            self.bitmap.len_bytes()
        } else {
            sparse_bytes(self.range.len(), self.bitmap.len())
        }
    }
}

/// Decimal digits, with or without a sign and spaces around.
#[inline]
fn parse(line: &[u8]) -> Parsed {
    let text = line.trim_ascii();
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Parsed::Invalid;
    }
    let number = digits
        .iter()
        .try_fold(0u64, |number, digit| number.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    match number {
        Some(0) => Parsed::Number(0),
        Some(number) if !is_negative => Parsed::Number(number),
        _ => Parsed::Beyond,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::missing::range::parse_range;

    #[test]
    fn lines_are_numbers_or_not() {
        for (line, parsed) in [
            ("0", Parsed::Number(0)),
            ("-0", Parsed::Number(0)),
            (" 17\t", Parsed::Number(17)),
            ("+5", Parsed::Number(5)),
            ("007", Parsed::Number(7)),
            ("18446744073709551615", Parsed::Number(u64::MAX)),
            ("18446744073709551616", Parsed::Beyond),
            ("-1", Parsed::Beyond),
            ("", Parsed::Invalid),
            ("-", Parsed::Invalid),
            ("--1", Parsed::Invalid),
            ("1.0", Parsed::Invalid),
            ("1e3", Parsed::Invalid),
            ("0x1", Parsed::Invalid),
            ("1 2", Parsed::Invalid),
            ("٣", Parsed::Invalid),
        ] {
            assert_eq!(parse(line.as_bytes()), parsed, "{line:?}");
        }
    }

    #[test]
    fn few_numbers_of_a_huge_range_are_kept_as_such() {
        let range = parse_range("0..1T").unwrap();
        let mut seen = Seen::new(range, Some(1_000), 1 << 20, false).unwrap();
        assert!(!seen.bitmap.is_dense());
        seen.read(&Batch::of_lines(b"5\n999999999999\n5\n1000000000000\n")).unwrap();
        assert_eq!(seen.missing(), 999_999_999_998);
        assert_eq!(seen.counts(), Counts { lines: 4, repeated: 1, outside: 1, invalid: 0 });
        // A pipe that may bring anything is not refused for what it may bring.
        assert!(!Seen::new(range, None, 1 << 20, false).unwrap().bitmap.is_dense());
        assert!(Seen::new(parse_range("0..1M").unwrap(), None, 1 << 20, false).unwrap().bitmap.is_dense());
    }

    #[test]
    fn memory_is_compared_before_and_on_the_way() {
        let range = parse_range("0..1T").unwrap();
        let Err(Failure::Message(message)) = Seen::new(range, Some(1 << 40), 1 << 20, false) else {
            panic!("a terabyte of numbers")
        };
        assert!(message.contains("125 GB") && message.contains("--memory"), "{message}");
        let mut seen = Seen::new(range, None, 100, false).unwrap();
        let Err(Failure::Message(message)) = seen.read(&Batch::of_lines(b"5\n70000\n7000000\n")) else {
            panic!("more than a hundred bytes")
        };
        assert!(message.contains("100 B"), "{message}");
    }
}
