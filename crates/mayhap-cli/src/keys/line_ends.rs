//! Where the lines of a text end.
//!
//! Asking for one line end after the other begins a search anew for every line, and lines are short: that took a quarter
//! of the time `build` needs. Here 64 bytes are compared at once, and what is found is written down without a branch on
//! how many line ends that were, which can't be predicted.

/// Bytes compared at once.
const CHUNK: usize = 64;
/// Bytes looked through before their line ends are handed on: few enough that these stay in the innermost cache.
const WINDOW: usize = 32 * CHUNK;
/// Line ends written down whether there are so many in a chunk or not.
const AT_ONCE: usize = 4;

/// The positions of one byte in a text, in order, as many at a time as are near each other.
pub(super) struct LineEnds<'a> {
    rest: &'a [u8],
    terminator: u8,
    /// Where the next window begins.
    from: usize,
    found: Found,
    look: Look,
}

/// The positions found in one window, and room for those that are written down too many.
type Found = [usize; WINDOW + AT_ONCE];

/// Looks through chunks, the first of which stands at a position, for a byte; returns how many it found.
type Look = fn(chunks: &[[u8; CHUNK]], byte: u8, from: usize, found: &mut Found, count: usize) -> usize;

impl<'a> LineEnds<'a> {
    pub(super) fn new(text: &'a [u8], terminator: u8) -> Self {
        Self { rest: text, terminator, from: 0, found: [0; WINDOW + AT_ONCE], look: fastest() }
    }

    /// The next of them, perhaps none of them yet; nothing at the end of the text.
    pub(super) fn next(&mut self) -> Option<&[usize]> {
        if self.rest.is_empty() {
            return None;
        }
        let (window, rest) = self.rest.split_at(self.rest.len().min(WINDOW));
        self.rest = rest;
        let (chunks, last) = window.as_chunks::<CHUNK>();
        let mut count = (self.look)(chunks, self.terminator, self.from, &mut self.found, 0);
        if !last.is_empty() {
            let mut chunk = [!self.terminator; CHUNK];
            chunk[..last.len()].copy_from_slice(last);
            let from = self.from + chunks.len() * CHUNK;
            count = (self.look)(&[chunk], self.terminator, from, &mut self.found, count);
        }
        self.from += window.len();
        Some(&self.found[..count])
    }
}

/// The way of looking that suits this machine: with AVX2 half the instructions of the other.
fn fastest() -> Look {
    #[cfg(target_arch = "x86_64")]
    if avx2::is_here() {
        return avx2::look;
    }
    look
}

/// Everywhere.
fn look(chunks: &[[u8; CHUNK]], byte: u8, from: usize, found: &mut Found, count: usize) -> usize {
    look_by(|chunk| equal_bytes(chunk, byte), chunks, from, found, count)
}

/// Writes down the positions of the ones that `equal` has for each chunk, after the `count` there are.
#[inline(always)]
fn look_by(
    equal: impl Fn(&[u8; CHUNK]) -> u64,
    chunks: &[[u8; CHUNK]],
    mut from: usize,
    found: &mut Found,
    mut count: usize,
) -> usize {
    for chunk in chunks {
        let mut equal = equal(chunk);
        let more = equal.count_ones() as usize;
        let mut place = |slot: &mut usize| {
            *slot = from + equal.trailing_zeros() as usize;
            equal &= equal.wrapping_sub(1);
        };
        found[count..count + AT_ONCE].iter_mut().for_each(&mut place);
        if more > AT_ONCE {
            found[count + AT_ONCE..count + more].iter_mut().for_each(&mut place);
        }
        count += more;
        from += CHUNK;
    }
    count
}

/// A one for each byte of the chunk that is this byte, the first byte's lowest.
#[inline(always)]
fn equal_bytes(chunk: &[u8; CHUNK], byte: u8) -> u64 {
    // Eight bytes in a word: a byte is 0 where they are equal. The sum carries into its highest bit if it isn't, and no
    // further; so the highest bits are the answer, inverted, and a multiplication brings them side by side.
    const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let wanted = u64::from_ne_bytes([byte; 8]);
    chunk.as_chunks::<8>().0.iter().rev().fold(0, |equal, eight| {
        let different = u64::from_le_bytes(*eight) ^ wanted;
        let ones = !(((different & LOW) + LOW) | different | LOW) >> 7;
        equal << 8 | ones.wrapping_mul(GATHER) >> 56
    })
}

/// With 32 bytes to a register, and instructions that count and find ones.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    #![allow(unsafe_code)]
    use core::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8,
    };

    use super::{CHUNK, Found, look_by};

    pub(super) fn is_here() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt")
    }

    /// To be called only where it [`is_here`]; otherwise it is `super::look`.
    pub(super) fn look(
        chunks: &[[u8; CHUNK]],
        byte: u8,
        from: usize,
        found: &mut Found,
        count: usize,
    ) -> usize {
        debug_assert!(is_here());
        // SAFETY: `fastest`, the only caller, has asked whether the instructions are here.
        unsafe { look_here(chunks, byte, from, found, count) }
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    fn look_here(chunks: &[[u8; CHUNK]], byte: u8, from: usize, found: &mut Found, count: usize) -> usize {
        let wanted = _mm256_set1_epi8(byte.cast_signed());
        let ones = |half: &[u8; CHUNK / 2]| {
            // SAFETY: 32 bytes are read, from a reference to as many; they need not be aligned.
            let half = unsafe { _mm256_loadu_si256(half.as_ptr().cast::<__m256i>()) };
            u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(half, wanted)).cast_unsigned())
        };
        let equal = |chunk: &[u8; CHUNK]| {
            chunk.as_chunks().0.iter().rev().fold(0, |equal, half| equal << (CHUNK / 2) | ones(half))
        };
        look_by(equal, chunks, from, found, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &[u8], terminator: u8) -> Vec<usize> {
        let mut ends = LineEnds::new(text, terminator);
        let mut all = Vec::new();
        while let Some(some) = ends.next() {
            all.extend_from_slice(some);
        }
        all
    }

    #[test]
    fn all_lengths_up_to_two_windows_are_found() {
        let text = vec![b'\n'; 2 * WINDOW + 1];
        for len in (0..200).chain(WINDOW - 70..WINDOW + 70).chain([2 * WINDOW, 2 * WINDOW + 1]) {
            assert_eq!(all(&text[..len], b'\n'), (0..len).collect::<Vec<_>>(), "only line ends, {len}");
            assert!(all(&text[..len], 0).is_empty(), "none, {len}");
        }
    }

    proptest! {
        #[test]
        fn they_are_where_a_search_finds_them(
            text in proptest::collection::vec(0u8..12, 0..3 * WINDOW), terminator in 0u8..14
        ) {
            let expected: Vec<usize> = memchr::memchr_iter(terminator, &text).collect();
            prop_assert_eq!(all(&text, terminator), expected);
        }

        #[test]
        fn every_way_of_looking_finds_the_same(text in proptest::collection::vec(0u8..4, 0..WINDOW), byte: u8) {
            // Bytes that differ in one bit only, and those that are the whole range away.
            let text: Vec<u8> = text.iter().map(|step| byte ^ [0, 1, 0x80, 0xff][usize::from(*step)]).collect();
            let chunks = text.as_chunks::<CHUNK>().0;
            let (mut one, mut other) = ([0; WINDOW + AT_ONCE], [0; WINDOW + AT_ONCE]);
            let count = look(chunks, byte, 7, &mut one, 0);
            prop_assert_eq!(fastest()(chunks, byte, 7, &mut other, 0), count);
            prop_assert_eq!(&one[..count], &other[..count]);
            let expected: Vec<usize> =
                memchr::memchr_iter(byte, chunks.as_flattened()).map(|place| 7 + place).collect();
            prop_assert_eq!(&one[..count], &expected[..]);
        }
    }
}
