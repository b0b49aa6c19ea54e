//! SpookyHash V2 (Jenkins): 128 bits, fast for long inputs.

use super::bytes::{tail64, word32, word64};

/// A constant that is odd, not regular, and needs no other virtue.
const CONSTANT: u64 = 0xdead_beef_dead_beef;
const WORDS: usize = 12;
const BLOCK: usize = 8 * WORDS;
/// Shorter inputs take another way.
const LONG: usize = 2 * BLOCK;

/// SpookyHash V2: two 64-bit hashes from two seeds.
#[must_use]
pub fn spooky_v2(bytes: &[u8], seeds: [u64; 2]) -> [u64; 2] {
    if bytes.len() < LONG {
        return short(bytes, seeds);
    }
    let mut h: [u64; WORDS] = core::array::from_fn(|index| [seeds[0], seeds[1], CONSTANT][index % 3]);
    let blocks = bytes.chunks_exact(BLOCK);
    let rest = blocks.remainder();
    for block in blocks {
        mix(&mut h, block);
    }
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    #[allow(clippy::cast_possible_truncation, reason = "less than a block")]
    {
        last[BLOCK - 1] = rest.len() as u8;
    }
    for (index, word) in h.iter_mut().enumerate() {
        *word = word.wrapping_add(word64(&last, 8 * index));
    }
    for _ in 0..3 {
        finish(&mut h);
    }
    [h[0], h[1]]
}

fn mix(h: &mut [u64; WORDS], block: &[u8]) {
    const TURNS: [u32; WORDS] = [11, 32, 43, 31, 17, 28, 39, 57, 55, 54, 22, 46];
    for (i, turn) in TURNS.into_iter().enumerate() {
        h[i] = h[i].wrapping_add(word64(block, 8 * i));
        h[(i + 2) % WORDS] ^= h[(i + 10) % WORDS];
        h[(i + 11) % WORDS] ^= h[i];
        h[i] = h[i].rotate_left(turn);
        h[(i + 11) % WORDS] = h[(i + 11) % WORDS].wrapping_add(h[(i + 1) % WORDS]);
    }
}

fn finish(h: &mut [u64; WORDS]) {
    const TURNS: [u32; WORDS] = [44, 15, 34, 21, 38, 33, 10, 13, 38, 53, 42, 54];
    for (i, turn) in TURNS.into_iter().enumerate() {
        let (before, next, after) = ((i + 11) % WORDS, (i + 1) % WORDS, (i + 2) % WORDS);
        h[before] = h[before].wrapping_add(h[next]);
        h[after] ^= h[before];
        h[next] = h[next].rotate_left(turn);
    }
}

fn short(bytes: &[u8], seeds: [u64; 2]) -> [u64; 2] {
    let mut h = [seeds[0], seeds[1], CONSTANT, CONSTANT];
    let add = |h: &mut [u64; 4], index: usize, value: u64| h[index] = h[index].wrapping_add(value);
    let mut rest = bytes;
    while rest.len() >= 32 {
        add(&mut h, 2, word64(rest, 0));
        add(&mut h, 3, word64(rest, 8));
        short_mix(&mut h);
        add(&mut h, 0, word64(rest, 16));
        add(&mut h, 1, word64(rest, 24));
        rest = &rest[32..];
    }
    if rest.len() >= 16 {
        add(&mut h, 2, word64(rest, 0));
        add(&mut h, 3, word64(rest, 8));
        short_mix(&mut h);
        rest = &rest[16..];
    }
    add(&mut h, 3, (bytes.len() as u64) << 56);
    let (low, high) = match rest.len() {
        0 => (CONSTANT, CONSTANT),
        1..=7 => (tail64(rest), 0),
        8..=11 => (word64(rest, 0), tail64(&rest[8..])),
        _ => (word64(rest, 0), u64::from(word32(rest, 8)) | (tail64(&rest[12..]) << 32)),
    };
    add(&mut h, 2, low);
    add(&mut h, 3, high);
    short_finish(&mut h);
    [h[0], h[1]]
}

fn short_mix(h: &mut [u64; 4]) {
    const TURNS: [u32; 12] = [50, 52, 30, 41, 54, 48, 38, 37, 62, 34, 5, 36];
    for (step, turn) in TURNS.into_iter().enumerate() {
        let i = (step + 2) % 4;
        h[i] = h[i].rotate_left(turn).wrapping_add(h[(i + 1) % 4]);
        h[(i + 2) % 4] ^= h[i];
    }
}

fn short_finish(h: &mut [u64; 4]) {
    const TURNS: [u32; 11] = [15, 52, 26, 51, 28, 9, 47, 54, 32, 25, 63];
    for (step, turn) in TURNS.into_iter().enumerate() {
        let (i, before) = ((step + 3) % 4, (step + 2) % 4);
        h[i] ^= h[before];
        h[before] = h[before].rotate_left(turn);
        h[i] = h[i].wrapping_add(h[before]);
    }
}
