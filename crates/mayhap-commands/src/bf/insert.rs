//! `BF.INSERT key [CAPACITY n] [ERROR r] [EXPANSION n] [NOCREATE] [NONSCALING] ITEMS item...`, and the options that
//! valkey-bloom adds: `SEED`, `TIGHTENING` and `VALIDATESCALETO`.
//!
//! What these mean here: `VALIDATESCALETO` is checked against the limits and the rate of either layout. A native filter
//! with a `SEED` hashes with it, in public, instead of the server's secret key: its bits are the same on every server.
//! `TIGHTENING` is the ratio between the rates of a native filter's layers, which keep `ERROR` over all of them. In
//! redisbloom layout both are part of the layout: a ratio other than 0.5, and any seed, is refused. As all options, they
//! count only if the filter has to be made.

use super::add::add_or_make;
use super::create::{Recipe, Seed, TIGHTENING};
use super::errors;
use super::reserve::{capacity_in_range, expansion_in_range, is_rate};
use crate::settings::Layout;
use crate::spec::CommandId;
use crate::words::{double, integer, is};
use crate::{Keyspace, Outcome, Reply};

/// Adds items, and makes the filter if need be.
pub(super) fn insert<K: Keyspace>(host: &K, key: &[u8], words: &[&[u8]]) -> Outcome {
    let recipe = Recipe::from_settings(host.settings());
    let options = Options { recipe, creates: true, scale_to: None };
    let (options, items) = match options.parse(words) {
        Ok(parsed) => parsed,
        Err(reply) => return reply.into(),
    };
    // Looked at twice, for otherwise the answer to options that can't be kept would depend on who is first.
    if options.creates
        && host.find(key).is_none()
        && let Err(reply) = options.check(host)
    {
        return reply.into();
    }
    add_or_make(host, key, items, || options.creates.then_some(options.recipe))
}

struct Options {
    recipe: Recipe,
    creates: bool,
    scale_to: Option<u64>,
}

impl Options {
    /// The options before `ITEMS`, and the items. RedisBloom looks at the first letters alone; valkey-bloom's words,
    /// which begin with others, must be whole.
    fn parse<'w, 'b>(mut self, words: &'w [&'b [u8]]) -> Result<(Self, &'w [&'b [u8]]), Reply> {
        let too_few = || super::wrong_arity(CommandId::BfInsert);
        let mut rest = words;
        while let Some((option, after)) = rest.split_first() {
            let letter = |place: usize| option.get(place).map(u8::to_ascii_lowercase);
            let value = || after.first().copied().ok_or_else(too_few);
            let mut taken = 1;
            match (letter(0), letter(1), letter(2)) {
                (Some(b'i'), ..) if after.is_empty() => return Err(too_few()),
                (Some(b'i'), ..) => return Ok((self, after)),
                (Some(b'e'), Some(b'r'), _) => self.recipe.rate = rate(value()?)?,
                (Some(b'e'), ..) => self.recipe.expansion = expansion(value()?)?,
                (Some(b'c'), ..) => self.recipe.capacity = capacity(value()?)?,
                (Some(b'n'), _, Some(b'c')) => (self.creates, taken) = (false, 0),
                (Some(b'n'), ..) => (self.recipe.scaling, taken) = (false, 0),
                _ if is(option, "SEED") => self.recipe.seed = Some(seed(value()?)?),
                _ if is(option, "TIGHTENING") => self.recipe.tightening = Some(tightening(value()?)?),
                _ if is(option, "VALIDATESCALETO") => self.scale_to = Some(scale_to(value()?)?),
                _ => return Err(Reply::error(errors::UNKNOWN_ARGUMENT)),
            }
            rest = after.get(taken..).unwrap_or_default();
        }
        Err(too_few())
    }

    /// Refuses what a filter made now couldn't keep.
    fn check<K: Keyspace>(&self, host: &K) -> Result<(), Reply> {
        let refused = |text| Err(Reply::error(text));
        if host.settings().bf_layout() == Layout::RedisBloom {
            if self.recipe.seed.is_some() {
                return refused(errors::SEED_REDISBLOOM);
            }
            if self.recipe.tightening.is_some_and(|ratio| ratio != TIGHTENING) {
                return refused(errors::TIGHTENING_REDISBLOOM);
            }
        }
        match self.scale_to {
            Some(_) if !self.recipe.scales() => refused(errors::SCALE_TO_WITHOUT_SCALING),
            Some(items) => self.recipe.check_scale_to(host, items),
            None => Ok(()),
        }
    }
}

fn rate(word: &[u8]) -> Result<f64, Reply> {
    double(word).filter(|rate| is_rate(*rate)).ok_or(Reply::error(errors::INSERT_BAD_RATE))
}

fn expansion(word: &[u8]) -> Result<u32, Reply> {
    integer(word).and_then(expansion_in_range).ok_or(Reply::error(errors::INSERT_BAD_EXPANSION))
}

fn capacity(word: &[u8]) -> Result<u64, Reply> {
    integer(word).and_then(capacity_in_range).ok_or(Reply::error(errors::INSERT_BAD_CAPACITY))
}

fn seed(word: &[u8]) -> Result<Seed, Reply> {
    Seed::new(word).ok_or(Reply::error(errors::BAD_SEED))
}

fn tightening(word: &[u8]) -> Result<f64, Reply> {
    let ratio = double(word).ok_or(Reply::error(errors::BAD_TIGHTENING))?;
    if is_rate(ratio) { Ok(ratio) } else { Err(Reply::error(errors::TIGHTENING_RANGE)) }
}

fn scale_to(word: &[u8]) -> Result<u64, Reply> {
    let items = integer(word).and_then(|items| u64::try_from(items).ok()).filter(|items| *items > 0);
    items.ok_or(Reply::error(errors::BAD_CAPACITY))
}
