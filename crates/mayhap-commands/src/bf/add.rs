//! `BF.ADD`, `BF.MADD`, and the part of `BF.INSERT` that adds.

use super::create::Recipe;
use super::errors;
use super::filter::Bloom;
use crate::ask::TOGETHER;
use crate::{Created, Effect, Keyspace, Outcome, Reply};

/// `BF.ADD key item`.
pub(super) fn add<K: Keyspace>(host: &K, key: &[u8], item: &[u8]) -> Outcome {
    let found = match Found::find_or_make(host, key, || Some(Recipe::from_settings(host.settings()))) {
        Ok(found) => found,
        Err(reply) => return reply.into(),
    };
    let Some(filter) = found.filter() else { return Reply::error(errors::WRONG_TYPE).into() };
    match filter.add(host, item) {
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
    let mut answers = Vec::with_capacity(items.len());
    let mut new = [false; TOGETHER];
    for items in items.chunks(TOGETHER) {
        let new = new.get_mut(..items.len()).unwrap_or_default();
        let added = filter.add_each(host, items, new);
        if let Err((place, error)) = added {
            answers.extend_from_slice(new.get(..place).unwrap_or_default());
            let changed = answers.contains(&true);
            let replies = answers.into_iter().map(Reply::Flag).chain([error]).collect();
            return Outcome { reply: Reply::Array(replies), effect: found.effect(changed) };
        }
        answers.extend_from_slice(new);
    }
    let changed = answers.contains(&true);
    Outcome { reply: Reply::Flags(answers), effect: found.effect(changed) }
}

/// Several `BF.ADD` of one key.
pub(super) fn run<K: Keyspace>(host: &K, key: &[u8], items: &[&[u8]], replies: &mut Vec<Reply>) -> Effect {
    replies.reserve(items.len());
    let found = match Found::find_or_make(host, key, || Some(Recipe::from_settings(host.settings()))) {
        Ok(found) => found,
        Err(reply) => {
            replies.extend(items.iter().map(|_| reply.clone()));
            return Effect::None;
        }
    };
    let Some(filter) = found.filter() else {
        replies.extend(items.iter().map(|_| Reply::error(errors::WRONG_TYPE)));
        return Effect::None;
    };
    let mut changed = false;
    let mut new = [false; TOGETHER];
    for items in items.chunks(TOGETHER) {
        let new = new.get_mut(..items.len()).unwrap_or_default();
        let failed = filter.add_each(host, items, new).err();
        let answered = failed.as_ref().map_or(items.len(), |(place, _)| *place);
        let new = new.get(..answered).unwrap_or_default();
        changed |= new.contains(&true);
        replies.extend(new.iter().map(|new| Reply::Flag(*new)));
        let Some((place, reply)) = failed else { continue };
        replies.push(reply);
        // Each command stands for itself, so those after the one that failed are tried; one by one, because most will
        // fail the same way, and a batch would ask for all the others each time.
        for item in items.get(place + 1..).unwrap_or_default() {
            let added = filter.add(host, item);
            changed |= added == Ok(true);
            replies.push(added.map_or_else(|reply| reply, Reply::Flag));
        }
    }
    found.effect(changed)
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
