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
pub(super) struct Sorted<R: 'static> {
    grid: Grid,
    /// Bits of the rest of a fingerprint, without its lowest four.
    pub(super) rest: u32,
    /// The lowest bit of the rest of every fingerprint in its bucket.
    pub(super) ones: R,
    /// All bits of the rests but the highest of each.
    pub(super) low: R,
    /// What depends on the width of a rest.
    pub(super) tables: &'static Tables<R>,
}

#[derive(Debug)]
pub(super) struct Tables<R> {
    /// By nibbles that differ, one bit for each: the highest bits of the rests of the others.
    pub(super) others: [R; 16],
    /// By the number of the highest bit of a rest: as many nibbles of ones as there are rests before it.
    before: [u16; 128],
}

macro_rules! constructor {
    ($register:ty, $widest:literal) => {
        impl Sorted<$register> {
            pub(super) const fn new(fingerprint_bits: u32) -> Self {
                /// By bits of the rest.
                static TABLES: [Tables<$register>; $widest + 1] = {
                    let mut tables = [const { Tables { others: [0; 16], before: [0; 128] } }; $widest + 1];
                    let mut rest = 1;
                    while rest <= $widest {
                        let mut lane = 0;
                        while lane < 4 {
                            let top = CODE_BITS as usize + lane * rest + rest - 1;
                            tables[rest].before[top] = (1 << (NIBBLE as usize * lane)) - 1;
                            let mut differing = 0;
                            while differing < 16 {
                                if differing >> lane & 1 == 0 {
                                    tables[rest].others[differing] |= 1 << top;
                                }
                                differing += 1;
                            }
                            lane += 1;
                        }
                        rest += 1;
                    }
                    tables
                };
                let rest = fingerprint_bits - NIBBLE;
                let tables = &TABLES[rest as usize];
                let tops = tables.others[0];
                let ones = tops >> (rest - 1);
                Self { grid: Grid::new(4 * (fingerprint_bits - 1)), rest, ones, low: tops - ones, tables }
            }
        }
    };
}

constructor!(u64, 13);
constructor!(u128, 28);

pub(super) const NIBBLE: u32 = 4;
const CODE_BITS: u32 = 12;
pub(super) const CODE_MASK: u32 = (1 << CODE_BITS) - 1;
/// States of four sorted nibbles; codes from here on mean nothing.
pub(super) const STATES: u32 = 3876;

impl<R: Register> Sorted<R>
where
    Window: Access<R>,
{
    /// The highest bits of the rests of the fingerprints in a bucket that are equal to this one.
    #[inline(always)]
    fn equal(self, bucket: R, fingerprint: u32) -> R {
        self.equal_by(bucket, nibbles(bucket.low()), fingerprint)
    }

    /// The same with the nibbles of the bucket.
    #[inline(always)]
    fn equal_by(self, bucket: R, nibbles: u32, fingerprint: u32) -> R {
        // The highest bit of a lane stays zero only if all of its bits are: adding ones carries into it from any other.
        let nibbles = nibbles ^ ((fingerprint % 16) * 0x1111);
        let differing = (((nibbles & 0x7777) + 0x7777) | nibbles) & 0x8888;
        let rests = bucket ^ self.ones.times(R::from_u32(fingerprint >> NIBBLE));
        self.tables.others[gather(differing)] & !((rests & self.low).plus(self.low) | rests)
    }

    /// The bits of a bucket that change when the first of the fingerprints that are [`equal`](Self::equal) is taken out.
    #[inline(always)]
    fn change_without(self, bucket: R, nibbles: u32, equal: R) -> R {
        // All bits up to the lowest that is set. Rests up to there become what is below them, which for the first is nothing;
        // the code becomes another.
        let through = equal ^ equal.minus(R::from_u32(1));
        let rests = bucket & !R::from_u32(CODE_MASK);
        let before = u32::from(self.tables.before[equal.lowest() as usize % 128]);
        let behind = nibbles >> NIBBLE;
        let code = code_of_three(behind ^ (behind ^ nibbles) & before);
        ((bucket ^ rests << self.rest) & through) ^ R::from_u32(code)
    }

    /// The bits of a bucket of which the parts are in order.
    #[inline(always)]
    fn bucket(self, nibbles: u32, rests: R) -> R {
        (R::from_u32(code(nibbles)) | rests << CODE_BITS) & low_bits(self.grid.bucket_bits())
    }
}

/// The highest bits of four nibbles, which are all that is set, side by side.
#[inline(always)]
fn gather(tops: u32) -> usize {
    // A product that moves bit 3 + 4·i up by 12 − 3·i, to 15 + i. Nothing else arrives there: bit 3 + 4·j, moved as i is,
    // comes to 15 + i + 4·(j − i), and these are sixteen different bits.
    (tops.wrapping_mul(GATHER) >> GATHERED_AT & 0b1111) as usize
}

pub(super) const GATHER: u32 = 1 << 12 | 1 << 9 | 1 << 6 | 1 << 3;
pub(super) const GATHERED_AT: u32 = 15;

/// Four lanes, of which the first gives way to a new number `lane`: those up to it move down by one.
#[inline(always)]
fn with_lane<R: Register>(lanes: R, lane: u32, width: u32, value: R) -> R {
    let one = R::from_u32(1);
    let through = ((one << (lane * width)) << width).minus(one);
    (lanes & through) >> width | value << (lane * width) | lanes & !through
}

impl<R: Register> Buckets for Sorted<R>
where
    Window: Access<R>,
{
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
        self.equal(Window::load(lines, at), fingerprint) != R::ZERO
    }

    #[inline(always)]
    fn count<L: Line>(self, lines: &[L], at: At, fingerprint: u32) -> u32 {
        self.equal(Window::load(lines, at), fingerprint).ones()
    }

    /// Zeros come first in the order, so there is room if the first is one. The place says how many there are.
    #[inline(always)]
    fn free<L: Line>(self, lines: &[L], at: At) -> u32 {
        let zeros = self.equal(Window::load(lines, at), 0);
        select_unpredictable(zeros == R::ZERO, NOWHERE, zeros.above())
    }

    /// The first is free. Those that come before the new one move into its place, and no sorting is needed.
    #[inline(always)]
    fn put(self, blocks: &mut [Block], at: At, _: u32, fingerprint: u32) {
        let [_, b, c, d, ..] = self.all(blocks, at);
        let is_before = |entry| u32::from(order(entry) < order(fingerprint));
        let lane = is_before(b) + is_before(c) + is_before(d);
        let bucket: R = Window::load(blocks, at);
        let nibbles = with_lane(nibbles(bucket.low()), lane, NIBBLE, fingerprint % 16);
        let rests = with_lane(bucket >> CODE_BITS, lane, self.rest, R::from_u32(fingerprint >> NIBBLE));
        let after = self.bucket(nibbles, rests);
        Window::flip(blocks, at, (bucket ^ after) & low_bits(self.grid.bucket_bits()));
    }

    /// The free place that it leaves belongs in front of all others: those before it move up by one. Only what changes is
    /// worked out.
    #[inline(always)]
    fn remove(self, blocks: &mut [Block], places: [At; 2], fingerprint: u32) -> bool {
        let [first, second] = [Window::load(blocks, places[0]), Window::load(blocks, places[1])];
        let [first_nibbles, second_nibbles] = [nibbles(first.low()), nibbles(second.low())];
        let in_first: R = self.equal_by(first, first_nibbles, fingerprint);
        let in_second = self.equal_by(second, second_nibbles, fingerprint);
        let is_first = in_first != R::ZERO;
        let equal = select_unpredictable(is_first, in_first, in_second);
        if equal == R::ZERO {
            return false;
        }
        let bucket = select_unpredictable(is_first, first, second);
        let nibbles = select_unpredictable(is_first, first_nibbles, second_nibbles);
        Window::flip_one(blocks, places, is_first, self.change_without(bucket, nibbles, equal));
        true
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
        let bits = low_bits(self.grid.bucket_bits());
        Window::flip(blocks, at, (Window::load(blocks, at) ^ self.bucket(nibbles, rests)) & bits);
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
    nibbles % 16 + code_of_three(nibbles >> NIBBLE)
}

/// The code of a zero and three nibbles in order, by these three.
#[inline(always)]
fn code_of_three(nibbles: u32) -> u32 {
    u32::from(CODES[(nibbles & CODE_MASK) as usize])
}

/// By the three nibbles that aren't zero: their [`code`]. The last three numbers are there to be read with others.
#[allow(clippy::cast_possible_truncation, reason = "C(16, 2) + C(17, 3) + C(18, 4) = 3860")]
pub(super) static CODES: [u16; 4096 + 3] = {
    const fn choose(n: usize, k: usize) -> usize {
        let (mut product, mut i) = (1, 0);
        while i < k {
            // A product of i + 1 consecutive numbers can be divided by (i + 1)!; below k numbers it is 0.
            product = product * n.saturating_sub(i) / (i + 1);
            i += 1;
        }
        product
    }
    let mut codes = [0; 4096 + 3];
    let mut state = 0;
    while state < 4096 {
        let [b, c, d] = [state % 16, state / 16 % 16, state / 256];
        codes[state] = (choose(b + 1, 2) + choose(c + 2, 3) + choose(d + 3, 4)) as u16;
        state += 1;
    }
    codes
};

/// The four nibbles of a bucket, from its lowest 12 bits; the first is the lowest.
#[inline(always)]
fn nibbles(bucket: u32) -> u32 {
    u32::from(NIBBLES[(bucket & CODE_MASK) as usize])
}

/// By code. What no bucket has, codes from [`STATES`] on, means four zeros. The last three numbers are there to be read with
/// others.
pub(super) static NIBBLES: [u16; 4096 + 3] = {
    let mut table = [0; 4096 + 3];
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
        for bits in 0..16u32 {
            let tops = (0..4).map(|lane| (bits >> lane & 1) << (4 * lane + 3)).sum();
            assert_eq!(gather(tops), bits as usize);
        }
    }

    #[test]
    fn knows_the_nibbles_before_a_rest() {
        for rest in 1..=28 {
            let Sorted { tables, .. } = Sorted::<u128>::new(rest + NIBBLE);
            for lane in 0..4 {
                let top = tables.others[0b1111 ^ 1 << lane];
                assert_eq!(top, 1 << (CODE_BITS + lane * rest + rest - 1));
                assert_eq!(u32::from(tables.before[top.lowest() as usize]), (1 << (4 * lane)) - 1);
            }
        }
    }
}
