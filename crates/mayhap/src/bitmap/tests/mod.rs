//! Bitmaps against `BTreeSet`, at the edges of words, containers and maps, and as files.

mod boundaries;
mod files;
mod hostile;
mod model;

use std::vec::Vec;

use super::Bitmap;

/// Where something ends in one of the forms: words, blocks, containers, maps, numbers.
const EDGES: [u64; 22] = [
    0,
    1,
    62,
    63,
    64,
    65,
    511,
    512,
    4095,
    4096,
    65_535,
    65_536,
    65_537,
    (1 << 32) - 1,
    1 << 32,
    (1 << 32) + 65_536,
    (1 << 33) - 1,
    1 << 33,
    (1 << 33) + 1,
    u64::MAX - 65_536,
    u64::MAX - 1,
    u64::MAX,
];

/// A dense and a sparse bitmap of the same universe with the same numbers.
fn both(universe: u64, numbers: &[u64]) -> [Bitmap; 2] {
    let mut dense = Bitmap::dense(universe).unwrap();
    let mut sparse = Bitmap::new(universe, 1).unwrap();
    if sparse.is_dense() {
        sparse.form = super::Form::Sparse(roaring::RoaringTreemap::new());
    }
    for bitmap in [&mut dense, &mut sparse] {
        for number in numbers {
            bitmap.insert(*number).unwrap();
        }
    }
    [dense, sparse]
}

/// Numbers that look random, the same each time: splitmix64.
fn random(count: usize, mut state: u64) -> Vec<u64> {
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (0..count).map(|_| next()).collect()
}
