//! `BF.ADD`, `BF.MADD`, and the part of `BF.INSERT` that adds.

use super::create::Recipe;
use super::errors;
use super::filter::Bloom;
use crate::allowance::Allowance;
use crate::ask::TOGETHER;
use crate::{Created, Effect, Keyspace, Outcome, Reply};

/// `BF.ADD key item`.
pub(super) fn add<K: Keyspace>(host: &K, key: &[u8], item: &[u8]) -> Outcome {
    let found = match find_or_make(host, key) {
        Ok(found) => found,
        Err(reply) => return reply.into(),
    };
    let Some(filter) = found.filter() else { return Reply::error(errors::WRONG_TYPE).into() };
    match filter.add(&Allowance::new(host), item) {
        Ok(new) => Outcome { reply: Reply::Flag(new), effect: found.effect(new) },
        Err(reply) => Outcome { reply, effect: found.effect(false) },
    }
}

/// `BF.MADD key item...`.
pub(super) fn add_many<K: Keyspace>(host: &K, key: &[u8], items: &[&[u8]]) -> Outcome {
    add_or_make(host, key, items, || Some(Recipe::from_settings(host.settings())))
}

/// Adds items to the filter of a key, or to the one that is made if there is none. The answers end with the first item
/// that found no room: it and those after it are not in the filter, those before it are.
pub(super) fn add_or_make<K: Keyspace>(
    host: &K,
    key: &[u8],
    items: &[&[u8]],
    recipe: impl FnOnce() -> Option<Recipe>,
) -> Outcome {
    let found = match Found::find_or_make(host, key, recipe) {
        Ok(found) => found,
        Err(reply) => return reply.into(),
    };
    let Some(filter) = found.filter() else { return Reply::error(errors::WRONG_TYPE).into() };
    let mut replies = Vec::with_capacity(1);
    let changed = add_each_command(filter, host, items, &[items.len()], &mut replies);
    let reply = replies.pop().unwrap_or(Reply::Flags(Vec::new()));
    Outcome { reply, effect: found.effect(changed) }
}

/// Several `BF.ADD` of one key.
pub(crate) fn run<K: Keyspace>(host: &K, key: &[u8], items: &[&[u8]], replies: &mut Vec<Reply>) -> Effect {
    replies.reserve(items.len());
    let found = match find_or_make(host, key) {
        Ok(found) => found,
        Err(reply) => return refuse(reply, items.len(), replies),
    };
    let Some(filter) = found.filter() else {
        return refuse(Reply::error(errors::WRONG_TYPE), items.len(), replies);
    };
    let allowance = Allowance::new(host);
    let mut changed = false;
    let mut new = [false; TOGETHER];
    for items in items.chunks(TOGETHER) {
        let new = new.get_mut(..items.len()).unwrap_or_default();
        let failed = filter.add_each(&allowance, items, new).err();
        let answered = failed.as_ref().map_or(items.len(), |(place, _)| *place);
        let new = new.get(..answered).unwrap_or_default();
        changed |= new.contains(&true);
        replies.extend(new.iter().map(|new| Reply::Flag(*new)));
        let Some((place, reply)) = failed else { continue };
        replies.push(reply);
        // Each command stands for itself, so those after the one that failed are tried; one by one, because most will
        // fail the same way, and a batch would ask for all the others each time.
        for item in items.get(place + 1..).unwrap_or_default() {
            let added = filter.add(&allowance, item);
            changed |= added == Ok(true);
            replies.push(added.map_or_else(|reply| reply, Reply::Flag));
        }
    }
    found.effect(changed)
}

/// Several `BF.MADD` of one key, each of as many items as `counts` says.
pub(crate) fn run_many<K: Keyspace>(
    host: &K,
    key: &[u8],
    items: &[&[u8]],
    counts: &[usize],
    replies: &mut Vec<Reply>,
) -> Effect {
    let found = match find_or_make(host, key) {
        Ok(found) => found,
        Err(reply) => return refuse(reply, counts.len(), replies),
    };
    let Some(filter) = found.filter() else {
        return refuse(Reply::error(errors::WRONG_TYPE), counts.len(), replies);
    };
    found.effect(add_each_command(filter, host, items, counts, replies))
}

/// Adds the items of commands that have as many as `counts` says, and pushes a reply for each: its answers end with the
/// first item that found no room; it and those after it are not in the filter, those before it are. Returns whether any
/// item was new.
fn add_each_command<K: Keyspace>(
    filter: Bloom<'_>,
    host: &K,
    items: &[&[u8]],
    counts: &[usize],
    replies: &mut Vec<Reply>,
) -> bool {
    let end_of_command = |place: usize| {
        let mut ends = counts.iter().scan(0, |end, count| {
            *end += count;
            Some(*end)
        });
        ends.find(|end| *end > place).unwrap_or(items.len())
    };
    let allowance = Allowance::new(host);
    let mut new = vec![false; items.len()];
    let mut failed = Vec::new();
    let mut from = 0;
    while from < items.len() {
        // After a failure each command is tried by itself, because most will fail the same way.
        let end = if failed.is_empty() { items.len() } else { end_of_command(from) };
        let to = end.min(from + TOGETHER);
        let (Some(now), Some(answers)) = (items.get(from..to), new.get_mut(from..to)) else { break };
        match filter.add_each(&allowance, now, answers) {
            Ok(()) => from = to,
            Err((place, reply)) => {
                failed.push((from + place, reply));
                from = end_of_command(from + place);
            }
        }
    }

    let mut failed = failed.into_iter().peekable();
    let (mut start, mut changed) = (0, false);
    for count in counts {
        let end = start + count;
        let failure = failed.next_if(|(place, _)| *place < end);
        let answered = failure.as_ref().map_or(end, |(place, _)| *place);
        let answers = new.get(start..answered).unwrap_or_default();
        changed |= answers.contains(&true);
        replies.push(match failure {
            None => Reply::Flags(answers.to_vec()),
            Some((_, error)) => {
                Reply::Array(answers.iter().copied().map(Reply::Flag).chain([error]).collect())
            }
        });
        start = end;
    }
    changed
}

fn refuse(reply: Reply, commands: usize, replies: &mut Vec<Reply>) -> Effect {
    replies.extend(std::iter::repeat_n(reply, commands));
    Effect::None
}

/// The value of a key, or the filter that the settings say.
fn find_or_make<K: Keyspace>(host: &K, key: &[u8]) -> Result<Found<K::Held>, Reply> {
    Found::find_or_make(host, key, || Some(Recipe::from_settings(host.settings())))
}

/// The value of a key, whatever it is, and whether we put it there.
struct Found<H> {
    held: H,
    is_new: bool,
}

impl<H: std::ops::Deref<Target = crate::Value>> Found<H> {
    /// Of two who make the filter at the same time, both get the one that came first.
    fn find_or_make<K: Keyspace<Held = H>>(
        host: &K,
        key: &[u8],
        recipe: impl FnOnce() -> Option<Recipe>,
    ) -> Result<Self, Reply> {
        if let Some(held) = host.find(key) {
            return Ok(Self { held, is_new: false });
        }
        let recipe = recipe().ok_or(Reply::error(errors::NOT_FOUND))?;
        match host.create(key, recipe.make(host)?) {
            Ok(Created::New(held)) => Ok(Self { held, is_new: true }),
            Ok(Created::Found(held)) => Ok(Self { held, is_new: false }),
            Err(_) => Err(Reply::error(errors::NO_MEMORY)),
        }
    }

    fn filter(&self) -> Option<Bloom<'_>> {
        Bloom::of(&self.held)
    }

    const fn effect(&self, changed: bool) -> Effect {
        match (self.is_new, changed) {
            (true, _) => Effect::Created,
            (false, true) => Effect::Changed,
            (false, false) => Effect::None,
        }
    }
}
