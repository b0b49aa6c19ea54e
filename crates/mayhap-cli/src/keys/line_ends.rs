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
    found: [usize; WINDOW + AT_ONCE],
}

impl<'a> LineEnds<'a> {
    pub(super) fn new(text: &'a [u8], terminator: u8) -> Self {
        Self { rest: text, terminator, from: 0, found: [0; WINDOW + AT_ONCE] }
    }

    /// The next of them, perhaps none of them yet; nothing at the end of the text.
    pub(super) fn next(&mut self) -> Option<&[usize]> {
        if self.rest.is_empty() {
            return None;
        }
        let (window, rest) = self.rest.split_at(self.rest.len().min(WINDOW));
        self.rest = rest;
        let (chunks, last) = window.as_chunks::<CHUNK>();
        let mut count = 0;
        for chunk in chunks {
            count = self.note(equal_bytes(chunk, self.terminator), count);
            self.from += CHUNK;
        }
        if !last.is_empty() {
            let mut chunk = [!self.terminator; CHUNK];
            chunk[..last.len()].copy_from_slice(last);
            count = self.note(equal_bytes(&chunk, self.terminator), count);
        }
        Some(&self.found[..count])
    }

    /// Writes down the positions of a chunk's line ends after the `count` there are.
    #[inline(always)]
    fn note(&mut self, mut equal: u64, count: usize) -> usize {
        let more = equal.count_ones() as usize;
        let mut place = |slot: &mut usize| {
            *slot = self.from + equal.trailing_zeros() as usize;
            equal &= equal.wrapping_sub(1);
        };
        self.found[count..count + AT_ONCE].iter_mut().for_each(&mut place);
        if more > AT_ONCE {
            self.found[count + AT_ONCE..count + more].iter_mut().for_each(&mut place);
        }
        count + more
    }
}

/// A one for each byte of the chunk that is this byte, the first byte's lowest.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(unsafe_code)]
fn equal_bytes(chunk: &[u8; CHUNK], byte: u8) -> u64 {
    use core::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    let mut equal = 0;
    for (number, sixteen) in chunk.as_chunks::<16>().0.iter().enumerate() {
        // SAFETY: SSE2 is part of this architecture. Sixteen bytes are read, from a reference to as many; they need not be
        // aligned.
        let ones = unsafe {
            let sixteen = _mm_loadu_si128(sixteen.as_ptr().cast::<__m128i>());
            _mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, _mm_set1_epi8(byte.cast_signed())))
        };
        equal |= u64::from(ones.cast_unsigned()) << (16 * number);
    }
    equal
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn equal_bytes(chunk: &[u8; CHUNK], byte: u8) -> u64 {
    one_by_one(chunk, byte)
}

/// What [`equal_bytes`] is to give.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn one_by_one(chunk: &[u8; CHUNK], byte: u8) -> u64 {
    chunk.iter().rev().fold(0, |equal, this| equal << 1 | u64::from(*this == byte))
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
        fn bytes_are_compared_one_by_one_or_together(chunk: [u8; 32], byte: u8) {
            let mut twice = [byte; CHUNK];
            twice[16..48].copy_from_slice(&chunk);
            prop_assert_eq!(equal_bytes(&twice, byte), one_by_one(&twice, byte));
        }
    }
}
