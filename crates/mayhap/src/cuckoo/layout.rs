//! How the fingerprints of a table lie in its buckets, and the buckets in cache lines.

use crate::bits::BLOCK_BITS;

/// How many fingerprints a bucket has, how wide they are, and how they are packed.
///
/// ```text
/// a cache line, 512 bits, of a table with 4 fingerprints of 12 bits in a bucket
/// ┌────────────────────────────────┬──────────┬── … ──┬──────────┬────────┐
/// │ bucket 0                       │ bucket 1 │       │ bucket 9 │ unused │
/// │ f₀ 12 │ f₁ 12 │ f₂ 12 │ f₃ 12  │ 48 bits  │       │ 48 bits  │ 32     │
/// └────────────────────────────────┴──────────┴── … ──┴──────────┴────────┘
///
/// a semi-sorted bucket of 4 fingerprints of 13 bits, also 48 bits
/// ┌─────────────────────────────┬──────────┬──────────┬──────────┬──────────┐
/// │ code of the four lowest     │ f₀ >> 4  │ f₁ >> 4  │ f₂ >> 4  │ f₃ >> 4  │
/// │ nibbles, in order: 12 bits  │ 9 bits   │ 9 bits   │ 9 bits   │ 9 bits   │
/// └─────────────────────────────┴──────────┴──────────┴──────────┴──────────┘
/// ```
///
/// A bucket never lies in two lines, so that a question touches two lines at most. The price is the unused end of each
/// line, which [`bits_per_slot`](Self::bits_per_slot) counts.
///
/// ```
/// use mayhap::cuckoo::CuckooLayout;
///
/// let layout = CuckooLayout::new(4, 12).unwrap();
/// assert_eq!((layout.bucket_bits(), layout.buckets_per_line()), (48, 10));
/// let sorted = CuckooLayout::semi_sorted(13).unwrap();
/// assert_eq!((sorted.bucket_bits(), sorted.fingerprint_bits()), (48, 13));
/// assert!(CuckooLayout::new(3, 12).is_none() && CuckooLayout::new(4, 33).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CuckooLayout {
    entries: u8,
    bits: u8,
    semi_sorted: bool,
}

impl CuckooLayout {
    /// The narrowest fingerprint.
    pub const MIN_BITS: u32 = 4;
    /// The widest fingerprint.
    pub const MAX_BITS: u32 = 32;

    /// Buckets of `entries` fingerprints (1, 2, 4 or 8) of `fingerprint_bits` bits (4 to 32); nothing for other numbers.
    #[must_use]
    pub const fn new(entries: u32, fingerprint_bits: u32) -> Option<Self> {
        let entries_fit = matches!(entries, 1 | 2 | 4 | 8);
        if !entries_fit || fingerprint_bits < Self::MIN_BITS || fingerprint_bits > Self::MAX_BITS {
            return None;
        }
        #[allow(clippy::cast_possible_truncation, reason = "both are at most 32")]
        Some(Self { entries: entries as u8, bits: fingerprint_bits as u8, semi_sorted: false })
    }

    /// Semi-sorted buckets of four fingerprints of `fingerprint_bits` bits (5 to 32), each stored in one bit less.
    #[must_use]
    pub const fn semi_sorted(fingerprint_bits: u32) -> Option<Self> {
        if fingerprint_bits <= Self::MIN_BITS || fingerprint_bits > Self::MAX_BITS {
            return None;
        }
        #[allow(clippy::cast_possible_truncation, reason = "it is at most 32")]
        Some(Self { entries: 4, bits: fingerprint_bits as u8, semi_sorted: true })
    }

    /// Fingerprints in a bucket (b): 1, 2, 4 or 8.
    #[must_use]
    pub const fn entries_per_bucket(self) -> u32 {
        self.entries as u32
    }

    /// Bits of a fingerprint (f): 4 to 32. A semi-sorted bucket stores each in one bit less.
    #[must_use]
    pub const fn fingerprint_bits(self) -> u32 {
        self.bits as u32
    }

    /// Whether the order of the fingerprints in a bucket is used to store each in one bit less.
    #[must_use]
    pub const fn is_semi_sorted(self) -> bool {
        self.semi_sorted
    }

    /// Bits of a bucket: 4 to 256.
    #[must_use]
    pub const fn bucket_bits(self) -> u32 {
        self.entries as u32 * (self.bits as u32 - self.semi_sorted as u32)
    }

    /// Buckets in a cache line: 2 to 128.
    #[must_use]
    pub const fn buckets_per_line(self) -> u32 {
        #[allow(clippy::cast_possible_truncation, reason = "512")]
        let line_bits = BLOCK_BITS as u32;
        line_bits / self.bucket_bits()
    }

    /// The memory of one place for a fingerprint, its part of the unused end of the line included.
    #[must_use]
    pub fn bits_per_slot(self) -> f64 {
        BLOCK_BITS as f64 / f64::from(self.buckets_per_line() * self.entries_per_bucket())
    }

    /// The number of the layout in files: places in a bucket, 256 · fingerprint bits, and 65536 if semi-sorted.
    pub(crate) const fn id(self) -> u64 {
        self.entries as u64 | (self.bits as u64) << 8 | (self.semi_sorted as u64) << 16
    }

    /// The layout with this number.
    pub(crate) fn from_id(id: u64) -> Option<Self> {
        let (entries, bits) = (u32::try_from(id & 0xff).ok()?, u32::try_from(id >> 8 & 0xff).ok()?);
        let layout = if id >> 16 == 0 { Self::new(entries, bits) } else { Self::semi_sorted(bits) };
        layout.filter(|layout| layout.id() == id)
    }

    /// The same buckets with fingerprints of another width; nothing for a width they can't have.
    #[must_use]
    pub(crate) const fn with_bits(self, bits: u32) -> Option<Self> {
        if self.semi_sorted { Self::semi_sorted(bits) } else { Self::new(self.entries as u32, bits) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_fits_its_line() {
        for bits in 0..40 {
            for entries in 0..10 {
                let layout = CuckooLayout::new(entries, bits);
                assert_eq!(layout.is_some(), [1, 2, 4, 8].contains(&entries) && (4..=32).contains(&bits));
                if let Some(layout) = layout {
                    assert!(layout.buckets_per_line() * layout.bucket_bits() <= 512);
                    assert!((layout.buckets_per_line() + 1) * layout.bucket_bits() > 512);
                    assert_eq!(layout.with_bits(bits), Some(layout));
                    assert_eq!(CuckooLayout::from_id(layout.id()), Some(layout));
                }
            }
            let sorted = CuckooLayout::semi_sorted(bits);
            assert_eq!(sorted.is_some(), (5..=32).contains(&bits));
            assert!(sorted.is_none_or(|sorted| CuckooLayout::from_id(sorted.id()) == Some(sorted)));
        }
        for id in
            [0, 4, 3 | 8 << 8, 2 | 8 << 8 | 1 << 16, 4 | 4 << 8 | 1 << 16, 4 | 8 << 8 | 1 << 17, u64::MAX]
        {
            assert_eq!(CuckooLayout::from_id(id), None, "{id:#x}");
        }
    }
}
