//! Bob Jenkins's functions: one-at-a-time, and lookup3.

use super::bytes::{tail64, word32};

/// One-at-a-time, 32 bits. The original starts at 0.
#[must_use]
pub fn one_at_a_time(bytes: &[u8], seed: u32) -> u32 {
    let mut hash = bytes.iter().fold(seed, |hash, &byte| {
        let hash = hash.wrapping_add(u32::from(byte));
        let hash = hash.wrapping_add(hash << 10);
        hash ^ (hash >> 6)
    });
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// lookup3's `hashlittle2`: two 32-bit hashes, `c` (that of `hashlittle`, the better one) and `b`, from two start
/// values.
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "the function takes the length modulo 2^32")]
pub fn lookup3(bytes: &[u8], start_c: u32, start_b: u32) -> [u32; 2] {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32).wrapping_add(start_c);
    let (mut a, mut b, mut c) = (start, start, start.wrapping_add(start_b));
    let mut rest = bytes;
    while rest.len() > 12 {
        a = a.wrapping_add(word32(rest, 0));
        b = b.wrapping_add(word32(rest, 4));
        c = c.wrapping_add(word32(rest, 8));
        (a, b, c) = mix(a, b, c);
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return [c, b];
    }
    let part = |index: usize| {
        let from = (4 * index).min(rest.len());
        tail64(&rest[from..(from + 4).min(rest.len())]) as u32
    };
    let (_, b, c) = finish(a.wrapping_add(part(0)), b.wrapping_add(part(1)), c.wrapping_add(part(2)));
    [c, b]
}

const fn mix(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    a = a.wrapping_sub(c) ^ c.rotate_left(4);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(6);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(8);
    b = b.wrapping_add(a);
    a = a.wrapping_sub(c) ^ c.rotate_left(16);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(19);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(4);
    b = b.wrapping_add(a);
    (a, b, c)
}

const fn finish(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    c = (c ^ b).wrapping_sub(b.rotate_left(24));
    (a, b, c)
}
