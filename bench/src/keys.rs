//! The keys that are inserted and asked.
//!
//! A key is made from its number by a bijection, so present and absent keys can't coincide and no list of
//! them has to be kept. Every stream of questions is laid out in memory in the order it is asked, and is read
//! once before the clock starts, so that it is in the cache as a buffer is that was just filled from a file or
//! a socket: the benchmark measures the filter's cache misses, not those of fetching the question.
//!
//! No stream repeats a short pattern. A branch predictor learns the early exits of a classic filter over a
//! few thousand repeated absent keys and then shows 3 ns where 15 are true, so absent keys are a hundred
//! thousand and more different ones at every filter size, and present ones are drawn at random for as long as
//! the run lasts.

use std::hash::Hash;
use std::hint::black_box;

use crate::Settings;

/// Absent keys are numbered from here, above any present one.
const FIRST_ABSENT: u64 = 1 << 36;

/// What every contestant can take as a key.
pub(crate) trait BenchKey:
    Copy + Hash + Eq + Send + Sync + mayhap::Key + parquet::data_type::AsBytes
{
    /// As many questions about a filter as take some 4 MB, and so stay in the cache.
    const QUESTIONS: usize;

    /// Bytes an exact set must keep alive beside the value itself.
    fn bytes_elsewhere(&self) -> usize;

    /// Its first and its last byte, which bring it into the cache.
    fn ends(&self) -> [u8; 2];
}

/// Reads the keys, so that whoever asks for them next finds them in the cache.
pub(crate) fn fetch<K: BenchKey>(keys: &[K]) {
    black_box(keys.iter().fold(0, |sum: u8, key| key.ends().into_iter().fold(sum, u8::wrapping_add)));
}

impl BenchKey for u64 {
    const QUESTIONS: usize = 500_000;

    fn bytes_elsewhere(&self) -> usize {
        0
    }

    fn ends(&self) -> [u8; 2] {
        let [first, .., last] = self.to_le_bytes();
        [first, last]
    }
}

impl BenchKey for &str {
    const QUESTIONS: usize = 100_000;

    fn bytes_elsewhere(&self) -> usize {
        self.len()
    }

    fn ends(&self) -> [u8; 2] {
        [self.as_bytes().first(), self.as_bytes().last()].map(|byte| byte.copied().unwrap_or(0))
    }
}

/// The numbers of the keys that filters of one size are filled with and asked for.
#[derive(Clone, Copy)]
pub(crate) struct Streams {
    pub(crate) n: usize,
    /// Small filters are built several times, so that a round lasts long enough to be timed.
    filters: usize,
    questions: usize,
}

impl Streams {
    /// For keys of type `K`.
    pub(crate) fn of<K: BenchKey>(n: usize, settings: &Settings) -> Self {
        let default = if n >= 50_000_000 { 20_000_000 } else { K::QUESTIONS };
        let questions = settings.questions.unwrap_or(default);
        Self { n, filters: (settings.inserts / n).max(1), questions }
    }

    /// `n` for each filter.
    pub(crate) fn inserted(self) -> impl Iterator<Item = u64> {
        present(0, self.filters * self.n)
    }

    /// From the keys of the last filter.
    pub(crate) fn hits(self) -> impl Iterator<Item = u64> {
        asked((self.filters - 1) * self.n, self.n, self.questions)
    }

    pub(crate) fn misses(self) -> impl Iterator<Item = u64> {
        absent(self.questions)
    }
}

/// The numbers of the keys `first..first + count`, in order of insertion.
pub(crate) fn present(first: usize, count: usize) -> impl Iterator<Item = u64> {
    (first as u64..).take(count)
}

/// `count` random draws from `first..first + among`.
pub(crate) fn asked(first: usize, among: usize, count: usize) -> impl Iterator<Item = u64> {
    draws(among, count).map(move |index| (first + index) as u64)
}

/// `count` random draws from `0..among`.
#[expect(clippy::cast_possible_truncation, reason = "below a usize")]
pub(crate) fn draws(among: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count as u64).map(move |question| multiply_high(mix(!question), among as u64) as usize)
}

/// `count` distinct keys that were never inserted.
pub(crate) fn absent(count: usize) -> impl Iterator<Item = u64> {
    (FIRST_ABSENT..).take(count)
}

/// Keys number to 8-byte integers.
pub(crate) fn integers(numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    numbers.map(mix).collect()
}

/// URLs of 20 to 40 bytes, one after the other in one allocation.
#[derive(Default)]
pub(crate) struct UrlArena {
    text: String,
    /// Where each URL ends; it starts where the one before ends.
    ends: Vec<usize>,
}

impl UrlArena {
    pub(crate) fn of(numbers: impl Iterator<Item = u64>) -> Self {
        let mut arena = Self::default();
        for number in numbers {
            write_url(&mut arena.text, number);
            arena.ends.push(arena.text.len());
        }
        arena
    }

    /// The URLs as slices of the arena, in order.
    pub(crate) fn urls(&self) -> Vec<&str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end]).collect()
    }
}

/// Appends the URL of key `number`: a host, a path of random length, and eight characters that are unique to
/// the number.
pub(crate) fn write_url(text: &mut String, number: u64) {
    const HOSTS: [&str; 8] = ["a.io", "b.de", "c.fr", "d.jp", "e.uk", "f.br", "g.in", "h.ca"];
    const PATHS: [&str; 4] =
        ["news/archive/2026/11/", "shop/items/list/new?", "wiki/history/pages/a", "user/photos/by/date/"];
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let unique = mix_40_bits(number);
    let style = mix(number);
    text.push_str("http://");
    text.push_str(HOSTS[digit(style, 3)]);
    text.push('/');
    let path_length = digit(multiply_high(style << 8, 21), 5);
    text.push_str(&PATHS[digit(style >> 3, 2)][..path_length]);
    for position in 0..8 {
        text.push(char::from(ALPHABET[digit(unique >> (5 * position), 5)]));
    }
}

/// The lowest `bits` bits, as an index into a short table.
fn digit(value: u64, bits: u32) -> usize {
    usize::from(value.to_le_bytes()[0] & ((1 << bits) - 1))
}

/// The finaliser of splitmix64, a bijection of 64-bit words.
pub(crate) fn mix(number: u64) -> u64 {
    let word = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// A bijection of 40-bit numbers: eight characters of five bits name a key.
fn mix_40_bits(number: u64) -> u64 {
    const MASK: u64 = (1 << 40) - 1;
    let word = number & MASK;
    let word = (word ^ (word >> 20)).wrapping_mul(0x9E_3779_B97F) & MASK;
    let word = (word ^ (word >> 19)).wrapping_mul(0xBF_5847_6D1D) & MASK;
    word ^ (word >> 20)
}

/// The upper half of the product: maps a random word evenly to `0..range`.
#[inline(always)]
pub(crate) fn multiply_high(word: u64, range: u64) -> u64 {
    ((u128::from(word) * u128::from(range)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn urls_are_distinct_and_have_20_to_40_bytes() {
        let arena = UrlArena::of(present(0, 100_000).chain(absent(100_000)));
        let urls = arena.urls();
        let distinct: HashSet<&str> = urls.iter().copied().collect();
        assert_eq!(distinct.len(), 200_000);
        let lengths: HashSet<usize> = urls.iter().map(|url| url.len()).collect();
        assert_eq!(lengths, (20..=40).collect());
    }

    #[test]
    fn integers_asked_as_present_were_inserted_and_absent_ones_not() {
        let inserted: HashSet<u64> = integers(present(5_000, 1_000)).into_iter().collect();
        assert_eq!(inserted.len(), 1_000);
        assert!(integers(asked(5_000, 1_000, 10_000)).iter().all(|key| inserted.contains(key)));
        assert!(integers(absent(10_000)).iter().all(|key| !inserted.contains(key)));
    }

    #[test]
    fn the_40_bit_mix_is_a_bijection() {
        // Each step is: a shift-xor, or a product with an odd number. Injective on a sample is what can be
        // counted.
        let images: HashSet<u64> = (0..1 << 20).map(mix_40_bits).collect();
        assert_eq!(images.len(), 1 << 20);
    }
}
