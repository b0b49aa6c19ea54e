//! `BF.RESERVE key error capacity [EXPANSION n] [NONSCALING]`.

use mayhap::formats::redisbloom::bloom::{MAX_CAPACITY, MAX_EXPANSION};

use super::create::Recipe;
use super::errors;
use super::filter::Bloom;
use crate::settings::Settings;
use crate::spec::CommandId;
use crate::words::{double, integer, is};
use crate::{Created, Keyspace, Outcome, Reply};

/// The most words, the name included.
const MOST_WORDS: usize = 7;

/// Makes an empty filter.
pub(super) fn reserve<K: Keyspace>(host: &K, key: &[u8], words: &[&[u8]]) -> Outcome {
    if words.len() > MOST_WORDS {
        return super::wrong_arity(CommandId::BfReserve).into();
    }
    let recipe = match parse(words, host.settings()) {
        Ok(recipe) => recipe,
        Err(text) => return Reply::error(text).into(),
    };
    if let Some(held) = host.find(key) {
        return Reply::error(exists(&held)).into();
    }
    let value = match recipe.make(host) {
        Ok(value) => value,
        Err(reply) => return reply.into(),
    };
    match host.create(key, value) {
        Ok(Created::New(_)) => Outcome::created(Reply::OK),
        Ok(Created::Found(held)) => Reply::error(exists(&held)).into(),
        Err(_) => Reply::error(errors::NO_MEMORY).into(),
    }
}

fn exists(value: &crate::Value) -> &'static str {
    if Bloom::of(value).is_some() { errors::ITEM_EXISTS } else { errors::WRONG_TYPE }
}

/// Options are looked for among *all* words, the key included, and words that nobody asked for are left alone: so does
/// RedisBloom.
fn parse(words: &[&[u8]], settings: &Settings) -> Result<Recipe, &'static str> {
    let word = |place: usize| words.get(place).copied().unwrap_or_default();
    let rate = double(word(2)).ok_or(errors::BAD_RATE)?;
    if !is_rate(rate) {
        return Err(errors::RATE_RANGE);
    }
    let capacity = integer(word(3)).ok_or(errors::BAD_CAPACITY)?;
    let capacity = capacity_in_range(capacity).ok_or(errors::CAPACITY_RANGE)?;
    let mut scaling = !words.iter().any(|word| is(word, "NONSCALING"));
    let usual = Recipe::from_settings(settings);
    let mut expansion = usual.expansion;
    if let Some(place) = words.iter().position(|word| is(word, "EXPANSION")) {
        let number = words.get(place + 1).ok_or(errors::NO_EXPANSION)?;
        let number = integer(number).ok_or(errors::BAD_EXPANSION)?;
        if number != 0 && !scaling {
            return Err(errors::CANNOT_EXPAND);
        }
        expansion = expansion_in_range(number).ok_or(errors::EXPANSION_RANGE)?;
        scaling &= expansion > 0;
    }
    Ok(Recipe { rate, capacity, expansion, scaling, ..usual })
}

pub(super) fn is_rate(rate: f64) -> bool {
    rate > 0.0 && rate < 1.0
}

pub(super) fn capacity_in_range(capacity: i64) -> Option<u64> {
    u64::try_from(capacity).ok().filter(|capacity| (1..=MAX_CAPACITY).contains(capacity))
}

pub(super) fn expansion_in_range(expansion: i64) -> Option<u32> {
    u32::try_from(expansion).ok().filter(|expansion| *expansion <= MAX_EXPANSION)
}
