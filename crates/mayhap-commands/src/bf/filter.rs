//! A Bloom filter of either layout.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use mayhap::formats::redisbloom::{RedisBloom, RedisHash};
use mayhap::{Digest, Growth, InsertError, SharedScalableBloom};

use super::create::TIGHTENING;
use super::errors;
use crate::allowance::Allowance;
use crate::ask::{Ask, TOGETHER};
use crate::{Keyspace, Reply, Value};

/// A filter that is in use.
#[derive(Clone, Copy)]
pub(crate) enum Bloom<'a> {
    Native(&'a SharedScalableBloom),
    RedisBloom(&'a RwLock<RedisBloom>),
}

impl Ask for Bloom<'_> {
    fn contains(self, item: &[u8]) -> bool {
        match self {
            Self::Native(filter) => filter.contains(item),
            Self::RedisBloom(filter) => read(filter).contains(item),
        }
    }

    fn contains_each(self, items: &[&[u8]], found: &mut [bool]) {
        match self {
            Self::Native(filter) => {
                let mut digests = [Digest::new(0); TOGETHER];
                filter.contains_hashes(hash_each(filter, items, &mut digests), found);
            }
            Self::RedisBloom(filter) => read(filter).contains_each(items, found),
        }
    }
}

impl<'a> Bloom<'a> {
    /// The filter, if the value is one.
    pub(crate) const fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Bloom(filter) => Some(Self::Native(filter)),
            Value::RedisBloom(filter) => Some(Self::RedisBloom(filter)),
            _ => None,
        }
    }

    /// Adds one item: whether it was new.
    ///
    /// # Errors
    /// When there is no room for it: what the client is answered.
    pub(super) fn add<K: Keyspace>(self, allowance: &Allowance<'_, K>, item: &[u8]) -> Result<bool, Reply> {
        match self {
            Self::Native(filter) => {
                let digest = filter.hash(item);
                loop {
                    match filter.insert_hash(digest) {
                        Err(error) if may_grow(allowance, filter, &error) => {}
                        added => return added.map_err(|error| refusal(&error, scales(filter))),
                    }
                }
            }
            Self::RedisBloom(filter) => {
                let mut filter = write(filter);
                let hash = filter.hash(item);
                if filter.room() == 0 && filter.is_scaling() && !filter.contains_hash(hash) {
                    check_growth(allowance, &filter)?;
                }
                filter.add_hash(hash).map_err(|error| refusal(&error, filter.is_scaling()))
            }
        }
    }

    /// Adds at most [`TOGETHER`] items, in order: `new[i]` tells whether `items[i]` was new.
    ///
    /// # Errors
    /// When an item found no room: its place, and what the client is answered for it. Those before it are in the
    /// filter, those after it are not.
    pub(super) fn add_each<K: Keyspace>(
        self,
        allowance: &Allowance<'_, K>,
        items: &[&[u8]],
        new: &mut [bool],
    ) -> Result<(), (usize, Reply)> {
        match self {
            Self::Native(filter) => {
                let mut digests = [Digest::new(0); TOGETHER];
                add_to_native(allowance, filter, hash_each(filter, items, &mut digests), new)
            }
            Self::RedisBloom(filter) => {
                let mut filter = write(filter);
                let mut hashes = [RedisHash::default(); TOGETHER];
                for (hash, item) in hashes.iter_mut().zip(items) {
                    *hash = filter.hash(*item);
                }
                let count = items.len().min(TOGETHER);
                add_to_redisbloom(allowance, &mut filter, hashes.get(..count).unwrap_or_default(), new)
            }
        }
    }
}

pub(super) fn read(filter: &RwLock<RedisBloom>) -> RwLockReadGuard<'_, RedisBloom> {
    // Whoever panicked may have set some of an item's bits: that never makes a filter wrong.
    filter.read().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn write(filter: &RwLock<RedisBloom>) -> RwLockWriteGuard<'_, RedisBloom> {
    filter.write().unwrap_or_else(PoisonError::into_inner)
}

fn hash_each<'d>(
    filter: &SharedScalableBloom,
    items: &[&[u8]],
    digests: &'d mut [Digest; TOGETHER],
) -> &'d [Digest] {
    // Lines are asked for afterwards, many in a row, by whoever takes the digests. Between two hashes it is slower, twice
    // at 100 M keys: it seems that a request which waits for its page holds up the hashes behind it.
    for (digest, item) in digests.iter_mut().zip(items) {
        *digest = filter.hash(*item);
    }
    digests.get(..items.len()).unwrap_or_default()
}

/// After each growth it goes on where it was refused.
fn add_to_native<K: Keyspace>(
    allowance: &Allowance<'_, K>,
    filter: &SharedScalableBloom,
    digests: &[Digest],
    new: &mut [bool],
) -> Result<(), (usize, Reply)> {
    let mut from = 0;
    loop {
        let (Some(rest), Some(answers)) = (digests.get(from..), new.get_mut(from..)) else { return Ok(()) };
        let Err((place, error)) = filter.insert_hashes(rest, answers) else { return Ok(()) };
        from += place;
        if !may_grow(allowance, filter, &error) {
            return Err((from, refusal(&error, scales(filter))));
        }
    }
}

/// Whether a native filter was refused for its size alone, and may grow to it now.
#[cold]
fn may_grow<K: Keyspace>(
    allowance: &Allowance<'_, K>,
    filter: &SharedScalableBloom,
    error: &InsertError,
) -> bool {
    let InsertError::TooLarge { bytes, .. } = error else { return false };
    let may_grow = *bytes <= allowance.most_bytes(filter.len_bytes());
    if may_grow {
        filter.raise_max_bytes(*bytes);
    }
    may_grow
}

/// RedisBloom's filter grows without asking; so it is asked to only where it may.
fn add_to_redisbloom<K: Keyspace>(
    allowance: &Allowance<'_, K>,
    filter: &mut RedisBloom,
    hashes: &[RedisHash],
    new: &mut [bool],
) -> Result<(), (usize, Reply)> {
    let (mut rest, mut answers) = (hashes, new);
    loop {
        let place = hashes.len() - rest.len();
        // As many as it has room for, for these it won't grow; or else one.
        let room = usize::try_from(filter.room()).unwrap_or(usize::MAX);
        let count = rest.len().min(room.max(1));
        let (Some((now, later)), Some((answer, after))) =
            (rest.split_at_checked(count), answers.split_at_mut_checked(count))
        else {
            return Ok(());
        };
        let Some(first) = now.first() else { return Ok(()) };
        if room == 0 && filter.is_scaling() && !filter.contains_hash(*first) {
            check_growth(allowance, filter).map_err(|reply| (place, reply))?;
        }
        let (answered, outcome) = filter.add_hashes(now, answer);
        outcome.map_err(|error| (place + answered, refusal(&error, filter.is_scaling())))?;
        (rest, answers) = (later, after);
    }
}

fn check_growth<K: Keyspace>(allowance: &Allowance<'_, K>, filter: &RedisBloom) -> Result<(), Reply> {
    let (now, more) = (filter.data_bytes(), filter.next_link_bytes().unwrap_or(u64::MAX));
    if now.saturating_add(more) <= allowance.most_bytes(now) {
        return Ok(());
    }
    let next_rate = filter.links().last().map_or(0.0, |newest| newest.error * TIGHTENING);
    Err(if next_rate == 0.0 {
        Reply::error(errors::RATE_HALVED_AWAY)
    } else {
        refusal(&InsertError::Full, true)
    })
}

fn scales(filter: &SharedScalableBloom) -> bool {
    filter.growth() != Growth::Refuse
}

fn refusal(error: &InsertError, is_scaling: bool) -> Reply {
    match error {
        InsertError::Full if !is_scaling => Reply::error(errors::FULL),
        InsertError::Full | InsertError::TooLarge { .. } => Reply::error_of(format!(
            "{}: it may not grow any further; filter-max-bytes or the memory that is left is its limit",
            errors::NOT_INSERTED
        )),
        InsertError::RateSpent => Reply::error(errors::RATE_DEGRADES),
        error => Reply::error_of(format!("{}: {error}", errors::NOT_INSERTED)),
    }
}

/// The filter of a key, for commands that answer errors when it is missing or something else.
pub(super) fn with<K: Keyspace, R>(
    host: &K,
    key: &[u8],
    then: impl FnOnce(Bloom<'_>) -> R,
) -> Result<R, Reply> {
    let held = host.find(key).ok_or(Reply::error(errors::NOT_FOUND))?;
    let filter = Bloom::of(&held).ok_or(Reply::error(errors::WRONG_TYPE))?;
    Ok(then(filter))
}
