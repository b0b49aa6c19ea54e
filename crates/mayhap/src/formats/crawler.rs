//! A crawler's filter: FNV-1, as many copies of one Go program have it.
//!
//! A web crawler asks whether it has seen a URL. The filter that tutorials give it is an array of booleans and two
//! halves of one hash:
//!
//! ```text
//! H  = FNV-1 of the key, 64 bits (Go: fnv.New64)            h1 = its low 32 bits, h2 = its high 32 bits
//! for i = 0 … k − 1:   position = (h1 + i · h2, modulo 2³²) mod m
//! ```
//!
//! Here m and k are the caller's; nothing is planned. The positions were checked against a Go 1.19.8 program over the
//! standard library's `hash/fnv`. The original's methods are `Add`, `Check` and `FalsePositiveRate`; here they are
//! [`insert`](CrawlerBloom::insert), [`contains`](CrawlerBloom::contains) and
//! [`false_positive_rate`](CrawlerBloom::false_positive_rate).
//!
//! # Bytes
//!
//! The original has none: its filter dies with the process. What [`to_bitmap`](CrawlerBloom::to_bitmap) writes and
//! [`from_bitmap`](CrawlerBloom::from_bitmap) reads is **ours**, the plainest there is, for moving such a filter in and
//! out of the Go program in five lines:
//!
//! ```text
//! byte:      0         1                    ⌈m/8⌉ − 1
//! bit:    7 … 0    15 … 8         …       … m − 1 …        bit p is bit p mod 8 of byte p div 8; the bits from m on are 0
//! ```
//!
//! There is no header. k, m and the number of insertions must be kept beside the bytes.
//!
//! # Traps
//!
//! - FNV-1 mixes poorly: keys that differ in their last letter have hashes that differ in few bits, so that neighbours
//!   in a numbered list land beside each other. With numbered URLs, between 0.89 % and 1.12 % were measured where the formula
//!   says 1.00 % (k = 7, 9.6 bits for each of 1 000 to 100 000 keys).
//! - Positions come from 32 bits. Above 2³² bits nothing is gained, which is why no more are taken here; from some hundred
//!   million bits on, the remainder favours the low positions.
//! - When h2 is 0, or shares a factor with m, a key has fewer than k positions.
//! - [`false_positive_rate`](CrawlerBloom::false_positive_rate) counts insertions, not distinct keys: a crawler that adds
//!   each URL again when it meets it sees the figure rise while the filter stays as it is.
//! - The hash is public and has no seed: **whoever chooses keys can make them collide**, with a pencil. A page may so
//!   name links that a crawler takes for seen. Where strangers choose keys, use a native filter with a secret key.
//!
//! Overfilled, it answers yes ever more often, by the formula of `false_positive_rate`; nothing stops it.

use alloc::vec::Vec;
use core::fmt;

use super::LittleEndian;
use super::correctly_rounded::{exp, power};
use super::words::{from_little_endian, write_little_endian};
use crate::bits::{BLOCK_BITS, Owned, Words, WordsMut};
use crate::bloom::{ClassicBloom, Modulus, Scheme, Strides};
use crate::codec::FormatError;
use crate::error::Error;
use crate::hash::Key;
use crate::hash::functions::fnv::fnv1_64;
use crate::sizing::SizingError;

/// The crawler's recipe: steps of h2 from h1, in 32 bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fnv1Steps;

impl Scheme for Fnv1Steps {
    type Hash = u64;
    type Range = Modulus;

    #[inline]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> u64 {
        fnv1_64(key.key_bytes().as_ref())
    }

    fn range(bits: u64) -> Modulus {
        Modulus::new(bits)
    }

    #[inline(always)]
    fn strides(modulus: Modulus) -> Option<Strides> {
        Some(Strides { modulus, width: 32 })
    }

    #[inline(always)]
    fn stride(hash: u64) -> (u64, u64) {
        (hash, hash >> 32)
    }

    #[inline(always)]
    fn positions(&self, hash: u64, range: Modulus) -> impl Iterator<Item = u64> + Clone {
        #[allow(clippy::cast_possible_truncation, reason = "the two halves are what is wanted")]
        let (mut at, step) = (hash as u32, (hash >> 32) as u32);
        core::iter::from_fn(move || {
            let position = range.remainder(u64::from(at));
            at = at.wrapping_add(step);
            Some(position)
        })
    }
}

/// The most bits: positions are remainders of 32-bit numbers.
const MOST_BITS: u64 = 1 << 32;

/// The most hashes. Beyond any use, and below what could make one question slow.
const MOST_HASHES: u32 = 1024;

/// A crawler's filter.
///
/// `S` is where the bits live: in memory of its own, or in the bytes of a bitmap ([`view_bitmap`](CrawlerBloom::view_bitmap)).
///
/// ```
/// use mayhap::formats::crawler::CrawlerBloom;
///
/// let mut seen = CrawlerBloom::new(3, 1_000)?;
/// assert!(seen.insert("https://example.com/page/0"));
/// assert!(seen.contains("https://example.com/page/0"));
/// let positions: Vec<u64> = seen.positions("https://example.com/page/0").collect();
/// assert_eq!(positions, [438, 51, 960]);
/// # Ok::<(), mayhap::Error>(())
/// ```
pub struct CrawlerBloom<S = Owned> {
    filter: ClassicBloom<Fnv1Steps, S>,
    insertions: u64,
}

impl CrawlerBloom {
    /// An empty filter of `bits` bits (m), of which each key sets `hashes` (k).
    ///
    /// # Errors
    /// When there aren't 1 to 1024 hashes and 1 to 2³² bits, or the memory can't be had.
    pub fn new(hashes: u32, bits: u64) -> Result<Self, Error> {
        check(hashes, bits)?;
        let words = Owned::zeroed(bits.div_ceil(BLOCK_BITS))?;
        Ok(Self::from_words(words, hashes, bits, 0)?)
    }

    /// A filter from the bytes of its bitmap, which are [this crate's own](self#bytes), and what must be known beside them.
    ///
    /// ```
    /// use mayhap::formats::crawler::CrawlerBloom;
    ///
    /// let mut seen = CrawlerBloom::new(3, 1_000)?;
    /// seen.insert("https://example.com/");
    /// let bytes = seen.to_bitmap()?;
    /// assert_eq!(bytes.len(), 125);
    /// assert!(CrawlerBloom::from_bitmap(&bytes, 3, 1_000, 1)? == seen);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new), and when the bytes are too few or too many, or one of the bits after the last is set.
    pub fn from_bitmap(bytes: &[u8], hashes: u32, bits: u64, insertions: u64) -> Result<Self, Error> {
        check_bitmap(bytes, hashes, bits)?;
        Ok(Self::from_words(from_little_endian(bytes)?, hashes, bits, insertions)?)
    }

    /// Empties the filter, and counts from 0 again.
    pub fn clear(&mut self) {
        self.filter.clear();
        self.insertions = 0;
    }
}

impl<'a> CrawlerBloom<LittleEndian<'a>> {
    /// Asks the bytes of a bitmap in place, without copying them.
    ///
    /// # Errors
    /// As [`from_bitmap`](CrawlerBloom::from_bitmap). No memory is needed.
    pub fn view_bitmap(bytes: &'a [u8], hashes: u32, bits: u64, insertions: u64) -> Result<Self, Error> {
        check_bitmap(bytes, hashes, bits)?;
        Ok(Self::from_words(LittleEndian::new(bytes), hashes, bits, insertions)?)
    }
}

impl<S: Words> CrawlerBloom<S> {
    fn from_words(words: S, hashes: u32, bits: u64, insertions: u64) -> Result<Self, SizingError> {
        Ok(Self { filter: ClassicBloom::foreign(words, Fnv1Steps, bits, hashes)?, insertions })
    }

    /// The bytes of the bitmap, which are [this crate's own](self#bytes).
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn to_bitmap(&self) -> Result<Vec<u8>, FormatError> {
        let mut bytes = Vec::new();
        write_little_endian(self.filter.words(), self.bits().div_ceil(8), &mut bytes)?;
        Ok(bytes)
    }

    /// The original's `Check`: whether the key may be in the set. `false` is certain.
    #[doc(alias = "check")]
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    /// Asks for many keys at once: `found[i]` tells whether `keys[i]` may be in the set.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_each<K: Key>(&self, keys: &[K], found: &mut [bool]) {
        self.filter.contains_each(keys, found);
    }

    /// The original's `FalsePositiveRate`: (1 − e^(−k·n/m))^k for n [insertions](Self::insertions).
    ///
    /// The difference is taken as the original takes it, so that of the figure for a nearly empty filter only the first
    /// digits mean anything.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        let hashes = self.hashes();
        let fill = exp(-(f64::from(hashes) * self.insertions as f64) / self.bits() as f64);
        power(1.0 - fill, hashes.cast_signed())
    }

    /// How often a key was added, duplicates included.
    #[must_use]
    pub const fn insertions(&self) -> u64 {
        self.insertions
    }

    /// The positions of a key's bits, in order; some may be equal.
    pub fn positions<K: Key + ?Sized>(&self, key: &K) -> impl Iterator<Item = u64> {
        let hash = self.filter.hash(key);
        Fnv1Steps.positions(hash, Fnv1Steps::range(self.bits())).take(self.hashes() as usize)
    }

    /// How many bits are set.
    #[must_use]
    pub fn bits_set(&self) -> u64 {
        self.filter.bits_set()
    }

    /// Number of bits (m).
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.filter.bits()
    }

    /// Bits set for each key (k).
    #[must_use]
    pub fn hashes(&self) -> u32 {
        self.filter.hashes()
    }
}

impl<S: WordsMut> CrawlerBloom<S> {
    /// The original's `Add`: adds a key. True if some bit was new, so that the key was certainly not in the set before.
    #[doc(alias = "add")]
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insertions = self.insertions.saturating_add(1);
        self.filter.insert(key)
    }

    /// Adds many keys at once: `new[i]` tells what [`insert`](Self::insert) would have for `keys[i]`.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn insert_each<K: Key>(&mut self, keys: &[K], new: &mut [bool]) {
        self.filter.insert_each(keys, new);
        self.insertions = self.insertions.saturating_add(keys.len() as u64);
    }
}

fn check(hashes: u32, bits: u64) -> Result<(), SizingError> {
    for (what, got, most) in [
        ("the number of hashes", u64::from(hashes), u64::from(MOST_HASHES)),
        ("the number of bits", bits, MOST_BITS),
    ] {
        if got == 0 || got > most {
            return Err(SizingError::OutOfRange { what, got, least: 1, most });
        }
    }
    Ok(())
}

fn check_bitmap(bytes: &[u8], hashes: u32, bits: u64) -> Result<(), Error> {
    check(hashes, bits)?;
    let (needed, got) = (bits.div_ceil(8), bytes.len() as u64);
    if got < needed {
        return Err(FormatError::Truncated { needed, got }.into());
    }
    if got > needed {
        return Err(FormatError::TrailingBytes { file_length: needed }.into());
    }
    let tail = bytes.last().map_or(0, |last| u32::from(*last) >> ((bits - 1) % 8 + 1));
    if tail != 0 {
        let (field, must_be) = ("bits after the last", "0");
        return Err(FormatError::BadField { field, value: u64::from(tail), must_be }.into());
    }
    Ok(())
}

impl Clone for CrawlerBloom {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        Self { filter: self.filter.clone(), insertions: self.insertions }
    }
}

/// Equal when they give the same answers: same size and bits. How often keys were added may differ.
impl<S: Words, T: Words> PartialEq<CrawlerBloom<T>> for CrawlerBloom<S> {
    fn eq(&self, other: &CrawlerBloom<T>) -> bool {
        self.filter == other.filter
    }
}

impl<S: Words> fmt::Debug for CrawlerBloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CrawlerBloom")
            .field("bits", &self.bits())
            .field("hashes", &self.hashes())
            .field("insertions", &self.insertions)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_out_of_range_are_refused() {
        for (hashes, bits) in
            [(0, 1_000), (1_025, 1_000), (u32::MAX, 1_000), (3, 0), (3, (1 << 32) + 1), (3, u64::MAX)]
        {
            let refused = CrawlerBloom::new(hashes, bits).unwrap_err();
            assert!(
                matches!(refused, Error::Sizing(SizingError::OutOfRange { .. })),
                "{hashes}, {bits}: {refused}"
            );
            assert!(CrawlerBloom::from_bitmap(&[], hashes, bits, 0).is_err());
        }
        assert_eq!(CrawlerBloom::new(1_024, 1).unwrap().bits(), 1);
    }

    #[test]
    fn a_bitmap_of_another_length_or_with_bits_beyond_the_end_is_refused() {
        for bits in 1..=130u64 {
            let mut bytes = std::vec![0u8; bits.div_ceil(8) as usize];
            assert!(CrawlerBloom::from_bitmap(&bytes, 3, bits, 0).is_ok());
            for beyond in bits..bytes.len() as u64 * 8 {
                bytes[(beyond / 8) as usize] = 1 << (beyond % 8);
                assert!(CrawlerBloom::from_bitmap(&bytes, 3, bits, 0).is_err(), "bit {beyond} of {bits}");
                assert!(CrawlerBloom::view_bitmap(&bytes, 3, bits, 0).is_err());
                bytes[(beyond / 8) as usize] = 0;
            }
            bytes.push(0);
            assert!(CrawlerBloom::from_bitmap(&bytes, 3, bits, 0).is_err(), "a byte too many");
            bytes.truncate(bytes.len() - 2);
            assert!(CrawlerBloom::from_bitmap(&bytes, 3, bits, 0).is_err(), "a byte too few");
        }
    }

    #[test]
    fn positions_wrap_at_32_bits() {
        let hash = 0xffff_ffff_0000_0005;
        let positions: Vec<u64> = Fnv1Steps.positions(hash, Fnv1Steps::range(1 << 32)).take(8).collect();
        assert_eq!(positions, [5, 4, 3, 2, 1, 0, 0xffff_ffff, 0xffff_fffe]);
    }

    #[test]
    fn insertions_count_duplicates_and_the_rate_follows_them() {
        let mut seen = CrawlerBloom::new(3, 1_000).unwrap();
        assert_eq!(seen.false_positive_rate(), 0.0);
        assert!(seen.insert("a") && !seen.insert("a"));
        let mut new = [false; 2];
        seen.insert_each(&["a", "b"], &mut new);
        assert_eq!((new, seen.insertions()), ([false, true], 4));
        let rate = seen.false_positive_rate();
        assert!((rate - 1.697_204_813_290_187_8e-6).abs() < 1e-18, "{rate}");
        let mut found = [false; 3];
        seen.contains_each(&["a", "b", "absent"], &mut found);
        assert_eq!(found, [true, true, false]);
        seen.clear();
        assert_eq!((seen.insertions(), seen.bits_set()), (0, 0));
    }
}
