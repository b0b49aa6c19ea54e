//! Semi-sorted buckets: one bit less for each of four fingerprints.
//!
//! The order in which a bucket holds its fingerprints means nothing, so let it be sorted by their lowest four bits.
//! Four nibbles in order have only C(16 + 3, 4) = 3876 states instead of 16⁴ = 65536, and 3876 fit in 12 bits instead
//! of 16. The rest of the fingerprints stands beside the code, in the same order.

use core::hint::select_unpredictable;

use super::buckets::{Buckets, Entries, Grid, NOWHERE};
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
    /// The highest bit of each.
    tops: R,
    /// What [`gather`] multiplies by.
    gather: R,
}

macro_rules! constructor {
    ($register:ty) => {
        impl Sorted<$register> {
            pub(super) const fn new(fingerprint_bits: u32) -> Self {
                let rest = fingerprint_bits - NIBBLE;
                let ones: $register = 1 | 1 << rest | 1 << (2 * rest) | 1 << (3 * rest);
                // Lane i to bit 3·rest + i.
                let gather = 1 << (3 * rest) | 1 << (2 * rest + 1) | 1 << (rest + 2) | 1 << 3;
                Self {
                    grid: Grid::new(4 * (fingerprint_bits - 1)),
                    rest,
                    ones,
                    tops: ones << (rest - 1),
                    gather,
                }
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
        gather(u64::from(nibbles_equal), NIBBLE, NIBBLE_GATHER) & gather(rests_equal, self.rest, self.gather)
    }

    /// A bucket in parts: its four nibbles, and the rest of its fingerprints.
    #[inline(always)]
    fn parts<L: Line>(self, line: &L, at: u32) -> (u64, R) {
        let bucket = self.load(line, at);
        (u64::from(nibbles(bucket.low())), bucket >> CODE_BITS)
    }

    /// Writes a bucket of which the parts are in order.
    #[inline(always)]
    fn set_parts(self, block: &mut Block, at: u32, nibbles: u64, rests: R) {
        let nibble = |lane: u32| (nibbles >> (lane * NIBBLE)).low() % 16;
        let code = code([nibble(0), nibble(1), nibble(2), nibble(3)]);
        (R::from_u32(code) | rests << CODE_BITS).store(block, at, self.grid.bucket_bits());
    }
}

/// [`gather`]'s multiplier for nibbles.
const NIBBLE_GATHER: u64 = 1 << 12 | 1 << 9 | 1 << 6 | 1 << 3;

/// The highest bits of four lanes of `width` bits, which are all that is set, side by side.
#[inline(always)]
fn gather<R: Register>(tops: R, width: u32, multiplier: R) -> u32 {
    if width < 4 {
        let bit = |lane: u32| ((tops >> (lane * width + width - 1)).low() & 1) << lane;
        return bit(0) | bit(1) | bit(2) | bit(3);
    }
    // A product that moves lane i up by 3·width + i − i·width. Nothing else arrives there: lane j, moved as lane i is,
    // comes to a place (j − i)·width away from that of lane i, and these are sixteen different bits.
    (tops.times(multiplier) >> (4 * width - 1)).low() & 0b1111
}

/// Four lanes without number `lane`: those below it move up by one, and the first is zero.
#[inline(always)]
fn without_lane<R: Register>(lanes: R, lane: u32, width: u32) -> R {
    let (below, through) = masks::<R>(lane, width);
    (lanes & below) << width | lanes & !through
}

/// Four lanes, of which the first gives way to a new number `lane`: those up to it move down by one.
#[inline(always)]
fn with_lane<R: Register>(lanes: R, lane: u32, width: u32, value: R) -> R {
    let (below, through) = masks::<R>(lane, width);
    (lanes >> width) & below | value << (lane * width) | lanes & !through
}

/// The bits of the lanes below number `lane`, and the same with that lane.
#[inline(always)]
fn masks<R: Register>(lane: u32, width: u32) -> (R, R) {
    let one = R::from_u32(1);
    let first = one << (lane * width);
    (first.minus(one), (first << width).minus(one))
}

impl<R: Register> Buckets for Sorted<R> {
    /// As [`equal`](Self::equal) has it.
    type Found = u32;

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
    fn free<L: Line>(self, line: &L, at: u32) -> u32 {
        let zeros = self.equal(line, at, 0);
        select_unpredictable(zeros == 0, NOWHERE, 0b1111 - zeros)
    }

    /// The first is free. Those that come before the new one move into its place, and no sorting is needed.
    #[inline(always)]
    fn put(self, block: &mut Block, at: u32, _: u32, fingerprint: u32) {
        let [_, b, c, d, ..] = self.all(block, at);
        let is_before = |entry| u32::from(order(entry) < order(fingerprint));
        let lane = is_before(b) + is_before(c) + is_before(d);
        let (nibbles, rests) = self.parts(block, at);
        let nibbles = with_lane(nibbles, lane, NIBBLE, u64::from(fingerprint % 16));
        let rests = with_lane(rests, lane, self.rest, R::from_u32(fingerprint >> NIBBLE));
        self.set_parts(block, at, nibbles, rests);
    }

    #[inline(always)]
    fn find<L: Line>(self, line: &L, at: u32, fingerprint: u32) -> u32 {
        self.equal(line, at, fingerprint)
    }

    #[inline(always)]
    fn is_found(found: u32) -> bool {
        found != 0
    }

    /// The free place that it leaves belongs in front of all others: those before it move up by one.
    #[inline(always)]
    fn take(self, block: &mut Block, at: u32, found: u32) {
        let lane = found.trailing_zeros();
        let (nibbles, rests) = self.parts(block, at);
        let nibbles = without_lane(nibbles, lane, NIBBLE);
        self.set_parts(block, at, nibbles, without_lane(rests, lane, self.rest));
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
fn order(fingerprint: u32) -> u32 {
    fingerprint.rotate_right(NIBBLE)
}

#[inline(always)]
fn sorted(entries: [u32; 4]) -> [u32; 4] {
    let [mut a, mut b, mut c, mut d] = entries.map(order);
    let exchange = |x: &mut u32, y: &mut u32| (*x, *y) = ((*x).min(*y), (*x).max(*y));
    exchange(&mut a, &mut b);
    exchange(&mut c, &mut d);
    exchange(&mut a, &mut c);
    exchange(&mut b, &mut d);
    exchange(&mut b, &mut c);
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
                let top = |lane: u32| u128::from(bits >> lane & 1) << (lane * width + width - 1);
                let tops: u128 = (0..4).map(top).sum();
                let multiplier = Sorted::<u128>::new(width + NIBBLE).gather;
                assert_eq!(u64::from(gather(tops, width, multiplier)), bits, "{width}");
                if width <= 13 {
                    let multiplier = Sorted::<u64>::new(width + NIBBLE).gather;
                    assert_eq!(u64::from(gather(tops as u64, width, multiplier)), bits, "{width}");
                }
            }
        }
    }
}
