//! A word as a row of counters: all of them looked at together.

use super::layout::CounterWidth;

/// The counters of a word.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    width: u32,
    max: u64,
    /// The lowest bit of every counter.
    lowest: u64,
    /// Every second counter: the first, the third, and so on.
    even: u64,
}

impl Fields {
    pub(super) const fn new(width: CounterWidth) -> Self {
        let (width, max) = (width.bits(), width.max());
        let lowest = u64::MAX / max;
        // A number of 2w bits that is all ones, divided by one of w bits that is, is 2^w + 1.
        Self { width, max, lowest, even: lowest / (max + 2) * max }
    }

    /// How many counters are above zero.
    #[inline(always)]
    pub(super) fn above_zero(self, word: u64) -> u64 {
        let mut any = word | word >> 1;
        any |= any >> 2;
        if self.width > 4 {
            any |= any >> 4;
        }
        if self.width > 8 {
            any |= any >> 8;
        }
        u64::from((any & self.lowest).count_ones())
    }

    /// How many counters are at their maximum.
    #[inline(always)]
    pub(super) fn stuck(self, word: u64) -> u64 {
        // A counter is at its maximum when its complement is zero.
        u64::from(u64::BITS / self.width) - self.above_zero(!word)
    }

    /// The sum of all counters.
    #[inline(always)]
    pub(super) fn sum(self, word: u64) -> u64 {
        // Neighbours first, for which there is room in twice the width; there is also room for the sum of all of those,
        // at most 240, 2 040 and 262 140, which the multiplication gathers at the top.
        let pairs = (word & self.even) + (word >> self.width & self.even);
        let gather = self.even / self.max;
        pairs.wrapping_mul(gather) >> (u64::BITS - 2 * self.width)
    }

    /// Counter by counter the sum of two words, or the maximum where that is less.
    #[inline(always)]
    pub(super) fn add(self, a: u64, b: u64) -> u64 {
        let even = self.saturated((a & self.even) + (b & self.even));
        let odd = self.saturated((a >> self.width & self.even) + (b >> self.width & self.even));
        even | (odd << self.width)
    }

    /// Sums in fields of twice the width, cut down to the maximum.
    #[inline(always)]
    fn saturated(self, sums: u64) -> u64 {
        let carries = sums >> self.width & (self.even / self.max);
        (sums | (carries * self.max)) & self.even
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words with every mixture of small, middling and full counters.
    fn words(width: CounterWidth) -> std::vec::Vec<u64> {
        let hasher = crate::hash::KeyHasher::xxh3(11);
        let random = |i: u64| hasher.digest(&i).get();
        let mut words = std::vec![0, u64::MAX, 1, 1 << 63, u64::MAX / width.max()];
        for i in 0..3_000 {
            let (a, b, c) = (random(3 * i), random(3 * i + 1), random(3 * i + 2));
            words.extend([a, a & b & c, a | b | c]);
        }
        words
    }

    fn fields(word: u64, width: CounterWidth) -> impl Iterator<Item = u64> {
        (0..64).step_by(width.bits() as usize).map(move |shift| word >> shift & width.max())
    }

    #[test]
    fn whole_words_agree_with_their_counters() {
        for width in CounterWidth::ALL {
            let (all, words) = (Fields::new(width), words(width));
            for (a, b) in words.iter().zip(words.iter().rev()) {
                assert_eq!(all.above_zero(*a), fields(*a, width).filter(|v| *v > 0).count() as u64);
                assert_eq!(all.stuck(*a), fields(*a, width).filter(|v| *v == width.max()).count() as u64);
                assert_eq!(all.sum(*a), fields(*a, width).sum::<u64>());
                let sums = fields(*a, width).zip(fields(*b, width)).map(|(a, b)| (a + b).min(width.max()));
                assert!(fields(all.add(*a, *b), width).eq(sums), "{width:?} {a:#x} {b:#x}");
            }
        }
    }
}
