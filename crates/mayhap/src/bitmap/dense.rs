//! The dense form: number i is bit i mod 64 of word ⌊i / 64⌋.

use crate::bits::{AllocError, BLOCK_BITS, BLOCK_BYTES, BLOCK_WORDS, Blocks, Line, Owned, Words, place};

/// A bit for each number up to the largest. The bits behind it, in the last block, are 0.
pub(super) struct Dense<S = Owned> {
    blocks: S,
    largest: u64,
}

impl Dense {
    /// No numbers yet.
    pub(super) fn zeroed(largest: u64) -> Result<Self, AllocError> {
        Ok(Self { blocks: Owned::zeroed(block_count(largest))?, largest })
    }

    pub(super) fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self { blocks: self.blocks.try_clone()?, largest: self.largest })
    }

    /// Sets a bit that the caller has checked to be inside, and tells whether it was unset.
    #[inline]
    pub(super) fn insert(&mut self, number: u64) -> bool {
        let (word, mask) = (self.word_mut(number / 64), 1 << (number % 64));
        let new = *word & mask == 0;
        *word |= mask;
        new
    }

    /// Clears a bit, and tells whether it was set.
    #[inline]
    pub(super) fn remove(&mut self, number: u64) -> bool {
        if number > self.largest {
            return false;
        }
        let (word, mask) = (self.word_mut(number / 64), 1 << (number % 64));
        let removed = *word & mask != 0;
        *word &= !mask;
        removed
    }

    /// Sets all bits from `first` to `last`, which the caller has checked to be inside; tells how many were unset.
    pub(super) fn insert_range(&mut self, first: u64, last: u64) -> u64 {
        self.change(first, last, |word, mask| *word |= mask)
    }

    /// Clears all bits from `first` to `last`; tells how many were set.
    pub(super) fn remove_range(&mut self, first: u64, last: u64) -> u64 {
        if first > self.largest {
            return 0;
        }
        self.change(first, last.min(self.largest), |word, mask| *word &= !mask)
    }

    /// Changes words, and tells how many bits of them changed.
    fn change(&mut self, first: u64, last: u64, change: impl Fn(&mut u64, u64)) -> u64 {
        let mut changed = 0;
        for (index, mask) in masks(first, last) {
            let word = self.word_mut(index);
            let before = *word;
            change(word, mask);
            changed += u64::from((before ^ *word).count_ones());
        }
        changed
    }

    pub(super) fn clear(&mut self) {
        self.blocks.fill(Default::default());
    }

    /// Replaces each word by what `combine` makes of it and of the other's, which is 0 where the other has none; tells
    /// how many bits are set then.
    pub(super) fn combine<T: Blocks>(&mut self, other: &Dense<T>, combine: impl Fn(u64, u64) -> u64) -> u64 {
        let mut len = 0;
        for (index, block) in self.blocks.iter_mut().enumerate() {
            for (word, theirs) in block.0.iter_mut().zip(other.block(index)) {
                *word = combine(*word, theirs);
                len += u64::from(word.count_ones());
            }
        }
        len
    }

    #[inline]
    fn word_mut(&mut self, index: u64) -> &mut u64 {
        let (block, lane) = place(index);
        &mut self.blocks[block].0[lane]
    }
}

impl<S: Blocks> Dense<S> {
    /// Bits from somewhere else. Nothing, when the number of blocks is another.
    pub(super) fn from_blocks(blocks: S, largest: u64) -> Option<Self> {
        (blocks.block_count() == block_count(largest)).then_some(Self { blocks, largest })
    }

    /// Whether a bit behind the largest is set in the last block. Nothing reads those, but a copy of them would.
    pub(super) fn has_stray_bits(&self) -> bool {
        let last = self.blocks.lines().len() - 1;
        self.blocks.lines()[last].words() != self.block(last)
    }

    #[inline]
    pub(super) fn contains(&self, number: u64) -> bool {
        number <= self.largest && self.blocks.word(number / 64) >> (number % 64) & 1 != 0
    }

    pub(super) fn largest(&self) -> u64 {
        self.largest
    }

    pub(super) fn blocks(&self) -> &S {
        &self.blocks
    }

    pub(super) fn len_bytes(&self) -> u64 {
        self.blocks.block_count() * BLOCK_BYTES as u64
    }

    /// How many bits are set.
    pub(super) fn count(&self) -> u64 {
        let count =
            |words: [u64; BLOCK_WORDS]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        (0..self.blocks.lines().len()).map(|index| count(self.block(index))).sum()
    }

    /// How many bits from `first` to `last` are set.
    pub(super) fn range_len(&self, first: u64, last: u64) -> u64 {
        if first > self.largest {
            return 0;
        }
        masks(first, last.min(self.largest))
            .map(|(index, mask)| u64::from((self.blocks.word(index) & mask).count_ones()))
            .sum()
    }

    /// The words of a block, zeros behind the last one. Bits behind the largest are 0 even if somebody changes a
    /// mapped file.
    pub(super) fn block(&self, index: usize) -> [u64; BLOCK_WORDS] {
        let Some(line) = self.blocks.lines().get(index) else { return [0; BLOCK_WORDS] };
        let mut words = line.words();
        if index + 1 == self.blocks.lines().len() {
            let last = self.largest % BLOCK_BITS;
            for (lane, word) in (0..).zip(&mut words) {
                *word &= match last.checked_sub(64 * lane) {
                    Some(last) if last < 63 => u64::MAX >> (63 - last),
                    Some(_) => u64::MAX,
                    None => 0,
                };
            }
        }
        words
    }

    /// The numbers from `first` to `last` whose bits are set, or (`FLIP`) unset, in order. What is outside is left out.
    pub(super) fn bits<const FLIP: bool>(&self, first: u64, last: u64) -> Bits<'_, S::Line, FLIP> {
        let last = last.min(self.largest);
        let mut bits = Bits { lines: self.blocks.lines(), index: last / 64, word: 0, last };
        if first <= last {
            bits.index = first / 64;
            bits.word = bits.load() & (u64::MAX << (first % 64));
        }
        bits
    }
}

/// Numbers by their bits, in order.
#[derive(Clone)]
pub(super) struct Bits<'a, L, const FLIP: bool> {
    lines: &'a [L],
    /// Of the word being looked at.
    index: u64,
    /// What is left of it.
    word: u64,
    last: u64,
}

impl<L: Line, const FLIP: bool> Bits<'_, L, FLIP> {
    #[inline]
    fn load(&self) -> u64 {
        let (block, lane) = place(self.index);
        let word = self.lines[block].word(lane);
        if FLIP { !word } else { word }
    }
}

impl<L: Line, const FLIP: bool> Iterator for Bits<'_, L, FLIP> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        while self.word == 0 {
            if self.index >= self.last / 64 {
                return None;
            }
            self.index += 1;
            self.word = self.load();
        }
        let number = self.index * 64 + u64::from(self.word.trailing_zeros());
        self.word &= self.word - 1;
        if number > self.last {
            // Only in the last word, so that nothing follows.
            self.word = 0;
            return None;
        }
        Some(number)
    }
}

fn block_count(largest: u64) -> u64 {
    largest / BLOCK_BITS + 1
}

/// The words that hold the numbers from `first` to `last`, each with the mask of those.
fn masks(first: u64, last: u64) -> impl Iterator<Item = (u64, u64)> {
    (first / 64..last / 64 + 1).map(move |index| {
        let from = if index == first / 64 { first % 64 } else { 0 };
        let to = if index == last / 64 { last % 64 } else { 63 };
        (index, (u64::MAX << from) & (u64::MAX >> (63 - to)))
    })
}
