//! A Bloom filter of either layout.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use mayhap::formats::redisbloom::{RedisBloom, RedisHash};
use mayhap::{Digest, Growth, InsertError, SharedScalableBloom};

use super::errors;
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
    pub(super) fn add<K: Keyspace>(self, host: &K, item: &[u8]) -> Result<bool, Reply> {
        match self {
            Self::Native(filter) => filter.insert(item).map_err(|error| refusal(&error, scales(filter))),
            Self::RedisBloom(filter) => {
                let mut filter = write(filter);
                let hash = filter.hash(item);
                if filter.room() == 0 && filter.is_scaling() && !filter.contains_hash(hash) {
                    check_growth(host, &filter)?;
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
        host: &K,
        items: &[&[u8]],
        new: &mut [bool],
    ) -> Result<(), (usize, Reply)> {
        match self {
            Self::Native(filter) => {
                let mut digests = [Digest::new(0); TOGETHER];
                let added = filter.insert_hashes(hash_each(filter, items, &mut digests), new);
                added.map_err(|(place, error)| (place, refusal(&error, scales(filter))))
            }
            Self::RedisBloom(filter) => {
                let mut filter = write(filter);
                let mut hashes = [RedisHash::default(); TOGETHER];
                for (hash, item) in hashes.iter_mut().zip(items) {
                    *hash = filter.hash(*item);
                }
                let count = items.len().min(TOGETHER);
                add_to_redisbloom(host, &mut filter, hashes.get(..count).unwrap_or_default(), new)
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

/// RedisBloom's filter grows without asking; so it is asked to only where it may.
fn add_to_redisbloom<K: Keyspace>(
    host: &K,
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
            check_growth(host, filter).map_err(|reply| (place, reply))?;
        }
        let (answered, outcome) = filter.add_hashes(now, answer);
        outcome.map_err(|error| (place + answered, refusal(&error, filter.is_scaling())))?;
        (rest, answers) = (later, after);
    }
}

fn check_growth<K: Keyspace>(host: &K, filter: &RedisBloom) -> Result<(), Reply> {
    let more = filter.next_link_bytes().unwrap_or(u64::MAX);
    let limit = host.settings().filter_max_bytes();
    if more > host.room() || filter.data_bytes().saturating_add(more) > limit {
        return Err(refusal(&InsertError::Full, true));
    }
    Ok(())
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
