//! Asking, which is the same for both filters: `EXISTS` and `MEXISTS`. A key that is missing, or holds something else, has
//! no items.

use crate::Reply;

/// Items that are hashed, and whose lines are fetched, together. Their hashes stand on the stack.
pub(crate) const TOGETHER: usize = 64;

/// A filter that can be asked, in either layout.
pub(crate) trait Ask: Copy {
    /// Whether the item may be there.
    fn contains(self, item: &[u8]) -> bool;
    /// Asks for at most [`TOGETHER`] items.
    fn contains_each(self, items: &[&[u8]], found: &mut [bool]);
}

/// `EXISTS key item`.
pub(crate) fn exists(filter: Option<impl Ask>, item: &[u8]) -> Reply {
    Reply::Flag(filter.is_some_and(|filter| filter.contains(item)))
}

/// `MEXISTS key item...`.
pub(crate) fn exist_many(filter: Option<impl Ask>, items: &[&[u8]]) -> Reply {
    let mut all = Vec::with_capacity(items.len());
    each(filter, items, |answers| all.extend_from_slice(answers));
    Reply::Flags(all)
}

/// Several `EXISTS` of one key.
pub(crate) fn run(filter: Option<impl Ask>, items: &[&[u8]], replies: &mut Vec<Reply>) {
    replies.reserve(items.len());
    each(filter, items, |answers| replies.extend(answers.iter().map(|found| Reply::Flag(*found))));
}

/// Several `MEXISTS` of one key, each of as many items as `counts` says.
pub(crate) fn run_many(
    filter: Option<impl Ask>,
    items: &[&[u8]],
    counts: &[usize],
    replies: &mut Vec<Reply>,
) {
    let mut all = Vec::with_capacity(items.len());
    each(filter, items, |answers| all.extend_from_slice(answers));
    let mut rest = all.as_slice();
    replies.extend(counts.iter().map(|count| {
        let (now, later) = rest.split_at(rest.len().min(*count));
        rest = later;
        Reply::Flags(now.to_vec())
    }));
}

/// Hands out the answers in order, some at a time.
fn each(filter: Option<impl Ask>, items: &[&[u8]], mut hand_out: impl FnMut(&[bool])) {
    let mut found = [false; TOGETHER];
    for items in items.chunks(TOGETHER) {
        let found = found.get_mut(..items.len()).unwrap_or_default();
        if let Some(filter) = filter {
            filter.contains_each(items, found);
        }
        hand_out(found);
    }
}
