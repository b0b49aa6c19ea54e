//! How a bucket is cut into cells.

use core::slice;

use crate::bits::{
    BLOCK_BITS, BLOCK_BYTES, BLOCK_WORDS, Block, Line, flip_eight_bytes, set_byte, set_eight_bytes,
};

/// The shape of a cell: so many bits of fingerprint, so many of counter.
///
/// A bucket is one cache line and holds as many cells as fit. The first byte of every fingerprint, its *tag*, is never
/// zero, so that a tag of zero marks a free cell, and a counter need not be able to say "none": c bits count from 1 to
/// 2ᶜ.
///
/// ```
/// use mayhap::d_left::Cell;
///
/// let cell = Cell::new(13, 2).unwrap();
/// assert_eq!((cell.per_bucket(), cell.most()), (34, 4));
/// assert!(Cell::new(7, 2).is_none(), "the tag alone has eight bits");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    fingerprint_bits: u32,
    counter_bits: u32,
    /// Follows from the other two; kept because it is asked for with every key.
    per_bucket: u32,
}

/// Bits of a tag: a whole byte, so that a register compares sixteen of them at once.
const TAG_BITS: u32 = 8;

impl Cell {
    /// The fewest bits of a fingerprint: the tag alone.
    pub const LEAST_FINGERPRINT_BITS: u32 = TAG_BITS;
    /// The most bits of a fingerprint. More would be of use below a rate of 10⁻¹³ only.
    pub const MOST_FINGERPRINT_BITS: u32 = 48;
    /// The most bits of a counter.
    pub const MOST_COUNTER_BITS: u32 = 16;

    /// A cell with a fingerprint of 8 to 48 bits and a counter of 1 to 16; nothing outside of that.
    #[must_use]
    pub const fn new(fingerprint_bits: u32, counter_bits: u32) -> Option<Self> {
        if fingerprint_bits < Self::LEAST_FINGERPRINT_BITS
            || fingerprint_bits > Self::MOST_FINGERPRINT_BITS
            || counter_bits < 1
            || counter_bits > Self::MOST_COUNTER_BITS
        {
            return None;
        }
        let per_bucket = LINE_BITS / (fingerprint_bits + counter_bits);
        Some(Self { fingerprint_bits, counter_bits, per_bucket })
    }

    /// Bits of fingerprint.
    #[must_use]
    pub const fn fingerprint_bits(self) -> u32 {
        self.fingerprint_bits
    }

    /// Bits of counter.
    #[must_use]
    pub const fn counter_bits(self) -> u32 {
        self.counter_bits
    }

    /// Cells in a bucket.
    #[must_use]
    pub const fn per_bucket(self) -> u64 {
        self.per_bucket as u64
    }

    /// The most copies one cell counts. The next copy takes another cell.
    #[must_use]
    pub const fn most(self) -> u64 {
        1 << self.counter_bits
    }

    /// The number of different fingerprints: 255 tags, and any bits after the tag.
    #[must_use]
    pub const fn fingerprints(self) -> u64 {
        255 << self.tail_bits()
    }

    /// Bits of the fingerprint after its tag.
    #[inline(always)]
    const fn tail_bits(self) -> u32 {
        self.fingerprint_bits - TAG_BITS
    }

    /// The fingerprint with this number, below [`fingerprints`](Self::fingerprints).
    #[inline(always)]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a number below 255 · 2^tail_bits has a tag below 255"
    )]
    pub(super) fn fingerprint(self, number: u64) -> Fingerprint {
        let tag = (number >> self.tail_bits()) as u8 + 1;
        Fingerprint { tag, tail: number & ones(self.tail_bits()) }
    }

    /// The number of a fingerprint: the inverse of [`fingerprint`](Self::fingerprint).
    #[inline(always)]
    pub(super) fn number(self, fingerprint: Fingerprint) -> u64 {
        (u64::from(fingerprint.tag).wrapping_sub(1) << self.tail_bits()) | fingerprint.tail
    }

    /// One bit for each cell of a bucket.
    #[inline(always)]
    pub(super) fn all(self) -> u64 {
        ones(self.per_bucket)
    }

    /// What cell `index` holds. The cell is not free, or it makes no sense.
    #[inline(always)]
    pub(super) fn read(self, line: &impl Line, index: u32) -> Held {
        let rest = self.rest(line, index);
        Held { tail: rest & ones(self.tail_bits()), count: (rest >> self.tail_bits()) + 1 }
    }

    /// The tag of cell `index`; zero when it is free.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the low byte is meant")]
    pub(super) fn tag(self, line: &impl Line, index: u32) -> u8 {
        (line.word(index as usize / 8 % BLOCK_WORDS) >> (index % 8 * 8)) as u8
    }

    /// Fills cell `index`.
    #[inline(always)]
    pub(super) fn write(self, block: &mut Block, index: u32, fingerprint: Fingerprint, count: u64) {
        self.set_tag(block, index, fingerprint.tag);
        self.set_rest(block, index, fingerprint.tail | ((count - 1) << self.tail_bits()));
    }

    /// Empties cell `index`, which counts one copy of what has this tail: all of its bits become zero.
    #[inline(always)]
    pub(super) fn clear(self, block: &mut Block, index: u32, tail: u64) {
        self.set_tag(block, index, 0);
        let (byte, shift) = self.rest_place(index);
        flip_eight_bytes(slice::from_mut(block), byte, tail << shift);
    }

    /// Whether every bit is zero that no used cell has a use for.
    pub(super) fn is_clean(self, line: &impl Line) -> bool {
        let mut expected = Block::default();
        for index in 0..self.per_bucket {
            let tag = self.tag(line, index);
            if tag != 0 {
                let Held { tail, count } = self.read(line, index);
                self.write(&mut expected, index, Fingerprint { tag, tail }, count);
            }
        }
        line.words() == expected.0
    }

    /// One copy less in cell `index`, which counts more than one.
    #[inline(always)]
    pub(super) fn lower(self, block: &mut Block, index: u32) {
        let (byte, shift) = self.rest_place(index);
        let row = slice::from_mut(block);
        let one = 1 << (self.tail_bits() + shift);
        set_eight_bytes(row, byte, Block::eight_bytes_of(row, byte) - one);
    }

    #[inline(always)]
    fn set_tag(self, block: &mut Block, index: u32, tag: u8) {
        set_byte(slice::from_mut(block), index as usize % BLOCK_BYTES, tag);
    }

    /// Bits of a cell beside its tag.
    #[inline(always)]
    const fn rest_bits(self) -> u32 {
        self.tail_bits() + self.counter_bits
    }

    /// Eight bytes of the line with the rest of cell `index` among them: the first, and how many bits come before it. Up to
    /// seven, so that a rest of 56 bits fits, or more where the line ends.
    #[inline(always)]
    fn rest_place(self, index: u32) -> (usize, u32) {
        let bit = TAG_BITS * self.per_bucket + self.rest_bits() * index;
        let byte = (bit / 8).min(LINE_BITS / 8 - 8);
        (byte as usize, bit - 8 * byte)
    }

    #[inline(always)]
    fn rest<L: Line>(self, line: &L, index: u32) -> u64 {
        let (byte, shift) = self.rest_place(index);
        L::eight_bytes_of(slice::from_ref(line), byte) >> shift & ones(self.rest_bits())
    }

    #[inline(always)]
    fn set_rest(self, block: &mut Block, index: u32, rest: u64) {
        let (byte, shift) = self.rest_place(index);
        let row = slice::from_mut(block);
        let others = Block::eight_bytes_of(row, byte) & !(ones(self.rest_bits()) << shift);
        set_eight_bytes(row, byte, others | rest << shift);
    }
}

/// What a cell is told from others in its bucket by: a tag that isn't zero, and the bits after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) tag: u8,
    pub(super) tail: u64,
}

/// What a cell holds beside its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) tail: u64,
    /// Copies, at least 1.
    pub(super) count: u64,
}

#[allow(clippy::cast_possible_truncation, reason = "512")]
const LINE_BITS: u32 = BLOCK_BITS as u32;

/// The lowest `bits` bits, of at most 63.
#[inline(always)]
const fn ones(bits: u32) -> u64 {
    (1 << bits) - 1
}

// A mask of cells fits a word with a bit to spare, and so does the rest of a cell with seven bits before it.
const _: () = {
    assert!(LINE_BITS / (Cell::LEAST_FINGERPRINT_BITS + 1) < 64);
    assert!(Cell::MOST_FINGERPRINT_BITS - TAG_BITS + Cell::MOST_COUNTER_BITS + 7 < 64);
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cells_fill_the_line() {
        for (fingerprint, counter, per_bucket) in
            [(8, 1, 56), (12, 2, 36), (13, 2, 34), (16, 2, 28), (48, 16, 8)]
        {
            assert_eq!(Cell::new(fingerprint, counter).unwrap().per_bucket(), per_bucket);
        }
        for (fingerprint, counter) in [(7, 1), (49, 1), (8, 0), (8, 17), (u32::MAX, u32::MAX)] {
            assert_eq!(Cell::new(fingerprint, counter), None);
        }
    }

    proptest! {
        /// Cells lie beside each other: each keeps what was written, whatever is written to or cleared in the others.
        #[test]
        fn cells_do_not_touch_each_other(
            bits in (8u32..=48, 1u32..=16),
            writes in prop::collection::vec((any::<u32>(), any::<u64>(), any::<u64>(), any::<bool>()), 1..200),
        ) {
            let cell = Cell::new(bits.0, bits.1).unwrap();
            let mut model = std::vec![None; cell.per_bucket() as usize];
            let mut block = Block::default();
            for (index, number, count, clear) in writes {
                let index = index % cell.per_bucket;
                if clear {
                    if let Some((fingerprint, _)) = model[index as usize].take() {
                        cell.write(&mut block, index, fingerprint, 1);
                        cell.clear(&mut block, index, fingerprint.tail);
                    }
                } else {
                    let fingerprint = cell.fingerprint(number % cell.fingerprints());
                    let count = 1 + count % cell.most();
                    cell.write(&mut block, index, fingerprint, count);
                    model[index as usize] = Some((fingerprint, count));
                }
                for (index, expected) in (0..).zip(&model) {
                    let tag = cell.tag(&block, index);
                    let got = (tag != 0).then(|| {
                        let Held { tail, count } = cell.read(&block, index);
                        (Fingerprint { tag, tail }, count)
                    });
                    prop_assert_eq!(got, *expected);
                }
                prop_assert!(cell.is_clean(&block));
            }
            for (index, held) in (0..).zip(model) {
                if let Some((fingerprint, _)) = held {
                    cell.write(&mut block, index, fingerprint, 1);
                    cell.clear(&mut block, index, fingerprint.tail);
                }
            }
            prop_assert_eq!(block, Block::default());
        }

        #[test]
        fn numbers_and_fingerprints_are_one_to_one(bits in 8u32..=48, number in any::<u64>()) {
            let cell = Cell::new(bits, 2).unwrap();
            let number = number % cell.fingerprints();
            let fingerprint = cell.fingerprint(number);
            prop_assert!(fingerprint.tag != 0);
            prop_assert_eq!(cell.number(fingerprint), number);
        }
    }

    #[test]
    fn bits_without_a_cell_are_noticed() {
        let cell = Cell::new(13, 2).unwrap();
        let mut block = Block::default();
        cell.write(&mut block, 33, cell.fingerprint(5), 4);
        assert!(cell.is_clean(&block));
        let (mut beyond, mut counter_without_key) = (block, block);
        beyond.0[7] |= 1 << 63; // 34 cells of 15 bits leave two bits over.
        assert!(!cell.is_clean(&beyond));
        cell.set_rest(&mut counter_without_key, 2, 1);
        assert!(!cell.is_clean(&counter_without_key));
    }
}
