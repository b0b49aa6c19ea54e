//! The kinds, each as its own type: what is measured is what a program that knows its filter has.

use clap::ValueEnum;
use mayhap::filter::{Filter, Insert, InsertError, Remove};
use mayhap::{
    BloomFilter, ClassicBloom, CountingBloom, CuckooFilter, DLeftCounting, Digest, DualBloom, Error,
    ScalableBloom, ScalableCuckoo, WindowBloom,
};

use super::round::{Figures, Work, run};
use crate::failure::Failure;

/// A kind that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// One cache line a question
    Bloom,
    /// The textbook's
    Classic,
    /// Grows
    Scalable,
    /// Forgets what is old
    Window,
    /// Counts and deletes, in counters of 4 bits
    Counting,
    /// Two filters, one for what was removed
    Dual,
    /// Counts and deletes, in less memory
    DLeft,
    /// Deletes
    Cuckoo,
    /// Deletes and grows
    ScalableCuckoo,
}

/// A filter that can be measured.
pub(super) trait Contestant: Insert<Hash = Digest> + Sized {
    /// Whether keys can be removed.
    const REMOVES: bool = false;

    fn make(keys: u64, rate: f64) -> Result<Self, Error>;

    /// Only called if keys can be removed.
    fn take(&mut self, _digest: Digest) -> bool {
        false
    }

    /// The same for many.
    fn take_many(&mut self, _digests: &[Digest], _removed: &mut [bool]) {}
}

/// The same expression with the type of whichever kind it is.
macro_rules! with_type {
    ($kind:expr, $filter:ident => $answer:expr) => {
        match $kind {
            Kind::Bloom => {
                type $filter = BloomFilter;
                $answer
            }
            Kind::Classic => {
                type $filter = ClassicBloom;
                $answer
            }
            Kind::Scalable => {
                type $filter = ScalableBloom;
                $answer
            }
            Kind::Window => {
                type $filter = WindowBloom;
                $answer
            }
            Kind::Counting => {
                type $filter = CountingBloom;
                $answer
            }
            Kind::Dual => {
                type $filter = Dual;
                $answer
            }
            Kind::DLeft => {
                type $filter = DLeftCounting;
                $answer
            }
            Kind::Cuckoo => {
                type $filter = CuckooFilter;
                $answer
            }
            Kind::ScalableCuckoo => {
                type $filter = ScalableCuckoo;
                $answer
            }
        }
    };
}

impl Kind {
    pub(super) const ALL: [Self; 9] = [
        Self::Bloom,
        Self::Classic,
        Self::Scalable,
        Self::Window,
        Self::Counting,
        Self::Dual,
        Self::DLeft,
        Self::Cuckoo,
        Self::ScalableCuckoo,
    ];

    /// The name of its type.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Bloom => "BloomFilter",
            Self::Classic => "ClassicBloom",
            Self::Scalable => "ScalableBloom",
            Self::Window => "WindowBloom",
            Self::Counting => "CountingBloom",
            Self::Dual => "DualBloom",
            Self::DLeft => "DLeftCounting",
            Self::Cuckoo => "CuckooFilter",
            Self::ScalableCuckoo => "ScalableCuckoo",
        }
    }

    /// What `--kinds` calls it.
    pub(super) fn word(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The memory of a key in a filter of so many.
    pub(super) fn bits_per_key(self, keys: u64, rate: f64) -> Result<f64, Failure> {
        let bytes = with_type!(self, Type => Type::make(keys, rate)?.len_bytes());
        Ok(bytes as f64 * 8.0 / keys as f64)
    }

    /// One round.
    pub(super) fn measure(self, work: Work) -> Result<Figures, Failure> {
        with_type!(self, Type => run::<Type>(self, work))
    }
}

macro_rules! contestant {
    ($($filter:ty),*) => {$(
        impl Contestant for $filter {
            fn make(keys: u64, rate: f64) -> Result<Self, Error> {
                <$filter>::with_rate(keys, rate)
            }
        }
    )*};
}

macro_rules! removing_contestant {
    ($($filter:ty),*) => {$(
        impl Contestant for $filter {
            const REMOVES: bool = true;

            fn make(keys: u64, rate: f64) -> Result<Self, Error> {
                <$filter>::with_rate(keys, rate)
            }

            fn take(&mut self, digest: Digest) -> bool {
                Remove::remove_hash(self, digest)
            }

            fn take_many(&mut self, digests: &[Digest], removed: &mut [bool]) {
                Remove::remove_hashes(self, digests, removed);
            }
        }
    )*};
}

contestant!(BloomFilter, ClassicBloom, ScalableBloom, WindowBloom);
removing_contestant!(CountingBloom, DLeftCounting, CuckooFilter, ScalableCuckoo);

/// A dual filter, which the library doesn't call a filter: its "no" isn't certain once keys were removed. Here they are
/// removed last.
#[derive(Debug)]
pub(super) struct Dual(DualBloom);

impl Filter for Dual {
    type Hash = Digest;

    fn hash_bytes(&self, key: &[u8]) -> Digest {
        self.0.hash(key)
    }

    fn contains_hash(&self, digest: Digest) -> bool {
        self.0.contains_hash(digest)
    }

    fn contains_hashes(&self, digests: &[Digest], found: &mut [bool]) {
        self.0.contains_hashes(digests, found);
    }

    fn len_bytes(&self) -> u64 {
        self.0.len_bytes()
    }
}

impl Insert for Dual {
    fn insert_hash(&mut self, digest: Digest) -> Result<bool, InsertError> {
        self.0.insert_hash(digest)
    }

    /// It has no batch of its own for digests that stops at the first refusal.
    fn insert_hashes(&mut self, digests: &[Digest], new: &mut [bool]) -> Result<(), InsertError> {
        for (digest, new) in digests.iter().zip(new) {
            *new = self.0.insert_hash(*digest)?;
        }
        Ok(())
    }
}

impl Contestant for Dual {
    const REMOVES: bool = true;

    fn make(keys: u64, rate: f64) -> Result<Self, Error> {
        DualBloom::with_rate(keys, rate).map(Self)
    }

    fn take(&mut self, digest: Digest) -> bool {
        self.0.remove_hash(digest)
    }

    fn take_many(&mut self, digests: &[Digest], removed: &mut [bool]) {
        self.0.remove_hashes(digests, removed);
    }
}
