//! CityHash64 1.1 and FarmHash's `Fingerprint64` (Google). Farm's is the successor, promised never to change; for up
//! to 32 bytes the two agree.

use super::bytes::{word32, word64};

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K2: u64 = 0x9ae1_6a3b_2f90_404f;
const K_MUL: u64 = 0x9ddf_ea08_eb38_2d69;

/// CityHash64, version 1.1.
#[must_use]
pub fn city64(s: &[u8]) -> u64 {
    match s.len() {
        0..=16 => up_to_16(s),
        17..=32 => up_to_32(s),
        33..=64 => city_up_to_64(s),
        _ => city_long(s),
    }
}

/// `CityHash64WithSeed`.
#[must_use]
pub fn city64_with_seed(s: &[u8], seed: u64) -> u64 {
    fold_128(city64(s).wrapping_sub(K2), seed, K_MUL)
}

/// FarmHash's `Fingerprint64` (`farmhashna::Hash64`).
#[must_use]
pub fn farm_fingerprint64(s: &[u8]) -> u64 {
    match s.len() {
        0..=16 => up_to_16(s),
        17..=32 => up_to_32(s),
        33..=64 => farm_up_to_64(s),
        _ => farm_long(s),
    }
}

const fn shift_mix(value: u64) -> u64 {
    value ^ (value >> 47)
}

/// Two words to one, Murmur's way.
const fn fold_128(u: u64, v: u64, multiplier: u64) -> u64 {
    let a = shift_mix((u ^ v).wrapping_mul(multiplier));
    shift_mix((v ^ a).wrapping_mul(multiplier)).wrapping_mul(multiplier)
}

/// The multiplier depends on the length.
const fn multiplier(len: usize) -> u64 {
    K2.wrapping_add((len as u64).wrapping_mul(2))
}

fn up_to_16(s: &[u8]) -> u64 {
    let len = s.len();
    if len >= 8 {
        let mul = multiplier(len);
        let a = word64(s, 0).wrapping_add(K2);
        let b = word64(s, len - 8);
        let c = b.rotate_right(37).wrapping_mul(mul).wrapping_add(a);
        let d = a.rotate_right(25).wrapping_add(b).wrapping_mul(mul);
        return fold_128(c, d, mul);
    }
    if len >= 4 {
        let first = u64::from(word32(s, 0));
        return fold_128(
            (len as u64).wrapping_add(first << 3),
            u64::from(word32(s, len - 4)),
            multiplier(len),
        );
    }
    if len == 0 {
        return K2;
    }
    let (a, b, c) = (u64::from(s[0]), u64::from(s[len / 2]), u64::from(s[len - 1]));
    let y = a + (b << 8);
    let z = len as u64 + (c << 2);
    shift_mix(y.wrapping_mul(K2) ^ z.wrapping_mul(K0)).wrapping_mul(K2)
}

/// What both functions do with the ends of 17 to 64 bytes: the two halves of the answer for up to 32.
fn ends(s: &[u8], mul: u64) -> (u64, u64, u64) {
    let len = s.len();
    let a = word64(s, 0).wrapping_mul(K1);
    ends_of(a, word64(s, 8), word64(s, len - 8).wrapping_mul(mul), word64(s, len - 16).wrapping_mul(K2))
}

fn ends_of(a: u64, b: u64, c: u64, d: u64) -> (u64, u64, u64) {
    let first = a.wrapping_add(b).rotate_right(43).wrapping_add(c.rotate_right(30)).wrapping_add(d);
    let second = a.wrapping_add(b.wrapping_add(K2).rotate_right(18)).wrapping_add(c);
    (first, second, a)
}

fn up_to_32(s: &[u8]) -> u64 {
    let mul = multiplier(s.len());
    let (first, second, _) = ends(s, mul);
    fold_128(first, second, mul)
}

fn city_up_to_64(s: &[u8]) -> u64 {
    let len = s.len();
    let mul = multiplier(len);
    let a = word64(s, 0).wrapping_mul(K2);
    let b = word64(s, 8);
    let c = word64(s, len - 24);
    let d = word64(s, len - 32);
    let e = word64(s, 16).wrapping_mul(K2);
    let f = word64(s, 24).wrapping_mul(9);
    let g = word64(s, len - 8);
    let h = word64(s, len - 16).wrapping_mul(mul);
    let u =
        a.wrapping_add(g).rotate_right(43).wrapping_add(b.rotate_right(30).wrapping_add(c).wrapping_mul(9));
    let v = (a.wrapping_add(g) ^ d).wrapping_add(f).wrapping_add(1);
    let w = u.wrapping_add(v).wrapping_mul(mul).swap_bytes().wrapping_add(h);
    let x = e.wrapping_add(f).rotate_right(42).wrapping_add(c);
    let y = v.wrapping_add(w).wrapping_mul(mul).swap_bytes().wrapping_add(g).wrapping_mul(mul);
    let z = e.wrapping_add(f).wrapping_add(c);
    let a = x.wrapping_add(z).wrapping_mul(mul).wrapping_add(y).swap_bytes().wrapping_add(b);
    let b = shift_mix(z.wrapping_add(a).wrapping_mul(mul).wrapping_add(d).wrapping_add(h)).wrapping_mul(mul);
    b.wrapping_add(x)
}

fn farm_up_to_64(s: &[u8]) -> u64 {
    let len = s.len();
    let mul = multiplier(len);
    // As for up to 32 bytes, but for the first factor.
    let (y, second, a) = ends_of(
        word64(s, 0).wrapping_mul(K2),
        word64(s, 8),
        word64(s, len - 8).wrapping_mul(mul),
        word64(s, len - 16).wrapping_mul(K2),
    );
    let z = fold_128(y, second, mul);
    let e = word64(s, 16).wrapping_mul(mul);
    let f = word64(s, 24);
    let g = y.wrapping_add(word64(s, len - 32)).wrapping_mul(mul);
    let h = z.wrapping_add(word64(s, len - 24)).wrapping_mul(mul);
    fold_128(
        e.wrapping_add(f).rotate_right(43).wrapping_add(g.rotate_right(30)).wrapping_add(h),
        e.wrapping_add(f.wrapping_add(a).rotate_right(18)).wrapping_add(g),
        mul,
    )
}

/// The state of the loop over 64 bytes at a time, which the two functions share.
struct State {
    x: u64,
    y: u64,
    z: u64,
    v: (u64, u64),
    w: (u64, u64),
}

impl State {
    /// Takes in the 64 bytes from `at` on.
    fn round(&mut self, s: &[u8], at: usize, mul: u64, w1_times: u64, v0_times: u64) {
        let word = |offset: usize| word64(s, at + offset);
        let x = self.x.wrapping_add(self.y).wrapping_add(self.v.0).wrapping_add(word(8));
        let y = self.y.wrapping_add(self.v.1).wrapping_add(word(48));
        self.x = x.rotate_right(37).wrapping_mul(mul) ^ self.w.1.wrapping_mul(w1_times);
        self.y = y
            .rotate_right(42)
            .wrapping_mul(mul)
            .wrapping_add(self.v.0.wrapping_mul(v0_times))
            .wrapping_add(word(40));
        self.z = self.z.wrapping_add(self.w.0).rotate_right(33).wrapping_mul(mul);
        self.v = weak_32(s, at, self.v.1.wrapping_mul(mul), self.x.wrapping_add(self.w.0));
        self.w = weak_32(s, at + 32, self.z.wrapping_add(self.w.1), self.y.wrapping_add(word(16)));
        core::mem::swap(&mut self.z, &mut self.x);
    }
}

/// 32 bytes and two seeds to two words.
fn weak_32(s: &[u8], at: usize, a: u64, b: u64) -> (u64, u64) {
    let (w, x, y, z) = (word64(s, at), word64(s, at + 8), word64(s, at + 16), word64(s, at + 24));
    let a = a.wrapping_add(w);
    let b = b.wrapping_add(a).wrapping_add(z).rotate_right(21);
    let c = a;
    let a = a.wrapping_add(x).wrapping_add(y);
    (a.wrapping_add(z), b.wrapping_add(a.rotate_right(44)).wrapping_add(c))
}

fn city_long(s: &[u8]) -> u64 {
    let len = s.len();
    let x = word64(s, len - 40);
    let y = word64(s, len - 16).wrapping_add(word64(s, len - 56));
    let z = fold_128(word64(s, len - 48).wrapping_add(len as u64), word64(s, len - 24), K_MUL);
    let v = weak_32(s, len - 64, len as u64, z);
    let w = weak_32(s, len - 32, y.wrapping_add(K1), x);
    let mut state = State { x: x.wrapping_mul(K1).wrapping_add(word64(s, 0)), y, z, v, w };
    for at in (0..(len - 1) / 64).map(|block| 64 * block) {
        state.round(s, at, K1, 1, 1);
    }
    let State { x, y, z, v, w } = state;
    fold_128(
        fold_128(v.0, w.0, K_MUL).wrapping_add(shift_mix(y).wrapping_mul(K1)).wrapping_add(z),
        fold_128(v.1, w.1, K_MUL).wrapping_add(x),
        K_MUL,
    )
}

fn farm_long(s: &[u8]) -> u64 {
    const SEED: u64 = 81;
    let len = s.len();
    let y = SEED.wrapping_mul(K1).wrapping_add(113);
    let z = shift_mix(y.wrapping_mul(K2).wrapping_add(113)).wrapping_mul(K2);
    let x = SEED.wrapping_mul(K2).wrapping_add(word64(s, 0));
    let mut state = State { x, y, z, v: (0, 0), w: (0, 0) };
    for at in (0..(len - 1) / 64).map(|block| 64 * block) {
        state.round(s, at, K1, 1, 1);
    }
    let mul = K1.wrapping_add((state.z & 0xff) << 1);
    state.w.0 = state.w.0.wrapping_add(((len - 1) % 64) as u64);
    state.v.0 = state.v.0.wrapping_add(state.w.0);
    state.w.0 = state.w.0.wrapping_add(state.v.0);
    state.round(s, len - 64, mul, 9, 9);
    let State { x, y, z, v, w } = state;
    fold_128(
        fold_128(v.0, w.0, mul).wrapping_add(shift_mix(y).wrapping_mul(K0)).wrapping_add(z),
        fold_128(v.1, w.1, mul).wrapping_add(x),
        mul,
    )
}
