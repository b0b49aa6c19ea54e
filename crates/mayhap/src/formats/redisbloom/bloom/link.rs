//! One filter of the chain: its figures and its bits.

use super::options::Options;
use super::{RedisRecipe, TIGHTENING};
use crate::bits::{AllocError, BLOCK_BYTES, Owned, Words};
use crate::bloom::ClassicBloom;
use crate::codec::FormatError;
use crate::formats::correctly_rounded::ln;
use crate::formats::words::from_little_endian;

/// What one filter of the chain is made for, and how full it is.
///
/// Every number stands in the header of a dump under the same name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedisLink {
    /// Bytes of its bits.
    pub bytes: u64,
    /// Its bits: eight times `bytes`, except in filters of the very first version.
    pub bits: u64,
    /// Items that were new when they were added to it.
    pub size: u64,
    /// The rate it was sized for.
    pub error: f64,
    /// Bits an item: `|ln error| / ln² 2`.
    pub bits_per_entry: f64,
    /// Bits set for each item.
    pub hashes: u32,
    /// Items it was sized for. With so many it is full.
    pub entries: u64,
    /// In old filters, the logarithm of the number of bits that are in use; otherwise 0, and all are.
    pub log2_bits: u8,
}

/// RedisBloom's digits of ln² 2 and ln 2: fewer than a double holds, and part of the format.
const LN_2_SQUARED: f64 = 0.480_453_013_918_201;
#[allow(clippy::approx_constant, reason = "it isn't the constant")]
const SHORT_LN_2: f64 = 0.693_147_180_559_945;

/// More than the lowest rate that a double can say would need. What asks for more is no filter, but a trap: every
/// question would take that many steps.
const MOST_HASHES: u32 = 1100;

impl RedisLink {
    /// The figures of a new link, as RedisBloom computes them; nothing if it would refuse them.
    #[allow(clippy::cast_possible_truncation, reason = "the original cuts off the fractions, too")]
    #[allow(clippy::cast_sign_loss, reason = "all numbers are positive")]
    pub(super) fn plan(entries: u64, error: f64, options: Options) -> Option<Self> {
        if entries == 0 || !(error > 0.0 && error < 1.0) {
            return None;
        }
        let bits_per_entry = libm::fabs(ln(error) / LN_2_SQUARED);
        let wanted = entries as f64 * bits_per_entry;
        let (bits, entries, log2_bits) = if options.entries_are_bits() {
            let bits = 1u64.checked_shl(u32::try_from(entries).ok()?)?;
            (bits, (bits as f64 / bits_per_entry) as u64, entries as u8)
        } else if options.rounds() {
            // The next power of two above; what it has to spare is room for more items.
            let log2_bits = libm::frexp(wanted).1;
            let log2_bits = u8::try_from(log2_bits).ok().filter(|log2_bits| *log2_bits < 64)?;
            let bits = 1u64 << log2_bits;
            let spare = (bits as f64 - wanted) as u64;
            (bits, entries + (spare as f64 / bits_per_entry) as u64, log2_bits)
        } else {
            if wanted >= (u64::MAX - 63) as f64 {
                return None;
            }
            ((wanted as u64).max(1), entries, 0)
        };
        let bytes = bits.div_ceil(64) * 8;
        let hashes = hashes_for(bits_per_entry)?;
        Some(Self { bytes, bits: bytes * 8, size: 0, error, bits_per_entry, hashes, entries, log2_bits })
    }

    /// The figures of the link that follows this one in a chain; nothing if RedisBloom would refuse them.
    pub(super) fn next(&self, expansion: u32, options: Options) -> Option<Self> {
        Self::plan(self.entries.checked_mul(u64::from(expansion))?, self.error * TIGHTENING, options)
    }

    /// Refuses figures that RedisBloom refuses in the header of a dump.
    pub(super) fn check(&self) -> Result<(), FormatError> {
        if self.bytes.checked_mul(8) != Some(self.bits) {
            let must_be = "eight times the bytes, and not 0";
            return Err(FormatError::BadField { field: "bits", value: self.bits, must_be });
        }
        self.check_figures()
    }

    /// The same for a value of an RDB file, where the very first version did not round the bits up.
    pub(super) fn check_loosely(&self) -> Result<(), FormatError> {
        let room = self.bytes.checked_mul(8).and_then(|room| room.checked_sub(self.bits));
        if room.is_none_or(|room| room >= 64) {
            let must_be = "the bits of the string, less than 64 left out";
            return Err(FormatError::BadField { field: "bits", value: self.bits, must_be });
        }
        self.check_figures()
    }

    fn check_figures(&self) -> Result<(), FormatError> {
        let bad = |field, value, must_be| Err(FormatError::BadField { field, value, must_be });
        if self.bits == 0 {
            return bad("bits", self.bits, "at least 1");
        }
        if !(self.error > 0.0 && self.error < 1.0) {
            return bad("error", self.error.to_bits(), "a rate between 0 and 1");
        }
        if self.log2_bits > 63 || (self.log2_bits > 0 && self.bits >> self.log2_bits == 0) {
            return bad("n2", u64::from(self.log2_bits), "a logarithm that the bits have room for");
        }
        if hashes_for(self.bits_per_entry) != Some(self.hashes) {
            return bad("hashes", u64::from(self.hashes), "the bits per entry times ln 2, rounded up");
        }
        Ok(())
    }

    /// The bits that positions lie in.
    fn range(&self) -> u64 {
        if self.log2_bits == 0 { self.bits } else { 1 << self.log2_bits }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared with the most before")]
fn hashes_for(bits_per_entry: f64) -> Option<u32> {
    let hashes = libm::ceil(SHORT_LN_2 * bits_per_entry);
    (hashes >= 1.0 && hashes <= f64::from(MOST_HASHES)).then_some(hashes as u32)
}

/// One filter of the chain.
pub(super) struct Link<S> {
    pub(super) figures: RedisLink,
    pub(super) filter: ClassicBloom<RedisRecipe, S>,
}

impl Link<Owned> {
    /// An empty one.
    pub(super) fn empty(figures: RedisLink, recipe: RedisRecipe) -> Result<Self, AllocError> {
        let words = Owned::zeroed(figures.bytes.div_ceil(BLOCK_BYTES as u64))?;
        Self::over(words, figures, recipe).ok_or(AllocError { bytes: figures.bytes })
    }

    /// One with these bits.
    pub(super) fn with_bytes(
        figures: RedisLink,
        recipe: RedisRecipe,
        bytes: &[u8],
    ) -> Result<Self, AllocError> {
        Self::over(from_little_endian(bytes)?, figures, recipe).ok_or(AllocError { bytes: figures.bytes })
    }

    pub(super) fn clear(&mut self) {
        self.filter.clear();
        self.figures.size = 0;
    }
}

impl<S: Words> Link<S> {
    /// Nothing if the figures were not checked: then the words may not hold the bits.
    pub(super) fn over(words: S, figures: RedisLink, recipe: RedisRecipe) -> Option<Self> {
        let filter = ClassicBloom::foreign(words, recipe, figures.range(), figures.hashes).ok()?;
        Some(Self { figures, filter })
    }

    /// New items that it takes before it is full.
    pub(super) fn room(&self) -> u64 {
        self.figures.entries.saturating_sub(self.figures.size)
    }
}

impl Clone for Link<Owned> {
    /// # Panics
    /// When the memory can't be had, as `Vec` does.
    fn clone(&self) -> Self {
        Self { figures: self.figures, filter: self.filter.clone() }
    }
}

impl<S: Words, T: Words> PartialEq<Link<T>> for Link<S> {
    fn eq(&self, other: &Link<T>) -> bool {
        self.figures == other.figures && self.filter == other.filter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_that_were_recorded() {
        let scaling = Options::new(true);
        let link = RedisLink::plan(101, 0.005, scaling).unwrap();
        assert_eq!((link.bytes, link.bits, link.hashes, link.entries), (144, 1152, 8, 101));
        assert_eq!(link.bits_per_entry.to_bits(), 0x4026_0e35_b22f_86e9);
        let link = RedisLink::plan(1, 0.2, scaling).unwrap();
        assert_eq!((link.bits, link.hashes), (64, 3));
        for refused in [(0, 0.1), (5, 0.0), (5, 1.0), (5, f64::NAN), (5, -0.1), (u64::MAX, 1e-9)] {
            assert_eq!(RedisLink::plan(refused.0, refused.1, scaling), None);
        }
    }

    #[test]
    fn old_sizes_are_powers_of_two_with_room_for_more() {
        let rounded = Options::from_bits(4).unwrap();
        let link = RedisLink::plan(100, 0.01, rounded).unwrap();
        // 958.5 bits are wanted, and 1024 are there: (1024 − 958.5) / 9.585 = 6.8 more items.
        assert_eq!((link.bits, link.log2_bits, link.entries, link.hashes), (1024, 10, 106, 7));
        // A power of two that was wanted exactly is doubled all the same.
        let exact = RedisLink::plan(64, 0.5, rounded).unwrap();
        assert!(exact.bits as f64 > 64.0 * exact.bits_per_entry);
        let given = Options::from_bits(6).unwrap();
        let link = RedisLink::plan(20, 0.01, given).unwrap();
        assert_eq!((link.bits, link.log2_bits, link.entries), (1 << 20, 20, 109_396));
        assert_eq!(RedisLink::plan(64, 0.01, given), None);
        assert_eq!(RedisLink::plan(1 << 62, 0.01, rounded), None);
    }

    /// The figure that other programs store is their `log`'s, so ours must be that.
    #[test]
    fn logarithms_agree_with_the_c_library() {
        let mut state = 7u64;
        let mut differ = 0;
        for _ in 0..100_000 {
            state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            let rate = libm::exp2(-((state >> 40) as f64) / f64::from(1 << 19)) * 0.25;
            differ += u32::from(ln(rate) != rate.ln());
        }
        assert!(differ < 100, "{differ} of 100000");
    }

    #[test]
    fn figures_that_can_not_be_are_refused() {
        let good = RedisLink::plan(100, 0.01, Options::new(true)).unwrap();
        good.check().unwrap();
        let cases: [fn(&mut RedisLink); 10] = [
            |link| link.bits += 1,
            |link| link.bytes = 1 << 62,
            |link| (link.bits, link.bytes) = (0, 0),
            |link| link.error = 0.0,
            |link| link.error = f64::NAN,
            |link| link.log2_bits = 64,
            |link| link.log2_bits = 10,
            |link| link.hashes += 1,
            |link| link.bits_per_entry = f64::INFINITY,
            |link| (link.bits_per_entry, link.hashes) = (3e9, 2_079_441_542),
        ];
        for (i, change) in cases.iter().enumerate() {
            let mut link = good;
            change(&mut link);
            assert!(link.check().is_err(), "case {i}: {link:?}");
        }
    }
}
