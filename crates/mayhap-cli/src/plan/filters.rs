//! From the numbers that are given to a filter of each kind.

use mayhap::bloom::Shape;
use mayhap::codec;
use mayhap::counting::CounterWidth;
use mayhap::sizing::{BlockedPlan, ClassicPlan, SizingError, blocked, classic};

use super::catalogue::in_words;
use crate::kind_word::kind_word;

/// The two or three numbers that are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Question {
    pub(super) keys: Option<u64>,
    pub(super) rate: Option<f64>,
    pub(super) bytes: Option<u64>,
    pub(super) hashes: Option<u32>,
}

/// One kind of filter that answers it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) kind: Kind,
    /// Unknown, with `bytes`, when only their ratio is determined.
    pub(super) keys: Option<u64>,
    pub(super) bytes: Option<u64>,
    pub(super) bits_per_key: f64,
    /// The rate that can be promised.
    pub(super) rate: f64,
    /// Bits set for each key, by a Bloom filter.
    pub(super) hashes: Option<u32>,
    /// Cache lines that a question about a present key touches.
    pub(super) lines_if_present: f64,
    /// The same for an absent key, on average.
    pub(super) lines_if_absent: f64,
}

/// The kinds there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Blocked(Shape),
    Classic,
    Scalable,
    Window,
    Counting(CounterWidth),
    Dual,
    DLeft,
    Cuckoo,
    ScalableCuckoo,
}

impl Kind {
    /// The name of its type.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Blocked(_) => "BloomFilter",
            Self::Classic => "ClassicBloom",
            Self::Scalable => "ScalableBloom",
            Self::Window => "WindowBloom",
            Self::Counting(_) => "CountingBloom",
            Self::Dual => "DualBloom",
            Self::DLeft => "DLeftCounting",
            Self::Cuckoo => "CuckooFilter",
            Self::ScalableCuckoo => "ScalableCuckoo",
        }
    }

    /// What `build --kind` calls it.
    pub(super) fn word(self) -> &'static str {
        kind_word(match self {
            Self::Blocked(_) => codec::Kind::BLOCKED_BLOOM,
            Self::Classic => codec::Kind::CLASSIC_BLOOM,
            Self::Scalable => codec::Kind::SCALABLE_BLOOM,
            Self::Window => codec::Kind::WINDOW_BLOOM,
            Self::Counting(_) => codec::Kind::COUNTING_BLOOM,
            Self::Dual => codec::Kind::DUAL_BLOOM,
            Self::DLeft => codec::Kind::D_LEFT_COUNTING,
            Self::Cuckoo => codec::Kind::CUCKOO,
            Self::ScalableCuckoo => codec::Kind::SCALABLE_CUCKOO,
        })
    }

    /// The name, and what tells it from others of the same type.
    pub(super) fn label(self) -> String {
        match self {
            Self::Blocked(shape) if shape.lines() == 1 => {
                format!("BloomFilter, {} bits in a line", shape.hashes())
            }
            Self::Blocked(shape) => {
                format!("BloomFilter, {} bits in {} lines", shape.hashes(), shape.lines())
            }
            Self::Counting(width) => format!("CountingBloom, {} bits", width.bits()),
            _ => self.name().to_owned(),
        }
    }

    /// Whether a key can be taken out again.
    pub(super) const fn deletes(self) -> bool {
        use Kind::{Counting, Cuckoo, DLeft, Dual, ScalableCuckoo};
        matches!(self, Counting(_) | Dual | DLeft | Cuckoo | ScalableCuckoo)
    }

    /// Whether it takes more keys than it was made for, at the same rate.
    pub(super) const fn grows(self) -> bool {
        matches!(self, Self::Scalable | Self::ScalableCuckoo)
    }

    /// Whether it tells how often a key was added.
    pub(super) const fn counts(self) -> bool {
        matches!(self, Self::Counting(_) | Self::DLeft | Self::Cuckoo | Self::ScalableCuckoo)
    }
}

/// One candidate of each kind, and a remark for each kind that has none. An error if no kind has one.
pub(super) fn candidates(question: &Question) -> Result<(Vec<Candidate>, Vec<String>), String> {
    let mut found = Vec::new();
    let mut remarks = Vec::new();
    match blocked_candidates(question)? {
        Ok(candidates) => found.extend(candidates),
        Err(reason) => remarks.push(format!("No BloomFilter: {reason}.")),
    }
    match classic_candidate(question)? {
        Ok(candidate) => found.push(candidate),
        Err(reason) => remarks.push(format!("No ClassicBloom: {}.", in_words(question, &reason))),
    }
    if found.is_empty() {
        // Both stumbled over the same number, and the simpler filter says it in simpler words.
        let reason = classic_candidate(question)?.err().map_or_else(String::new, |error| error.to_string());
        return Err(reason);
    }
    Ok((found, remarks))
}

/// The outer error is a question that doesn't determine a filter.
fn classic_candidate(question: &Question) -> Result<Result<Candidate, SizingError>, String> {
    // Whole lines, so that what is taken stays within the memory that was given.
    let bits = question.bytes.map(|bytes| (bytes / blocked::BLOCK_BYTES).saturating_mul(blocked::BLOCK_BITS));
    let plan = match (question.keys, question.rate, bits, question.hashes) {
        (Some(keys), Some(rate), None, None) => ClassicPlan::for_rate(keys, rate),
        (Some(keys), Some(rate), None, Some(hashes)) => ClassicPlan::for_rate_with_hashes(keys, rate, hashes),
        (Some(keys), None, Some(bits), None) => ClassicPlan::for_bits(keys, bits),
        (Some(keys), None, Some(bits), Some(hashes)) => ClassicPlan::for_bits_with_hashes(keys, bits, hashes),
        (None, Some(rate), Some(bits), None) => ClassicPlan::for_capacity(bits, rate),
        (None, Some(rate), Some(bits), Some(hashes)) => {
            ClassicPlan::for_capacity_with_hashes(bits, rate, hashes)
        }
        (Some(keys), None, None, Some(hashes)) => ClassicPlan::for_hashes(keys, hashes),
        (None, None, Some(bits), Some(hashes)) => ClassicPlan::for_half_full(bits, hashes),
        (None, Some(rate), None, Some(hashes)) => {
            return Ok(classic::bits_per_key_with_hashes(rate, hashes)
                .map(|bits_per_key| Candidate::classic(None, bits_per_key, rate, rate, hashes)));
        }
        (Some(_), Some(_), Some(_), _) => {
            return Err(
                "-n, -p and --memory together say too much: leave one out, and it will be worked out"
                    .to_owned(),
            );
        }
        _ => {
            return Err(
                "give two of -n, -p, --memory and -k, for example: mayhap plan -n 100M -p 1%".to_owned()
            );
        }
    };
    let too_small = |error| match (error, question.bytes) {
        (SizingError::TooSmall { needed, .. }, Some(bytes)) => {
            SizingError::TooSmall { bytes, needed: needed.next_multiple_of(blocked::BLOCK_BYTES) }
        }
        (error, _) => error,
    };
    Ok(plan.map_err(too_small).map(|plan| {
        let bytes = bits.map_or_else(|| plan.bytes(), |bits| bits / 8);
        let bits_per_key = bytes as f64 * 8.0 / plan.keys() as f64;
        let size = Some((plan.keys(), bytes));
        Candidate::classic(size, bits_per_key, plan.rate(), plan.expected_rate(), plan.hashes())
    }))
}

/// The shape is chosen by the rate, unless the number of bits is given: two shapes set sixteen.
fn blocked_candidates(question: &Question) -> Result<Result<Vec<Candidate>, String>, String> {
    let Some(hashes) = question.hashes else {
        let plan = match (question.keys, question.rate, question.bytes) {
            (Some(keys), Some(rate), None) => BlockedPlan::for_rate(keys, rate),
            (Some(keys), None, Some(bytes)) => BlockedPlan::for_bytes(keys, bytes),
            (None, Some(rate), Some(bytes)) => BlockedPlan::for_capacity(bytes, rate),
            // Not enough or too much, which the classic filter reports.
            _ => return Ok(Err(String::new())),
        };
        return Ok(plan
            .map(|plan| vec![Candidate::blocked(&plan)])
            .map_err(|error| in_words(question, &error)));
    };
    let shapes: Vec<Shape> = Shape::ALL.into_iter().filter(|shape| shape.hashes() == hashes).collect();
    if shapes.is_empty() {
        return Ok(Err(format!("it sets 4, 8 or 16 bits for each key, not {hashes}")));
    }
    // Where k decides the rate, it is the classic filter's, and the blocked one is sized for the same.
    let (keys, rate) = match (question.keys, question.rate, question.bytes) {
        (Some(_), None, None) | (None, None, Some(_)) => match classic_candidate(question)? {
            Ok(classic) => (question.keys, Some(classic.rate)),
            Err(error) => return Ok(Err(error.to_string())),
        },
        (keys, rate, _) => (keys, rate),
    };
    let each = shapes.into_iter().map(|shape| match (keys, rate, question.bytes) {
        (Some(keys), Some(rate), None) => {
            BlockedPlan::for_rate_with_shape(shape, keys, rate).map(|plan| Candidate::blocked(&plan))
        }
        (Some(keys), None, Some(bytes)) => {
            BlockedPlan::for_bytes_with_shape(shape, keys, bytes).map(|plan| Candidate::blocked(&plan))
        }
        (None, Some(rate), Some(bytes)) => {
            BlockedPlan::for_capacity_with_shape(shape, bytes, rate).map(|plan| Candidate::blocked(&plan))
        }
        (_, Some(rate), _) => {
            blocked::bits_per_key(shape, rate).map(|bits| Candidate::blocked_ratio(shape, bits, rate))
        }
        _ => Err(SizingError::ZeroKeys),
    });
    Ok(each.collect::<Result<Vec<_>, _>>().map_err(|error| in_words(question, &error)))
}

impl Candidate {
    /// A filter that looks at the same number of lines whatever the answer.
    pub(super) fn of(kind: Kind, keys: u64, bytes: u64, rate: f64, lines: f64) -> Self {
        Self {
            kind,
            keys: Some(keys),
            bytes: Some(bytes),
            bits_per_key: bytes as f64 * 8.0 / keys as f64,
            rate,
            hashes: None,
            lines_if_present: lines,
            lines_if_absent: lines,
        }
    }

    fn blocked(plan: &BlockedPlan) -> Self {
        Self {
            keys: Some(plan.keys()),
            bytes: Some(plan.bytes()),
            ..Self::blocked_ratio(plan.shape(), plan.bits_per_key(), plan.rate())
        }
    }

    fn blocked_ratio(shape: Shape, bits_per_key: f64, rate: f64) -> Self {
        Self {
            kind: Kind::Blocked(shape),
            keys: None,
            bytes: None,
            bits_per_key,
            rate,
            hashes: Some(shape.hashes()),
            lines_if_present: shape.lines() as f64,
            lines_if_absent: shape.lines() as f64,
        }
    }

    fn classic(
        size: Option<(u64, u64)>,
        bits_per_key: f64,
        rate: f64,
        expected_rate: f64,
        hashes: u32,
    ) -> Self {
        let all_lines = size.map_or(f64::INFINITY, |(_, bytes)| bytes.div_ceil(blocked::BLOCK_BYTES) as f64);
        // Every bit is looked at only if all before it are set: 1 + f + f^2 + … + f^(k-1), where f^k is the rate.
        let fill = expected_rate.powf(1.0 / f64::from(hashes));
        let lines_if_absent = (1.0 - expected_rate) / (1.0 - fill);
        Self {
            kind: Kind::Classic,
            keys: size.map(|(keys, _)| keys),
            bytes: size.map(|(_, bytes)| bytes),
            bits_per_key,
            rate,
            hashes: Some(hashes),
            lines_if_present: f64::from(hashes).min(all_lines),
            lines_if_absent: lines_if_absent.min(all_lines),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Question = Question { keys: None, rate: None, bytes: None, hashes: None };

    fn both(question: Question) -> (Candidate, Candidate) {
        let (found, remarks) = candidates(&question).unwrap();
        assert!(remarks.is_empty(), "{remarks:?}");
        (found[0], *found.last().unwrap())
    }

    #[test]
    fn any_two_numbers_lead_to_the_others() {
        let (blocked, classic) = both(Question { keys: Some(1_000_000), rate: Some(0.01), ..NOTHING });
        assert_eq!((blocked.kind, classic.kind), (Kind::Blocked(Shape::Eight), Kind::Classic));
        assert_eq!((blocked.hashes, classic.hashes), (Some(8), Some(7)));

        let (_, classic) = both(Question { keys: Some(1_000_000), bytes: classic.bytes, ..NOTHING });
        assert!((0.0097..0.01).contains(&classic.rate) && classic.hashes == Some(7), "{}", classic.rate);
        let (blocked, _) = both(Question { rate: Some(0.01), bytes: blocked.bytes, ..NOTHING });
        assert!(blocked.keys.unwrap() >= 1_000_000);

        let (blocked, classic) = both(Question { keys: Some(1_000_000), hashes: Some(8), ..NOTHING });
        assert!((classic.rate * 256.0 - 1.0).abs() < 0.01);
        assert_eq!(blocked.rate, classic.rate);
        let (_, again) = both(Question { bytes: classic.bytes, hashes: Some(8), ..NOTHING });
        // The bits were rounded up, by less than a 128th.
        assert!((1_000_000..=1_008_000).contains(&again.keys.unwrap()));

        let (blocked, classic) = both(Question { rate: Some(0.01), hashes: Some(8), ..NOTHING });
        assert_eq!((blocked.bytes, classic.bytes), (None, None));
        assert!(classic.bits_per_key > 9.59 && classic.bits_per_key < blocked.bits_per_key);
    }

    #[test]
    fn three_numbers_fix_the_hashes() {
        let (blocked, classic) =
            both(Question { keys: Some(1_000), rate: Some(0.01), hashes: Some(4), ..NOTHING });
        assert_eq!((blocked.kind, classic.hashes), (Kind::Blocked(Shape::Four), Some(4)));
        let sixteen = Question { keys: Some(1_000), rate: Some(0.01), hashes: Some(16), ..NOTHING };
        assert_eq!(candidates(&sixteen).unwrap().0.len(), 3);
        let seven = Question { hashes: Some(7), ..sixteen };
        let (found, remarks) = candidates(&seven).unwrap();
        assert_eq!((found.len(), found[0].kind), (1, Kind::Classic));
        assert!(remarks[0].contains("4, 8 or 16"), "{remarks:?}");
        assert_eq!(
            both(Question { keys: Some(1_000), bytes: Some(4_096), hashes: Some(8), ..NOTHING }).1.hashes,
            Some(8)
        );
        assert_eq!(
            both(Question { rate: Some(0.1), bytes: Some(4_096), hashes: Some(8), ..NOTHING }).1.hashes,
            Some(8)
        );
    }

    #[test]
    fn too_little_and_too_much_are_refused() {
        for question in [
            NOTHING,
            Question { keys: Some(5), ..NOTHING },
            Question { rate: Some(0.5), ..NOTHING },
            Question { bytes: Some(5), ..NOTHING },
            Question { hashes: Some(5), ..NOTHING },
            Question { hashes: Some(8), ..NOTHING },
        ] {
            assert!(
                candidates(&question).unwrap_err().contains("give two of -n, -p, --memory and -k"),
                "{question:?}"
            );
        }
        for hashes in [None, Some(8), Some(5)] {
            let question = Question { keys: Some(5), rate: Some(0.5), bytes: Some(64), hashes };
            assert!(candidates(&question).unwrap_err().contains("leave one out"), "{question:?}");
        }
    }

    #[test]
    fn the_impossible_is_refused_with_its_reason() {
        let reason = |question| candidates(&question).unwrap_err();
        assert!(reason(Question { keys: Some(0), rate: Some(0.01), ..NOTHING }).contains("at least 1 key"));
        assert!(reason(Question { keys: Some(1 << 40), rate: Some(1e-9), ..NOTHING }).contains("too low"));
        assert!(reason(Question { keys: Some(10), bytes: Some(u64::MAX), ..NOTHING }).contains("limit"));
        assert!(reason(Question { rate: Some(0.01), bytes: Some(0), ..NOTHING }).contains("too few"));
        // Ten bytes would do for a key or two, but memory is taken in lines.
        let ten = reason(Question { rate: Some(0.1), bytes: Some(10), ..NOTHING });
        assert!(ten.contains("10 bytes are too few") && ten.contains("64"), "{ten}");
    }

    #[test]
    fn an_absent_key_touches_about_two_lines_of_a_classic_filter() {
        let (blocked, classic) = both(Question { keys: Some(1_000_000), rate: Some(0.01), ..NOTHING });
        assert_eq!((blocked.lines_if_present, blocked.lines_if_absent), (1.0, 1.0));
        assert_eq!(classic.lines_if_present, 7.0);
        assert!((classic.lines_if_absent - 2.0).abs() < 0.1, "{}", classic.lines_if_absent);
        let (_, tiny) = both(Question { keys: Some(1), rate: Some(0.01), ..NOTHING });
        assert_eq!((tiny.lines_if_present, tiny.lines_if_absent), (1.0, 1.0));
    }
}
