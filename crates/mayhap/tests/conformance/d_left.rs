//! [`DLeftCounting`]: a filter that can be full.

use mayhap::sizing::d_left;
use mayhap::{DLeftCounting, ReadOptions};

use crate::keys::KeyBytes;
use crate::subject::{Hashing, Keyed, Readable, Subject};

/// Makes filters for a number of keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DLeft {
    hashing: Hashing,
    counter_bits: u32,
    /// For how many times the keys asked for: several checks go past the plan, which this filter may refuse.
    room: u64,
}

impl DLeft {
    pub(crate) const fn planned() -> Self {
        Self { hashing: Hashing::Xxh3, counter_bits: 2, room: 1 }
    }

    pub(crate) const fn hashing(self, hashing: Hashing) -> Self {
        Self { hashing, ..self }
    }

    pub(crate) const fn counter_bits(self, counter_bits: u32) -> Self {
        Self { counter_bits, ..self }
    }

    /// With room for three times the keys.
    pub(crate) const fn with_room(self) -> Self {
        Self { room: 3, ..self }
    }
}

impl Subject for DLeft {
    type Filter = DLeftCounting;

    fn maker(&self, keys: u64, rate: f64) -> impl Fn(u64) -> DLeftCounting {
        let builder =
            DLeftCounting::builder().keys(self.room * keys).rate(rate).counter_bits(self.counter_bits);
        let hashing = self.hashing;
        move |seed| builder.clone().hasher(hashing.hasher(seed)).build().unwrap()
    }

    fn modelled_rate(&self, filter: &DLeftCounting, keys: u64) -> f64 {
        d_left::rate(filter.cell(), filter.bucket_count(), keys)
    }
}

impl Readable for DLeft {
    fn read_options(&self, seed: u64) -> ReadOptions {
        self.hashing.read_options(seed)
    }
}

impl Keyed for DLeftCounting {
    fn insert(&mut self, key: &KeyBytes) -> bool {
        self.insert(key).unwrap()
    }
    fn insert_each(&mut self, keys: &[KeyBytes], new: &mut [bool]) {
        self.insert_each(keys, new).unwrap();
    }
    fn contains(&self, key: &KeyBytes) -> bool {
        self.contains(key)
    }
    fn contains_each(&self, keys: &[KeyBytes], found: &mut [bool]) {
        self.contains_each(keys, found);
    }
}
