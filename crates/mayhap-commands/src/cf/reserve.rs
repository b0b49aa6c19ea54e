//! `CF.RESERVE key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n] [ERROR rate]`.
//!
//! `ERROR` is ours, and for native filters. In redisbloom layout it is one of the pairs of words that RedisBloom doesn't
//! know and doesn't mind.

use mayhap::formats::redisbloom::RedisCuckoo;

use super::create::Recipe;
use super::errors;
use super::filter::Cuckoo;
use crate::settings::{Layout, Settings};
use crate::spec::CommandId;
use crate::words::{double, integer, is};
use crate::{Created, Keyspace, Outcome, Reply, Value};

/// Makes an empty filter.
pub(super) fn reserve<K: Keyspace>(host: &K, key: &[u8], words: &[&[u8]]) -> Outcome {
    if words.len().is_multiple_of(2) {
        return super::wrong_arity(CommandId::CfReserve).into();
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

/// Why a filter can't be made where this is.
pub(super) fn exists(value: &Value) -> &'static str {
    if Cuckoo::of(value).is_some() { errors::ITEM_EXISTS } else { errors::WRONG_TYPE }
}

/// RedisBloom looks for its options among *all* words, the key included, in this order, and leaves words that nobody
/// asked for alone.
fn parse(words: &[&[u8]], settings: &Settings) -> Result<Recipe, &'static str> {
    let defaults = Recipe::from_settings(settings);
    let capacity = words.get(2).and_then(|word| integer(word)).ok_or(errors::BAD_CAPACITY)?;
    let option = |name, default, least, most, unreadable, range| {
        let Some(place) = words.iter().position(|word| is(word, name)) else { return Ok(default) };
        let number = words.get(place + 1).and_then(|word| integer(word)).ok_or(unreadable)?;
        u64::try_from(number).ok().filter(|number| (least..=most).contains(number)).ok_or(range)
    };
    let max_iterations = option(
        "MAXITERATIONS",
        defaults.max_iterations,
        1,
        RedisCuckoo::MAX_MAX_ITERATIONS,
        errors::BAD_ITERATIONS,
        errors::ITERATIONS_RANGE,
    )?;
    let bucket_size = option(
        "BUCKETSIZE",
        defaults.bucket_size,
        1,
        RedisCuckoo::MAX_BUCKET_SIZE,
        errors::BAD_BUCKET_SIZE,
        errors::BUCKET_SIZE_RANGE,
    )?;
    let expansion = option(
        "EXPANSION",
        defaults.expansion,
        0,
        RedisCuckoo::MAX_EXPANSION,
        errors::BAD_EXPANSION,
        errors::EXPANSION_RANGE,
    )?;
    let capacity = capacity_in_range(capacity, bucket_size).ok_or(errors::RESERVE_CAPACITY_RANGE)?;
    let rate = match settings.cf_layout() {
        Layout::Native => rate(words.get(3..).unwrap_or_default(), defaults.rate)?,
        Layout::RedisBloom => defaults.rate,
    };
    Ok(Recipe { capacity, bucket_size, max_iterations, expansion, rate })
}

fn rate(options: &[&[u8]], default: f64) -> Result<f64, &'static str> {
    let Some(place) = options.iter().position(|word| is(word, "ERROR")) else { return Ok(default) };
    let rate = options.get(place + 1).and_then(|word| double(word)).ok_or(errors::BAD_RATE)?;
    if rate > 0.0 && rate < 1.0 { Ok(rate) } else { Err(errors::RATE_RANGE) }
}

/// Two buckets must have room for what is reserved.
pub(super) fn capacity_in_range(capacity: i64, bucket_size: u64) -> Option<u64> {
    let least = bucket_size.saturating_mul(2);
    u64::try_from(capacity).ok().filter(|capacity| (least..=RedisCuckoo::MAX_CAPACITY).contains(capacity))
}
