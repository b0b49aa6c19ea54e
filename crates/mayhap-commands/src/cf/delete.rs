//! `CF.DEL` and `CF.COMPACT`. Both have words of their own for a key that is missing or holds something else.

use super::errors;
use super::filter::{Cuckoo, write};
use super::native;
use crate::ask::TOGETHER;
use crate::{Effect, Keyspace, Outcome, Reply};

/// `CF.DEL key item`.
pub(super) fn delete<K: Keyspace>(host: &K, key: &[u8], item: &[u8]) -> Outcome {
    let held = host.find(key);
    let Some(filter) = held.as_deref().and_then(Cuckoo::of) else {
        return Reply::error(errors::DELETE_NOT_FOUND).into();
    };
    let removed = filter.remove(item);
    Outcome::changed(Reply::Flag(removed), removed)
}

/// Several `CF.DEL` of one key.
pub(crate) fn run<K: Keyspace>(host: &K, key: &[u8], items: &[&[u8]], replies: &mut Vec<Reply>) -> Effect {
    replies.reserve(items.len());
    let held = host.find(key);
    let Some(filter) = held.as_deref().and_then(Cuckoo::of) else {
        replies.extend(items.iter().map(|_| Reply::error(errors::DELETE_NOT_FOUND)));
        return Effect::None;
    };
    let mut changed = false;
    let mut removed = [false; TOGETHER];
    for items in items.chunks(TOGETHER) {
        let removed = removed.get_mut(..items.len()).unwrap_or_default();
        filter.remove_each(items, removed);
        changed |= removed.contains(&true);
        replies.extend(removed.iter().map(|removed| Reply::Flag(*removed)));
    }
    if changed { Effect::Changed } else { Effect::None }
}

/// `CF.COMPACT key`: moves items out of the newest layers and gives those back.
pub(super) fn compact<K: Keyspace>(host: &K, key: &[u8]) -> Outcome {
    let held = host.find(key);
    let Some(filter) = held.as_deref().and_then(Cuckoo::of) else {
        return Reply::error(errors::COMPACT_NOT_FOUND).into();
    };
    match filter {
        Cuckoo::Native(filter) => native::compact(host, filter),
        Cuckoo::RedisBloom(filter) => write(filter).compact(),
    }
    Outcome::changed(Reply::OK, true)
}
