//! `BF.EXISTS` and `BF.MEXISTS`. A key that is missing, or holds something else, has no items.

use super::filter::{Bloom, TOGETHER};
use crate::{Keyspace, Reply};

/// `BF.EXISTS key item`.
pub(super) fn exists<K: Keyspace>(host: &K, key: &[u8], item: &[u8]) -> Reply {
    let held = host.find(key);
    let filter = held.as_deref().and_then(Bloom::of);
    Reply::Flag(filter.is_some_and(|filter| filter.contains(item)))
}

/// `BF.MEXISTS key item...`.
pub(super) fn exist_many<K: Keyspace>(host: &K, key: &[u8], items: &[&[u8]]) -> Reply {
    let mut all = Vec::with_capacity(items.len());
    each(host, key, items, |answers| all.extend_from_slice(answers));
    Reply::Flags(all)
}

/// Several `BF.EXISTS` of one key.
pub(super) fn run<K: Keyspace>(host: &K, key: &[u8], items: &[&[u8]], replies: &mut Vec<Reply>) {
    replies.reserve(items.len());
    each(host, key, items, |answers| replies.extend(answers.iter().map(|found| Reply::Flag(*found))));
}

/// Hands out the answers in order, some at a time.
fn each<K: Keyspace>(host: &K, key: &[u8], items: &[&[u8]], mut hand_out: impl FnMut(&[bool])) {
    let held = host.find(key);
    let filter = held.as_deref().and_then(Bloom::of);
    let mut found = [false; TOGETHER];
    for items in items.chunks(TOGETHER) {
        let found = found.get_mut(..items.len()).unwrap_or_default();
        if let Some(filter) = filter {
            filter.contains_each(items, found);
        }
        hand_out(found);
    }
}
