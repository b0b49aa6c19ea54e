//! What the filter says about itself.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::link::Link;
use super::{RedisBloom, RedisLink, RedisRecipe};
use crate::bits::Words;

/// The five figures of `BF.INFO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedisBloomInfo {
    /// Items that all links together were sized for.
    pub capacity: u64,
    /// Bytes, as RedisBloom counts them: see [`RedisBloom::memory_usage`].
    pub size: u64,
    /// Number of links.
    pub filters: u64,
    /// Items that were new when they were added.
    pub items: u64,
    /// The expansion; nothing if the filter doesn't scale.
    pub expansion: Option<u32>,
}

/// What RedisBloom reckons for a chain and for each of its links, besides their bits.
const CHAIN_BYTES: u64 = 32;
const LINK_BYTES: u64 = 64;

impl<S: Words> RedisBloom<S> {
    /// `BF.CARD`: how many items were new when they were added.
    #[must_use]
    pub fn card(&self) -> u64 {
        self.links().map(|link| link.size).fold(0, u64::saturating_add)
    }

    /// `BF.INFO`.
    #[must_use]
    pub fn info(&self) -> RedisBloomInfo {
        RedisBloomInfo {
            capacity: self.links().map(|link| link.entries).fold(0, u64::saturating_add),
            size: self.memory_usage(),
            filters: self.links.len() as u64,
            items: self.card(),
            expansion: self.is_scaling().then_some(self.growth),
        }
    }

    /// The size that `BF.INFO` tells, and to which `MEMORY USAGE` adds the key: 32 bytes for the chain, 64 and the bits
    /// for each link. [`memory_bytes`](Self::memory_bytes) is what the filter takes here.
    #[must_use]
    pub fn memory_usage(&self) -> u64 {
        CHAIN_BYTES + LINK_BYTES * self.links.len() as u64 + self.data_bytes()
    }

    /// Bytes of the bits of all links, one after the other: what the chunks of a dump add up to.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        self.links().map(|link| link.bytes).sum()
    }

    /// Bytes of memory that the bits take.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.links.iter().map(|link| link.filter.len_bytes()).sum()
    }

    /// Bytes of memory that all of it takes, beside this value itself: bits, and what is known of each link. In a filter of
    /// many small links half of them are not bits.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.len_bytes() + (self.links.capacity() * size_of::<Link<S>>()) as u64
    }

    /// The rate at which the filter, as it is now, answers yes for absent items: no link may err.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        1.0 - self.links.iter().map(|link| 1.0 - link.filter.expected_rate()).product::<f64>()
    }

    /// The lines of `BF.DEBUG`: the number of items, and the figures of each link.
    ///
    /// ```
    /// use mayhap::formats::redisbloom::RedisBloom;
    ///
    /// let filter = RedisBloom::reserve(0.01, 101, 2, true)?;
    /// assert_eq!(
    ///     filter.debug_lines(),
    ///     ["size:0", "bytes:144 bits:1152 hashes:8 hashwidth:64 capacity:101 size:0 ratio:0.005"],
    /// );
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    #[must_use]
    pub fn debug_lines(&self) -> Vec<String> {
        let width = if self.recipe() == RedisRecipe::Murmur64 { 64 } else { 32 };
        let link = |link: &RedisLink| {
            format!(
                "bytes:{} bits:{} hashes:{} hashwidth:{width} capacity:{} size:{} ratio:{}",
                link.bytes,
                link.bits,
                link.hashes,
                link.entries,
                link.size,
                general(link.error)
            )
        };
        core::iter::once(format!("size:{}", self.card())).chain(self.links().map(link)).collect()
    }
}

/// A positive number as C's `%g` writes it: six digits, trailing zeros left out, an exponent where it is far from 1.
fn general(number: f64) -> String {
    let scientific = format!("{number:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or(0);
        return String::from(without_zeros(&format!("{number:.decimals$}")));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_zeros(digits), exponent.unsigned_abs())
}

fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_written_as_c_does() {
        let cases = [
            (0.005, "0.005"),
            (0.00125, "0.00125"),
            (0.000_625, "0.000625"),
            (0.000_312_5, "0.0003125"),
            (0.000_1, "0.0001"),
            (0.000_078_125, "7.8125e-05"),
            (5e-8, "5e-08"),
            (0.123_456_789, "0.123457"),
            (0.999_999_9, "1"),
            (0.000_099_999_99, "0.0001"),
            (1e-300, "1e-300"),
            (0.25, "0.25"),
            (123_456.7, "123457"),
            (1_234_567.0, "1.23457e+06"),
        ];
        for (number, text) in cases {
            assert_eq!(general(number), text);
        }
    }
}
