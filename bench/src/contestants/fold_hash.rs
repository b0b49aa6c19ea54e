//! foldhash in the shapes that peers ask for.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::{FixedState, FoldHasher};

/// For crates that make a hasher from nothing (`Hasher + Default`): one fixed seed.
#[derive(Clone)]
pub(crate) struct DefaultFold(FoldHasher<'static>);

impl Default for DefaultFold {
    #[inline(always)]
    fn default() -> Self {
        Self(FixedState::default().build_hasher())
    }
}

impl Hasher for DefaultFold {
    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    #[inline(always)]
    fn write_u64(&mut self, word: u64) {
        self.0.write_u64(word);
    }

    #[inline(always)]
    fn write_usize(&mut self, word: usize) {
        self.0.write_usize(word);
    }

    #[inline(always)]
    fn finish(&self) -> u64 {
        self.0.finish()
    }
}

/// For crates that compare their hash functions (`BuildHasher + Eq`).
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SeededFold(u64);

impl SeededFold {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }
}

impl BuildHasher for SeededFold {
    type Hasher = FoldHasher<'static>;

    #[inline(always)]
    fn build_hasher(&self) -> FoldHasher<'static> {
        FixedState::with_seed(self.0).build_hasher()
    }
}

/// Two that don't follow from each other, for crates that hash a key twice. Complementary seeds would: foldhash
/// multiplies the key, exclusive-or the seed, and both products then agree up to the sign.
pub(crate) fn independent_pair(seed: u64) -> [FixedState; 2] {
    [seed, seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD6E8_FEB8_6659_FD93].map(FixedState::with_seed)
}
