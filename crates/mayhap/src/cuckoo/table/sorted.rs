//! Semi-sorted buckets: one bit less for each of four fingerprints.
//!
//! The order in which a bucket holds its fingerprints means nothing, so let it be sorted by their lowest four bits.
//! Four nibbles in order have only C(16 + 3, 4) = 3876 states instead of 16⁴ = 65536, and 3876 fit in 12 bits instead
//! of 16. The rest of the fingerprints stands beside the code, in the same order.

use core::hint::select_unpredictable;

use super::access::{Access, At, Place, Window, low_bits};
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

/// A bucket in parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<R> {
    /// The lowest four bits of its fingerprints.
    nibbles: u32,
    /// The rest of them, and above it whatever.
    rests: R,
    /// Bit i says whether fingerprint i is the one that was looked for.
    equal: u32,
}

impl<R: Register> Sorted<R>
where
    Window: Access<R>,
{
    #[inline(always)]
    fn parts<L: Line>(self, lines: &[L], at: At, fingerprint: u32) -> Parts<R> {
        let bucket: R = Window::load(lines, at);
        let (nibbles, rests) = (nibbles(bucket.low()), bucket >> CODE_BITS);
        let differing = nibbles ^ ((fingerprint % 16) * 0x1111);
        let nibbles_equal = !(((differing & 0x7777) + 0x7777) | differing) & 0x8888;
        let lanes = rests ^ self.ones.times(R::from_u32(fingerprint >> NIBBLE));
        let low = self.tops.minus(self.ones);
        let rests_equal = !((lanes & low).plus(low) | lanes) & self.tops;
        let equal = gather(u64::from(nibbles_equal), NIBBLE, NIBBLE_GATHER)
            & gather(rests_equal, self.rest, self.gather);
        Parts { nibbles, rests, equal }
    }

    /// Writes a bucket of which the parts are in order.
    #[inline(always)]
    fn set_parts(self, blocks: &mut [Block], at: At, nibbles: u32, rests: R) {
        let bits = low_bits(self.grid.bucket_bits());
        let bucket = (R::from_u32(code(nibbles)) | rests << CODE_BITS) & bits;
        Window::replace(blocks, at, bits, bucket);
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
    let through = through::<R>(lane, width);
    (lanes & through) << width & through | lanes & !through
}

/// Four lanes, of which the first gives way to a new number `lane`: those up to it move down by one.
#[inline(always)]
fn with_lane<R: Register>(lanes: R, lane: u32, width: u32, value: R) -> R {
    let through = through::<R>(lane, width);
    (lanes & through) >> width | value << (lane * width) | lanes & !through
}

/// The bits of the lanes up to number `lane`.
#[inline(always)]
fn through<R: Register>(lane: u32, width: u32) -> R {
    let one = R::from_u32(1);
    ((one << (lane * width)) << width).minus(one)
}

impl<R: Register> Buckets for Sorted<R>
where
    Window: Access<R>,
{
    type Found = Parts<R>;

    #[inline(always)]
    fn grid(self) -> Grid {
        self.grid
    }

    #[inline(always)]
    fn entries(self) -> u32 {
        4
    }

    #[inline(always)]
    fn place(self, bucket: u64) -> Place {
        <Window as Access<R>>::place(self.grid, bucket)
    }

    #[inline(always)]
    fn at(self, place: Place) -> At {
        <Window as Access<R>>::at(place)
    }

    #[inline(always)]
    fn address<L: Line>(self, lines: &[L], place: Place) -> *const L {
        <Window as Access<R>>::address(lines, place)
    }

    #[inline(always)]
    fn has<L: Line>(self, lines: &[L], at: At, fingerprint: u32) -> bool {
        self.parts(lines, at, fingerprint).equal != 0
    }

    #[inline(always)]
    fn count<L: Line>(self, lines: &[L], at: At, fingerprint: u32) -> u32 {
        self.parts(lines, at, fingerprint).equal.count_ones()
    }

    /// Zeros come first in the order, so there is room if the first is one. The place says how many there are.
    #[inline(always)]
    fn free<L: Line>(self, lines: &[L], at: At) -> u32 {
        let zeros = self.parts(lines, at, 0).equal;
        select_unpredictable(zeros == 0, NOWHERE, 0b1111 - zeros)
    }

    /// The first is free. Those that come before the new one move into its place, and no sorting is needed.
    #[inline(always)]
    fn put(self, blocks: &mut [Block], at: At, _: u32, fingerprint: u32) {
        let [_, b, c, d, ..] = self.all(blocks, at);
        let is_before = |entry| u32::from(order(entry) < order(fingerprint));
        let lane = is_before(b) + is_before(c) + is_before(d);
        let Parts { nibbles, rests, .. } = self.parts(blocks, at, 0);
        let nibbles = with_lane(nibbles, lane, NIBBLE, fingerprint % 16);
        let rests = with_lane(rests, lane, self.rest, R::from_u32(fingerprint >> NIBBLE));
        self.set_parts(blocks, at, nibbles, rests);
    }

    #[inline(always)]
    fn find<L: Line>(self, lines: &[L], at: At, fingerprint: u32) -> Parts<R> {
        self.parts(lines, at, fingerprint)
    }

    #[inline(always)]
    fn is_found(found: Parts<R>) -> bool {
        found.equal != 0
    }

    #[inline(always)]
    fn either(is_first: bool, first: Parts<R>, second: Parts<R>) -> Parts<R> {
        Parts {
            nibbles: select_unpredictable(is_first, first.nibbles, second.nibbles),
            rests: select_unpredictable(is_first, first.rests, second.rests),
            equal: select_unpredictable(is_first, first.equal, second.equal),
        }
    }

    /// The free place that it leaves belongs in front of all others: those before it move up by one.
    #[inline(always)]
    fn take(self, blocks: &mut [Block], at: At, found: Parts<R>) {
        let lane = found.equal.trailing_zeros();
        let nibbles = without_lane(found.nibbles, lane, NIBBLE);
        self.set_parts(blocks, at, nibbles, without_lane(found.rests, lane, self.rest));
    }

    #[inline(always)]
    fn all<L: Line>(self, lines: &[L], at: At) -> Entries {
        let bucket: R = Window::load(lines, at);
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
    fn set_all(self, blocks: &mut [Block], at: At, entries: &Entries) {
        let [a, b, c, d, ..] = *entries;
        let (mut nibbles, mut rests) = (0, R::ZERO);
        for (lane, entry) in (0..4).zip(sorted([a, b, c, d])) {
            nibbles |= (entry % 16) << (lane * NIBBLE);
            rests = rests | R::from_u32(entry >> NIBBLE) << (lane * self.rest);
        }
        self.set_parts(blocks, at, nibbles, rests);
    }

    fn is_valid<L: Line>(self, lines: &[L], at: At) -> bool {
        let [a, b, c, d, ..] = self.all(lines, at);
        let bucket: R = Window::load(lines, at);
        bucket.low() & CODE_MASK < STATES && sorted([a, b, c, d]) == [a, b, c, d]
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

/// The code of four nibbles in order, a ≤ b ≤ c ≤ d, a the lowest: their number in the combinatorial number system,
/// C(a, 1) + C(b + 1, 2) + C(c + 2, 3) + C(d + 3, 4).
#[inline(always)]
fn code(nibbles: u32) -> u32 {
    const fn choose(n: usize, k: usize) -> usize {
        let (mut product, mut i) = (1, 0);
        while i < k {
            // A product of i + 1 consecutive numbers can be divided by (i + 1)!; below k numbers it is 0.
            product = product * n.saturating_sub(i) / (i + 1);
            i += 1;
        }
        product
    }
    /// The part of two nibbles, by the byte they make, of which the lower chooses `k`.
    #[allow(clippy::cast_possible_truncation, reason = "C(17, 3) + C(18, 4) = 3740")]
    const fn pair(k: usize) -> [u16; 256] {
        let mut parts = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let (low, high) = (byte % 16, byte / 16);
            parts[byte] = (choose(low + k - 1, k) + choose(high + k, k + 1)) as u16;
            byte += 1;
        }
        parts
    }
    static LOW: [u16; 256] = pair(1);
    static HIGH: [u16; 256] = pair(3);
    u32::from(LOW[(nibbles & 0xff) as usize]) + u32::from(HIGH[(nibbles >> 8 & 0xff) as usize])
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
                let code = code(state);
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
