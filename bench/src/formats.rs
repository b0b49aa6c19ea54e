//! The recipes of LevelDB, Guava and RedisBloom, against the plainest faithful implementation of each: the same bits, by
//! the book.
//!
//! Plain means what a reader of the original would write down: hash the key, then one remainder by division and one bit
//! for each position, one key after the other.

#![allow(clippy::cast_possible_truncation, reason = "what is measured fits the memory of this machine")]

mod plain;

use mayhap::Key;
use mayhap::formats::guava::{GuavaBloom, Sizing};
use mayhap::formats::leveldb::LevelDbFilter;
use mayhap::formats::redisbloom::RedisBloom;
use serde_json::{Value, json};

use crate::keys::{self, UrlArena};
use crate::measure::{Times, cpu_time};
use crate::report::{self, Report};
use crate::{Failure, Settings};

/// The rate the filters are made for.
const RATE: f64 = 0.01;
/// LevelDB plans by bits per key.
const BITS_PER_KEY: u32 = 10;

// The three ways of asking.
const PLAIN: usize = 0;
const CALLS: usize = 1;
const BATCHES: usize = 2;

/// What can be asked: integers of eight bytes, and URLs.
trait Question: Key + AsRef<[u8]> + Copy {}

impl Question for [u8; 8] {}
impl Question for &str {}

/// A filter of either side.
trait Filter: Sized {
    fn insert(&mut self, key: impl Question);
    fn contains(&self, key: impl Question) -> bool;
    /// How many of the keys are found, asked all at once.
    fn count(&self, keys: &[impl Question]) -> usize;
    /// The bits as little-endian bytes, to show that both sides have the same.
    fn bits(&self) -> Result<Vec<u8>, Failure>;
}

/// Fills both sides and asks both; a table for each kind of key.
pub(crate) fn run(n: usize, settings: &Settings) -> Result<Vec<Report>, Failure> {
    eprintln!("formats, {} keys: making them", report::count(n));
    let questions = settings.questions.unwrap_or(250_000);
    let rounds = settings.rounds_of(n);
    // Keys are written out in the order in which they are asked: fetching the key is not what is compared.
    let integers = |numbers: &mut dyn Iterator<Item = u64>| -> Vec<[u8; 8]> {
        keys::integers(numbers).into_iter().map(u64::to_le_bytes).collect()
    };
    let inserted = integers(&mut keys::present(0, n));
    let hits = integers(&mut keys::asked(0, n, questions));
    let misses = integers(&mut keys::absent(questions));
    let of_integers =
        run_keys("integers", Keys { inserted: &inserted, hits: &hits, misses: &misses, rounds })?;

    let arenas = [
        UrlArena::of(keys::present(0, n)),
        UrlArena::of(keys::asked(0, n, questions)),
        UrlArena::of(keys::absent(questions)),
    ];
    let [inserted, hits, misses] = [0, 1, 2].map(|arena: usize| arenas[arena].urls());
    let of_urls = run_keys("URLs", Keys { inserted: &inserted, hits: &hits, misses: &misses, rounds })?;
    Ok(vec![of_integers, of_urls])
}

fn run_keys<K: Question>(kind: &str, keys: Keys<'_, K>) -> Result<Report, Failure> {
    let n = keys.inserted.len();
    let mut rows = Vec::new();
    let mut samples = Vec::new();
    let leveldb = LevelDbFilter::new(n as u64, BITS_PER_KEY)?;
    compare("LevelDB", keys, plain::LevelDb::new(n), leveldb, &mut rows, &mut samples)?;
    let guava = GuavaBloom::with_rate(n as u64, RATE, Sizing::Guava31)?;
    let plain = plain::Guava::new(guava.bits(), guava.hashes());
    compare("Guava, MITZ_64", keys, plain, guava, &mut rows, &mut samples)?;
    let redis = RedisBloom::reserve(RATE, n as u64, 2, false)?;
    let link = redis.links().next().ok_or("a chain has a link")?;
    let plain = plain::Redis::new(link.bits, link.hashes);
    compare("RedisBloom", keys, plain, redis, &mut rows, &mut samples)?;
    Ok(Report {
        title: format!("formats: {} {kind}", report::count(n)),
        header: vec!["recipe", "asked", "plain ns", "one by one", "", "batches", ""],
        rows,
        notes: vec![format!(
            "CPU time of a question, medians of {} interleaved rounds of {} questions; ratios within a round. The \
             bits of both sides are compared, and equal. Target: 1.5x.",
            keys.rounds,
            report::count(keys.hits.len())
        )],
        json: json!({"cell": "formats", "keys": n, "kind": kind, "samples": samples}),
    })
}

struct Keys<'a, K> {
    inserted: &'a [K],
    hits: &'a [K],
    misses: &'a [K],
    rounds: usize,
}

impl<K> Clone for Keys<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Keys<'_, K> {}

fn compare<K: Question, P: Filter, O: Filter>(
    name: &str,
    keys: Keys<'_, K>,
    mut plain: P,
    mut ours: O,
    rows: &mut Vec<Vec<String>>,
    samples: &mut Vec<Value>,
) -> Result<(), Failure> {
    for key in keys.inserted {
        plain.insert(*key);
        ours.insert(*key);
    }
    if plain.bits()? != ours.bits()? {
        return Err(format!("{name}: the bits differ").into());
    }
    for (asked, questions) in [("hits", keys.hits), ("misses", keys.misses)] {
        let mut rounds = Vec::new();
        let mut found = [0; 3];
        for _ in 0..keys.rounds {
            let mut times = [0.0; 3];
            for (way, per_question) in times.iter_mut().enumerate() {
                let (count, time) = cpu_time(|| match way {
                    PLAIN => one_by_one(&plain, questions),
                    CALLS => one_by_one(&ours, questions),
                    _ => ours.count(questions),
                });
                found[way] = count;
                *per_question = time as f64 / questions.len() as f64;
            }
            rounds.push(times);
        }
        let times = Times::of_rounds(rounds.iter().copied());
        if found != [found[0]; 3] || (asked == "hits" && found[0] != questions.len()) {
            return Err(format!("{name}: the answers differ: {found:?} of {}", questions.len()).into());
        }
        let [by_the_book, calls, batches] = times.medians().map(report::nanoseconds);
        rows.push(vec![
            name.to_owned(),
            asked.to_owned(),
            by_the_book,
            calls,
            report::ratio(times.cost_ratio(PLAIN, CALLS)),
            batches,
            report::ratio(times.cost_ratio(PLAIN, BATCHES)),
        ]);
        samples.push(json!({"recipe": name, "asked": asked, "plain_calls_batches_ns": rounds}));
    }
    Ok(())
}

#[inline(never)]
fn one_by_one(filter: &impl Filter, keys: &[impl Question]) -> usize {
    keys.iter().filter(|key| filter.contains(**key)).count()
}

/// Gives one of ours the trait.
macro_rules! ours {
    ($type:ty, $insert:ident, |$filter:ident| $bits:expr) => {
        impl Filter for $type {
            fn insert(&mut self, key: impl Question) {
                let _ = Self::$insert(self, &key);
            }
            #[inline]
            fn contains(&self, key: impl Question) -> bool {
                Self::contains(self, &key)
            }
            fn count(&self, keys: &[impl Question]) -> usize {
                let mut found = [false; 512];
                let chunks = keys.chunks(found.len());
                chunks
                    .map(|keys| {
                        let found = &mut found[..keys.len()];
                        self.contains_each(keys, found);
                        found.iter().filter(|found| **found).count()
                    })
                    .sum()
            }
            fn bits(&self) -> Result<Vec<u8>, Failure> {
                let $filter = self;
                $bits
            }
        }
    };
}

ours!(LevelDbFilter, insert, |filter| Ok(filter.to_bytes()?));
ours!(GuavaBloom, insert, |filter| Ok(filter.to_bytes()?[6..].to_vec()));
ours!(RedisBloom, add, |filter| {
    // The header comes first, then the bits.
    let chunks = filter.chunks().skip(1);
    Ok(chunks.map(|chunk| Ok(chunk?.bytes.into_owned())).collect::<Result<Vec<_>, Failure>>()?.concat())
});
