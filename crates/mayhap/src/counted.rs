//! Numbers of things in messages.

use core::fmt;

/// So many of something: `1 key`, `2 keys`.
pub(crate) struct Counted(pub(crate) u64, pub(crate) &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count, name) = *self;
        match (count, name) {
            (1, _) => write!(f, "1 {name}"),
            (_, "copy") => write!(f, "{count} copies"),
            (_, "hash") => write!(f, "{count} hashes"),
            _ => write!(f, "{count} {name}s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::string::{String, ToString as _};
    use std::vec;

    use super::*;
    use crate::codec::FormatError;
    use crate::filter::InsertError;
    use crate::sizing::SizingError;

    #[test]
    fn one_is_not_many() {
        for (name, many) in [("key", "2 keys"), ("copy", "2 copies"), ("hash", "2 hashes")] {
            assert_eq!(Counted(1, name).to_string(), std::format!("1 {name}"));
            assert_eq!(Counted(2, name).to_string(), many);
        }
    }

    #[test]
    fn errors_that_count_one_thing() {
        let (of, instead) = ("in a filter", "take another");
        let messages = vec![
            SizingError::RateTooLow { asked: 1e-30, lowest: 1e-19, keys: 1 }.to_string(),
            SizingError::RateOutOfReach { asked: 1e-30, lowest: 1e-9, keys: 1, of, instead }.to_string(),
            SizingError::RateOutOfReach { asked: 1e-30, lowest: 1.0, keys: 1, of, instead }.to_string(),
            SizingError::TooLarge { bytes: 1, limit: 0 }.to_string(),
            SizingError::TooSmall { bytes: 0, needed: 1 }.to_string(),
            SizingError::TooSmall { bytes: 1, needed: 64 }.to_string(),
            SizingError::BlocksOutOfRange { got: 1, multiple_of: 2 }.to_string(),
            SizingError::CounterBitsOutOfRange { got: 1, most: 0 }.to_string(),
            SizingError::GenerationsOutOfRange { got: 1, most: 0 }.to_string(),
            SizingError::ForeignPlan { bits: 1, hashes: 1, takes: "more" }.to_string(),
            FormatError::Truncated { needed: 64, got: 1 }.to_string(),
            FormatError::TooLarge { bytes: 1, limit: 0 }.to_string(),
            FormatError::WrongBody { section: 0, expected: 1, got: 2 }.to_string(),
            InsertError::TooManyCopies { limit: 1 }.to_string(),
            InsertError::TooManyLayers { limit: 1 }.to_string(),
        ];
        for message in messages {
            let mut words = message.split([' ', ';', ',', ':']);
            while let Some(word) = words.next() {
                let next =
                    if word == "1" { words.next().map(String::from).unwrap_or_default() } else { continue };
                assert!(!next.ends_with('s'), "{message}");
            }
        }
    }
}
