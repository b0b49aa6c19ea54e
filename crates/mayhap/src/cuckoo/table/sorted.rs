//! Semi-sorted buckets: one bit less for each of four fingerprints.
//!
//! The order in which a bucket holds its fingerprints means nothing, so let it be sorted by their lowest four bits.
//! Four nibbles in order have only C(16 + 3, 4) = 3876 states instead of 16⁴ = 65536, and 3876 fit in 12 bits instead
//! of 16. The rest of the fingerprints stands beside the code, in the same order.

use super::buckets::{Buckets, Entries, Grid};
use super::register::Register;
use crate::bits::{Block, Line};

/// Four fingerprints in a bucket of up to 64 (`u64`: up to 17 bits each) or 128 bits (`u128`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Sorted<R> {
    grid: Grid,
    /// Bits of the rest of a fingerprint, without its lowest four.
    rest: u32,
    /// The lowest bit of the rest of every fingerprint, the first at bit 0.
    ones: R,
    tops: R,
}

macro_rules! constructor {
    ($register:ty) => {
        impl Sorted<$register> {
            pub(super) const fn new(fingerprint_bits: u32) -> Self {
                let rest = fingerprint_bits - NIBBLE;
                let ones: $register = 1 | 1 << rest | 1 << (2 * rest) | 1 << (3 * rest);
                Self { grid: Grid::new(4 * (fingerprint_bits - 1)), rest, ones, tops: ones << (rest - 1) }
            }
        }
    };
}

constructor!(u64);
constructor!(u128);

const NIBBLE: u32 = 4;
const CODE_BITS: u32 = 12;
const CODE_MASK: u32 = (1 << CODE_BITS) - 1;
/// States of four sorted nibbles; codes from here on mean nothing.
pub(super) const STATES: u32 = 3876;

impl<R: Register> Sorted<R> {
    #[inline(always)]
    fn load<L: Line>(self, line: &L, at: u32) -> R {
        R::load(line, at, self.grid.bucket_bits())
    }

    /// Bit i says whether fingerprint i of the bucket is this one.
    #[inline(always)]
    fn equal<L: Line>(self, line: &L, at: u32, fingerprint: u32) -> u32 {
        let bucket = self.load(line, at);
        let nibbles = nibbles(bucket.low()) ^ ((fingerprint % 16) * 0x1111);
        let nibbles_equal = !(((nibbles & 0x7777) + 0x7777) | nibbles) & 0x8888;
        let lanes = bucket >> CODE_BITS ^ self.ones.times(R::from_u32(fingerprint >> NIBBLE));
        let low = self.tops.minus(self.ones);
        let rests_equal = !((lanes & low).plus(low) | lanes) & self.tops;
        gather(u64::from(nibbles_equal) >> 3, 4) & gather(rests_equal >> (self.rest - 1), self.rest)
    }
}

/// The lowest bits of four lanes of `width` bits, side by side.
#[inline(always)]
fn gather<R: Register>(lanes: R, width: u32) -> u32 {
    if width < 4 {
        let bit = |lane: u32| ((lanes >> (lane * width)).low() & 1) << lane;
        return bit(0) | bit(1) | bit(2) | bit(3);
    }
    // A product that shifts lane i to bit 3·width + i. Nothing else arrives there: lane j, shifted as lane i is, comes
    // to bit 3·width + i + (j − i)·width, and these are sixteen different bits.
    let one = R::from_u32(1);
    let shifts = one << (3 * width) | one << (2 * width + 1) | one << (width + 2) | one << 3;
    (lanes.times(shifts) >> (3 * width)).low() & 0b1111
}

impl<R: Register> Buckets for Sorted<R> {
    #[inline(always)]
    fn grid(self) -> Grid {
        self.grid
    }

    #[inline(always)]
    fn entries(self) -> u32 {
        4
    }

    #[inline(always)]
    fn has<L: Line>(self, line: &L, at: u32, fingerprint: u32) -> bool {
        self.equal(line, at, fingerprint) != 0
    }

    #[inline(always)]
    fn count<L: Line>(self, line: &L, at: u32, fingerprint: u32) -> u32 {
        self.equal(line, at, fingerprint).count_ones()
    }

    /// Zeros come first in the order, so there is room if the first is one. The place says how many there are.
    #[inline(always)]
    fn free<L: Line>(self, line: &L, at: u32) -> Option<u32> {
        let zeros = self.equal(line, at, 0);
        (zeros != 0).then_some(0b1111 - zeros)
    }

    /// Instead of the first, which is free.
    #[inline(always)]
    fn put(self, block: &mut Block, at: u32, _: u32, fingerprint: u32) {
        let mut entries = self.all(block, at);
        entries[0] = fingerprint;
        self.set_all(block, at, &entries);
    }

    #[inline(always)]
    fn take(self, block: &mut Block, at: u32, fingerprint: u32) -> bool {
        let equal = self.equal(block, at, fingerprint);
        if equal == 0 {
            return false;
        }
        let mut entries = self.all(block, at);
        entries[equal.trailing_zeros() as usize % 4] = 0;
        self.set_all(block, at, &entries);
        true
    }

    #[inline(always)]
    fn all<L: Line>(self, line: &L, at: u32) -> Entries {
        let bucket = self.load(line, at);
        let nibbles = nibbles(bucket.low());
        let mask = u32::MAX >> (32 - self.rest);
        let mut entries = Entries::default();
        for (lane, entry) in (0..4).zip(&mut entries) {
            let rest = (bucket >> (CODE_BITS + lane * self.rest)).low() & mask;
            *entry = rest << NIBBLE | nibbles >> (lane * NIBBLE) & 15;
        }
        entries
    }

    #[inline(always)]
    fn set_all(self, block: &mut Block, at: u32, entries: &Entries) {
        let [a, b, c, d, ..] = *entries;
        let sorted = sorted([a, b, c, d]);
        let mut bucket = R::from_u32(code(sorted.map(|entry| entry % 16)));
        for (lane, entry) in (0..4).zip(sorted) {
            bucket = bucket | R::from_u32(entry >> NIBBLE) << (CODE_BITS + lane * self.rest);
        }
        bucket.store(block, at, self.grid.bucket_bits());
    }

    fn is_valid<L: Line>(self, line: &L, at: u32) -> bool {
        let [a, b, c, d, ..] = self.all(line, at);
        self.load(line, at).low() & CODE_MASK < STATES && sorted([a, b, c, d]) == [a, b, c, d]
    }
}

/// By the lowest nibble first, then by the rest, so that there is one way to store a bucket.
#[inline(always)]
fn sorted(entries: [u32; 4]) -> [u32; 4] {
    let [mut a, mut b, mut c, mut d] = entries.map(|entry| entry.rotate_right(NIBBLE));
    let order = |x: &mut u32, y: &mut u32| (*x, *y) = ((*x).min(*y), (*x).max(*y));
    order(&mut a, &mut b);
    order(&mut c, &mut d);
    order(&mut a, &mut c);
    order(&mut b, &mut d);
    order(&mut b, &mut c);
    [a, b, c, d].map(|entry| entry.rotate_left(NIBBLE))
}

/// The code of four nibbles in order, a ≤ b ≤ c ≤ d: their number in the combinatorial number system,
/// C(a, 1) + C(b + 1, 2) + C(c + 2, 3) + C(d + 3, 4).
#[inline(always)]
fn code([a, b, c, d]: [u32; 4]) -> u32 {
    const fn choose(n: u32, k: u32) -> u32 {
        let (mut product, mut i) = (1, 0);
        while i < k {
            // A product of i + 1 consecutive numbers can be divided by (i + 1)!; below k numbers it is 0.
            product = product * n.saturating_sub(i) / (i + 1);
            i += 1;
        }
        product
    }
    const TWO: [u16; 16] = column(2);
    const THREE: [u16; 16] = column(3);
    const FOUR: [u16; 16] = column(4);
    #[allow(clippy::cast_possible_truncation, reason = "C(18, 4) = 3060")]
    const fn column(k: u32) -> [u16; 16] {
        let mut column = [0; 16];
        let mut nibble = 0;
        while nibble < 16 {
            column[nibble as usize] = choose(nibble + k - 1, k) as u16;
            nibble += 1;
        }
        column
    }
    let of = |column: &[u16; 16], nibble: u32| u32::from(column[nibble as usize % 16]);
    a + of(&TWO, b) + of(&THREE, c) + of(&FOUR, d)
}

/// The four nibbles of a bucket, from its lowest 12 bits; the first is the lowest.
#[inline(always)]
fn nibbles(bucket: u32) -> u32 {
    /// By code. What no bucket has, codes from [`STATES`] on, means four zeros.
    static NIBBLES: [u16; 1 << CODE_BITS] = {
        let mut table = [0; 1 << CODE_BITS];
        let (mut state, mut d) = (0, 0);
        // In the order of the codes: by d, then c, then b, then a.
        while d < 16 {
            let mut c = 0;
            while c <= d {
                let mut b = 0;
                while b <= c {
                    let mut a = 0;
                    while a <= b {
                        table[state] = a | b << 4 | c << 8 | d << 12;
                        state += 1;
                        a += 1;
                    }
                    b += 1;
                }
                c += 1;
            }
            d += 1;
        }
        table
    };
    u32::from(NIBBLES[(bucket & CODE_MASK) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_its_own_code() {
        let mut states = 0;
        let mut seen = std::vec![false; STATES as usize];
        for state in 0..0x1_0000u32 {
            let parts: [u32; 4] = core::array::from_fn(|i| state >> (4 * i) & 15);
            if parts.is_sorted() {
                states += 1;
                let code = code(parts);
                assert!(!core::mem::replace(&mut seen[code as usize], true));
                assert_eq!(nibbles(code), state);
            }
        }
        assert_eq!(states, STATES);
        assert!((STATES..4096).all(|code| nibbles(code) == 0));
    }

    #[test]
    fn gathers_the_right_bits() {
        for width in 1..=28 {
            for bits in 0..16u64 {
                let lanes: u128 = (0..4).map(|lane| u128::from(bits >> lane & 1) << (lane * width)).sum();
                assert_eq!(u64::from(gather(lanes, width)), bits, "{width}");
                if width <= 13 {
                    assert_eq!(u64::from(gather(lanes as u64, width)), bits, "{width}");
                }
            }
        }
    }
}
