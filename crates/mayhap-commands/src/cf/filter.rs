//! A cuckoo filter of either layout.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use mayhap::formats::redisbloom::{Added, RedisCuckoo};
use mayhap::{Digest, InsertError};

use super::create::limits;
use super::errors;
use crate::allowance::Allowance;
use crate::ask::{Ask, TOGETHER};
use crate::{Keyspace, NativeCuckoo, Reply, Value};

/// A filter that is in use.
#[derive(Clone, Copy)]
pub(crate) enum Cuckoo<'a> {
    Native(&'a RwLock<NativeCuckoo>),
    RedisBloom(&'a RwLock<RedisCuckoo>),
}

/// What became of an item: whether it has been added (if not, it is there already), or why it couldn't be.
pub(super) type Answer = Result<bool, Refusal>;

/// Why an item couldn't be added. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// There is no room, and the filter doesn't grow.
    Full,
    /// It has grown as often as it may.
    Expansions,
    /// It may not, or can't, have the memory to grow.
    Memory,
    /// It can't keep its rate if it grows any further.
    Rate,
    /// It has as many copies of the item as it keeps.
    Copies { limit: u64 },
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Full => Self::error(errors::FULL),
            Refusal::Expansions => Self::error(errors::MAX_EXPANSIONS),
            Refusal::Memory => Self::error(errors::NO_MEMORY),
            Refusal::Rate => Self::error(errors::RATE_SPENT),
            Refusal::Copies { limit } => errors::too_many_copies(limit),
        }
    }
}

/// Which of the two ways of adding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Once more, if it is there already.
    Always,
    /// Only if it isn't.
    Unique,
}

impl Ask for Cuckoo<'_> {
    fn contains(self, item: &[u8]) -> bool {
        match self {
            Self::Native(filter) => read(filter).filter.contains(item),
            Self::RedisBloom(filter) => {
                let hash = RedisCuckoo::hash(item);
                read(filter).contains_hash(hash)
            }
        }
    }

    fn contains_each(self, items: &[&[u8]], found: &mut [bool]) {
        match self {
            Self::Native(filter) => {
                let filter = read(filter);
                let mut digests = [Digest::new(0); TOGETHER];
                filter.filter.contains_hashes(filter.hash_each(items, &mut digests), found);
            }
            Self::RedisBloom(filter) => {
                let mut hashes = [0; TOGETHER];
                let hashes = hash_each(items, &mut hashes);
                read(filter).contains_hashes(hashes, found);
            }
        }
    }
}

impl<'a> Cuckoo<'a> {
    /// The filter, if the value is one.
    pub(crate) const fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Cuckoo(filter) => Some(Self::Native(filter)),
            Value::RedisCuckoo(filter) => Some(Self::RedisBloom(filter)),
            _ => None,
        }
    }

    /// How many copies of an item there are.
    pub(super) fn count(self, item: &[u8]) -> u64 {
        match self {
            Self::Native(filter) => read(filter).filter.count(item),
            Self::RedisBloom(filter) => read(filter).count(item),
        }
    }

    /// Adds one item.
    pub(super) fn add<K: Keyspace>(self, allowance: &Allowance<'_, K>, item: &[u8], mode: Mode) -> Answer {
        match self {
            Self::Native(filter) => {
                let mut filter = write(filter);
                filter.set_limit(allowance);
                filter.add(item, mode)
            }
            Self::RedisBloom(filter) => {
                let hash = RedisCuckoo::hash(item);
                add_to_redisbloom(&mut write_limited(allowance, filter), hash, mode)
            }
        }
    }

    /// Adds at most [`TOGETHER`] items as so many commands would, one after the other.
    pub(super) fn add_each<K: Keyspace>(
        self,
        allowance: &Allowance<'_, K>,
        items: &[&[u8]],
        mode: Mode,
        answers: &mut [Answer],
    ) {
        match self {
            Self::Native(filter) => {
                let mut filter = write(filter);
                filter.set_limit(allowance);
                filter.add_each(items, mode, answers);
            }
            Self::RedisBloom(filter) => {
                let mut hashes = [0; TOGETHER];
                let hashes = hash_each(items, &mut hashes);
                add_each_to_redisbloom(&mut write_limited(allowance, filter), hashes, mode, answers);
            }
        }
    }

    /// Adds any number of items as one command.
    ///
    /// In redisbloom layout they are added under one lock: there the limit of expansions is looked at once for all of
    /// them.
    ///
    /// # Errors
    /// When no item can be added at all, in redisbloom layout.
    pub(super) fn add_all<K: Keyspace>(
        self,
        allowance: &Allowance<'_, K>,
        items: &[&[u8]],
        mode: Mode,
    ) -> Result<Vec<Answer>, Refusal> {
        let Self::RedisBloom(filter) = self else {
            let mut answers = vec![Ok(false); items.len()];
            for (items, answers) in items.chunks(TOGETHER).zip(answers.chunks_mut(TOGETHER)) {
                self.add_each(allowance, items, mode, answers);
            }
            return Ok(answers);
        };
        let hashes: Vec<u64> = items.iter().map(|item| RedisCuckoo::hash(*item)).collect();
        let mut added = vec![Added::default(); items.len()];
        let mut filter = write_limited(allowance, filter);
        let outcome = match mode {
            Mode::Always => filter.add_hashes(&hashes, &mut added),
            Mode::Unique => filter.add_unique_hashes(&hashes, &mut added),
        };
        drop(filter);
        outcome.map_err(|error| redisbloom_refusal(&error))?;
        Ok(added.into_iter().map(answer).collect())
    }

    /// Removes one item: whether it was there.
    pub(super) fn remove(self, item: &[u8]) -> bool {
        match self {
            Self::Native(filter) => write(filter).remove(item),
            Self::RedisBloom(filter) => {
                let hash = RedisCuckoo::hash(item);
                write(filter).remove_hash(hash)
            }
        }
    }

    /// Removes at most [`TOGETHER`] items, as so many commands would.
    pub(super) fn remove_each(self, items: &[&[u8]], removed: &mut [bool]) {
        match self {
            Self::Native(filter) => write(filter).remove_each(items, removed),
            Self::RedisBloom(filter) => {
                let mut hashes = [0; TOGETHER];
                let hashes = hash_each(items, &mut hashes);
                write(filter).remove_hashes(hashes, removed);
            }
        }
    }
}

pub(super) fn read<T>(filter: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    // Nothing here panics between two halves of a change, so what a poisoned lock guards is whole.
    filter.read().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn write<T>(filter: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    filter.write().unwrap_or_else(PoisonError::into_inner)
}

/// For adding: the filter knows how far it may grow now.
fn write_limited<'a, K: Keyspace>(
    allowance: &Allowance<'_, K>,
    filter: &'a RwLock<RedisCuckoo>,
) -> RwLockWriteGuard<'a, RedisCuckoo> {
    let mut filter = write(filter);
    let limits = limits(allowance, filter.memory_bytes());
    filter.set_limits(limits);
    filter
}

fn hash_each<'h>(items: &[&[u8]], hashes: &'h mut [u64; TOGETHER]) -> &'h [u64] {
    for (hash, item) in hashes.iter_mut().zip(items) {
        *hash = RedisCuckoo::hash(*item);
    }
    hashes.get(..items.len()).unwrap_or_default()
}

fn add_to_redisbloom(filter: &mut RedisCuckoo, hash: u64, mode: Mode) -> Answer {
    let added = match mode {
        Mode::Always => filter.add_hash(hash).map(|()| true),
        Mode::Unique => filter.add_unique_hash(hash),
    };
    added.map_err(|error| redisbloom_refusal(&error))
}

/// One command looks at the limit of expansions once, so several may be added as one only if that makes no difference.
fn add_each_to_redisbloom(filter: &mut RedisCuckoo, hashes: &[u64], mode: Mode, answers: &mut [Answer]) {
    const GROUP: usize = 16;
    for (hashes, answers) in hashes.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
        // Each but the last of them might make a new sub-filter.
        let most = filter.sub_filters() + hashes.len() as u64 - 1;
        let mut added = [Added::default(); GROUP];
        let added = added.get_mut(..hashes.len()).unwrap_or_default();
        let outcome = match mode {
            _ if most >= u64::from(filter.limits().max_expansions) => Err(InsertError::Full),
            Mode::Always => filter.add_hashes(hashes, added),
            Mode::Unique => filter.add_unique_hashes(hashes, added),
        };
        for ((hash, added), place) in hashes.iter().zip(added).zip(answers) {
            *place = match outcome {
                Ok(()) => answer(*added),
                Err(_) => add_to_redisbloom(filter, *hash, mode),
            };
        }
    }
}

fn answer(added: Added) -> Answer {
    match added {
        Added::Added => Ok(true),
        Added::Present => Ok(false),
        Added::OutOfMemory => Err(Refusal::Memory),
        _ => Err(Refusal::Full),
    }
}

fn redisbloom_refusal(error: &InsertError) -> Refusal {
    match error {
        InsertError::TooManyLayers { .. } => Refusal::Expansions,
        InsertError::Alloc(_) => Refusal::Memory,
        _ => Refusal::Full,
    }
}

/// The filter of a key, for commands that answer errors when it is missing or something else.
pub(super) fn with<K: Keyspace, R>(
    host: &K,
    key: &[u8],
    then: impl FnOnce(Cuckoo<'_>) -> R,
) -> Result<R, Reply> {
    let held = host.find(key).ok_or(Reply::error(errors::NOT_FOUND))?;
    let filter = Cuckoo::of(&held).ok_or(Reply::error(errors::WRONG_TYPE))?;
    Ok(then(filter))
}
