//! `CF.ADD`, `CF.ADDNX`, `CF.INSERT` and `CF.INSERTNX`.

use super::create::{Recipe, find_or_make};
use super::errors;
use super::filter::{Answer, Cuckoo, Mode};
use super::reserve::capacity_in_range;
use crate::allowance::Allowance;
use crate::ask::TOGETHER;
use crate::spec::CommandId;
use crate::words::integer;
use crate::{Effect, Keyspace, Outcome, Reply};

/// `CF.ADD key item` and `CF.ADDNX key item`.
pub(super) fn add<K: Keyspace>(host: &K, key: &[u8], item: &[u8], mode: Mode) -> Outcome {
    let (held, is_new) = match find_or_make(host, key, || Some(Recipe::from_settings(host.settings()))) {
        Ok(found) => found,
        Err(reply) => return reply.into(),
    };
    let Some(filter) = Cuckoo::of(&held) else { return Reply::error(errors::WRONG_TYPE).into() };
    let answer = filter.add(&Allowance::new(host), item, mode);
    Outcome { reply: reply(answer), effect: effect(is_new, answer == Ok(true)) }
}

/// Several `CF.ADD` of one key.
pub(crate) fn run<K: Keyspace>(host: &K, key: &[u8], items: &[&[u8]], replies: &mut Vec<Reply>) -> Effect {
    replies.reserve(items.len());
    let mut refuse_all = |reply: &Reply| {
        replies.extend(items.iter().map(|_| reply.clone()));
        Effect::None
    };
    let (held, is_new) = match find_or_make(host, key, || Some(Recipe::from_settings(host.settings()))) {
        Ok(found) => found,
        Err(reply) => return refuse_all(&reply),
    };
    let Some(filter) = Cuckoo::of(&held) else { return refuse_all(&Reply::error(errors::WRONG_TYPE)) };
    let allowance = Allowance::new(host);
    let mut changed = false;
    let mut answers = [const { Ok(false) }; TOGETHER];
    for items in items.chunks(TOGETHER) {
        let answers = answers.get_mut(..items.len()).unwrap_or_default();
        filter.add_each(&allowance, items, Mode::Always, answers);
        changed |= answers.contains(&Ok(true));
        replies.extend(answers.iter().map(|answer| reply(*answer)));
    }
    effect(is_new, changed)
}

/// `CF.INSERT key [CAPACITY n] [NOCREATE] ITEMS item...` and `CF.INSERTNX`. An item that is refused doesn't keep the
/// others out.
pub(super) fn insert<K: Keyspace>(host: &K, key: &[u8], words: &[&[u8]], mode: Mode) -> Outcome {
    let mut recipe = Recipe::from_settings(host.settings());
    let (creates, items) = match parse(words, mode, &mut recipe) {
        Ok(parsed) => parsed,
        Err(reply) => return reply.into(),
    };
    let (held, is_new) = match find_or_make(host, key, || creates.then_some(recipe)) {
        Ok(found) => found,
        Err(reply) => return reply.into(),
    };
    let Some(filter) = Cuckoo::of(&held) else { return Reply::error(errors::WRONG_TYPE).into() };
    let answers = match filter.add_all(&Allowance::new(host), items, mode) {
        Ok(answers) => answers,
        Err(refusal) => return Outcome { reply: refusal.into(), effect: effect(is_new, false) },
    };
    let changed = answers.contains(&Ok(true));
    let reply = match mode {
        Mode::Always => Reply::Added(answers.iter().map(Result::is_ok).collect()),
        Mode::Unique => Reply::Array(answers.iter().map(|answer| Reply::Integer(number(*answer))).collect()),
    };
    Outcome { reply, effect: effect(is_new, changed) }
}

/// Whether the filter may be made, and the items. RedisBloom looks at the first letter of an option alone.
fn parse<'w, 'b>(
    words: &'w [&'b [u8]],
    mode: Mode,
    recipe: &mut Recipe,
) -> Result<(bool, &'w [&'b [u8]]), Reply> {
    let id = if mode == Mode::Always { CommandId::CfInsert } else { CommandId::CfInsertnx };
    let too_few = || super::wrong_arity(id);
    let mut creates = true;
    let mut rest = words;
    while let Some((option, after)) = rest.split_first() {
        rest = after;
        match option.first().map(u8::to_ascii_lowercase) {
            Some(b'i') if after.is_empty() => return Err(too_few()),
            Some(b'i') => return Ok((creates, after)),
            Some(b'n') => creates = false,
            Some(b'c') => {
                let (value, after) = after.split_first().ok_or_else(too_few)?;
                let capacity = integer(value).ok_or(Reply::error(errors::BAD_CAPACITY))?;
                recipe.capacity = capacity_in_range(capacity, recipe.bucket_size)
                    .ok_or(Reply::error(errors::INSERT_CAPACITY_RANGE))?;
                rest = after;
            }
            _ => return Err(Reply::error(errors::UNKNOWN_ARGUMENT)),
        }
    }
    Err(too_few())
}

fn reply(answer: Answer) -> Reply {
    answer.map_or_else(Reply::from, Reply::Flag)
}

/// As an array has it.
const fn number(answer: Answer) -> i64 {
    match answer {
        Ok(true) => 1,
        Ok(false) => 0,
        Err(_) => -1,
    }
}

const fn effect(is_new: bool, changed: bool) -> Effect {
    match (is_new, changed) {
        (true, _) => Effect::Created,
        (false, true) => Effect::Changed,
        (false, false) => Effect::None,
    }
}
