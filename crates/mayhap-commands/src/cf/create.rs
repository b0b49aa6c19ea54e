//! What a new filter is to be, and making it.

use std::cell::Cell;
use std::sync::RwLock;

use mayhap::cuckoo::{CuckooLayout, ScalableCuckooBuilder};
use mayhap::formats::redisbloom::{CuckooLimits, RedisCuckoo};
use mayhap::sizing::SizingError;
use mayhap::{Error, ScalableCuckoo};

use super::errors;
use crate::allowance::Allowance;
use crate::settings::{Layout, Settings};
use crate::{Created, Keyspace, NativeCuckoo, Reply, Value};

/// A filter on paper. All numbers are in the ranges that RedisBloom has for them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Recipe {
    pub(super) capacity: u64,
    pub(super) bucket_size: u64,
    pub(super) max_iterations: u64,
    /// 0: it doesn't grow.
    pub(super) expansion: u64,
    /// For native filters; RedisBloom's have the rate that 8 bits give.
    pub(super) rate: f64,
}

/// The buckets that a native filter looks at for each of `MAXITERATIONS`. It searches in the breadth, so that a bucket is
/// less than a step of RedisBloom's walk, which follows one chain; with these the default of 20 fills a table as far as
/// `sizing` counts on.
const KICKS_PER_ITERATION: u64 = 16;
/// More iterations than this don't fill a native filter any further, and everybody would wait for a search that fails.
const MOST_NATIVE_ITERATIONS: u64 = 1024;
/// The buckets that one add may look at, at most: in a filter that was made here, and in one that was loaded.
pub(super) const MOST_NATIVE_KICKS: u64 = MOST_NATIVE_ITERATIONS * KICKS_PER_ITERATION;
/// A native bucket has four places unless more are asked for.
const SMALL_BUCKET: u64 = 4;
/// The most places of a native bucket.
const LARGE_BUCKET: u32 = 8;
/// The most layers of a native filter.
const MOST_LAYERS: u64 = 1024;

impl Recipe {
    /// What `CF.ADD` makes.
    pub(super) fn from_settings(settings: &Settings) -> Self {
        let bucket_size = settings.cf_bucket_size();
        Self {
            // The two are set one after the other, so neither can be refused for not suiting the other.
            capacity: settings.cf_initial_size().max(2 * bucket_size),
            bucket_size,
            max_iterations: settings.cf_max_iterations(),
            expansion: settings.cf_expansion_factor(),
            rate: settings.cf_error_rate(),
        }
    }

    /// Makes the filter, in the layout that is set, if it is within the limits.
    ///
    /// # Errors
    /// What the client is answered.
    pub(super) fn make<K: Keyspace>(&self, host: &K) -> Result<Value, Reply> {
        let max_bytes = max_bytes(host);
        match host.settings().cf_layout() {
            Layout::Native => {
                let filter = self.native(host.settings(), max_bytes).build();
                let filter = filter.map_err(|error| refusal(&error))?;
                Ok(Value::Cuckoo(RwLock::new(NativeCuckoo { filter, deleted: 0 })))
            }
            Layout::RedisBloom => {
                let Self { capacity, bucket_size, max_iterations, expansion, .. } = *self;
                // Its maker knows no limit.
                let bytes = RedisCuckoo::memory_for(capacity, bucket_size).unwrap_or(u64::MAX);
                if bytes > max_bytes {
                    return Err(errors::too_large(bytes, max_bytes));
                }
                let filter = RedisCuckoo::reserve(capacity, bucket_size, max_iterations, expansion);
                filter.map(|filter| Value::RedisCuckoo(RwLock::new(filter))).map_err(|error| refusal(&error))
            }
        }
    }

    fn native(&self, settings: &Settings, max_bytes: u64) -> ScalableCuckooBuilder {
        let layers = if self.expansion == 0 { 1 } else { settings.cf_max_expansions().min(MOST_LAYERS) };
        let kicks = self.max_iterations.saturating_mul(KICKS_PER_ITERATION).min(MOST_NATIVE_KICKS);
        let builder = ScalableCuckoo::builder()
            .keys(self.capacity)
            .rate(self.rate)
            .expansion(self.expansion.max(1))
            .max_layers(u32::try_from(layers).unwrap_or(u32::MAX))
            .max_kicks(u32::try_from(kicks).unwrap_or(u32::MAX))
            .hasher(settings.hasher.clone())
            .max_bytes(max_bytes);
        match self.native_layout(&builder, layers == 1) {
            Some(layout) => builder.layout(layout),
            // Building it says why there is none.
            None => builder,
        }
    }

    /// The layout that needs the least memory. To find it is most of the work of making a small filter, and the next one
    /// is often the same: so the last one found is remembered.
    fn native_layout(&self, builder: &ScalableCuckooBuilder, is_fixed: bool) -> Option<CuckooLayout> {
        type Question = (u64, u64, bool, bool);
        thread_local! {
            static LAST: Cell<Option<(Question, CuckooLayout)>> = const { Cell::new(None) };
        }
        let has_large_buckets = self.bucket_size > SMALL_BUCKET;
        let question = (self.capacity, self.rate.to_bits(), is_fixed, has_large_buckets);
        if let Some((_, layout)) = LAST.get().filter(|(last, _)| *last == question) {
            return Some(layout);
        }
        let layout =
            if has_large_buckets { large_buckets(builder) } else { Some(builder.plan().ok()?.layout()) }?;
        LAST.set(Some((question, layout)));
        Some(layout)
    }
}

/// As many places in a bucket as there can be, and the fingerprints that need the least memory with them.
fn large_buckets(builder: &ScalableCuckooBuilder) -> Option<CuckooLayout> {
    (CuckooLayout::MIN_BITS..=CuckooLayout::MAX_BITS)
        .filter_map(|bits| CuckooLayout::new(LARGE_BUCKET, bits))
        .filter_map(|layout| Some((builder.clone().layout(layout).plan().ok()?.bytes(), layout)))
        .min_by_key(|(bytes, _)| *bytes)
        .map(|(_, layout)| layout)
}

/// What `MAXITERATIONS` was for a native filter.
pub(super) fn native_iterations(filter: &ScalableCuckoo) -> u64 {
    u64::from(filter.max_kicks()) / KICKS_PER_ITERATION
}

/// What `EXPANSION` is for a native filter: 0 if it doesn't grow.
pub(super) fn native_expansion(filter: &ScalableCuckoo) -> u64 {
    if filter.max_layers() == 1 && filter.expansion() == 1 { 0 } else { filter.expansion() }
}

/// The value of a key, whatever it is, and whether we put it there. Of two who make a filter at the same time both get
/// the one that came first.
///
/// # Errors
/// What the client is answered when there is none and there is no recipe, or none can be made.
pub(super) fn find_or_make<K: Keyspace>(
    host: &K,
    key: &[u8],
    recipe: impl FnOnce() -> Option<Recipe>,
) -> Result<(K::Held, bool), Reply> {
    if let Some(held) = host.find(key) {
        return Ok((held, false));
    }
    let recipe = recipe().ok_or(Reply::error(errors::NOT_FOUND))?;
    match host.create(key, recipe.make(host)?) {
        Ok(Created::New(held)) => Ok((held, true)),
        Ok(Created::Found(held)) => Ok((held, false)),
        Err(_) => Err(Reply::error(errors::NO_MEMORY)),
    }
}

/// Bytes that a new filter may take.
pub(super) fn max_bytes<K: Keyspace>(host: &K) -> u64 {
    Allowance::new(host).most_bytes(0)
}

/// How far a filter of RedisBloom's which has so many bytes may grow.
pub(super) fn limits<K: Keyspace>(allowance: &Allowance<'_, K>, now: u64) -> CuckooLimits {
    let max_expansions = allowance.host.settings().cf_max_expansions();
    let max_expansions = u32::try_from(max_expansions).unwrap_or(u32::MAX);
    CuckooLimits { max_expansions, max_bytes: allowance.most_bytes(now) }
}

fn refusal(error: &Error) -> Reply {
    match error {
        Error::Sizing(SizingError::TooLarge { bytes, limit }) => errors::too_large(*bytes, *limit),
        Error::Alloc(_) => Reply::error(errors::NO_MEMORY),
        error => Reply::error_of(format!("ERR {error}")),
    }
}
