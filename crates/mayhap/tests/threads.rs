//! One filter, many threads: every key is new to exactly one of them, and none is ever lost.
//!
//! How threads meet differs from run to run, so what is checked holds for every way they can. The one number
//! that varies with it, how many keys are taken for old ones by mistake, has an interval of six standard
//! deviations.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a check that panics has failed")]

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::thread;

use mayhap::bloom::Shape;
use mayhap::hash::KeyHasher;
use mayhap::sizing::{ClassicPlan, blocked, classic};
use mayhap::{BloomFilter, ClassicBloom, Digest, SharedBloomFilter, SharedClassicBloom};

/// What shared filters can do through `&self`.
trait SharedFilter: Sync {
    fn insert_hash(&self, digest: Digest) -> bool;
    fn insert_hashes(&self, digests: &[Digest], new: &mut [bool]);
    fn set_hash(&self, digest: Digest);
    fn set_hashes(&self, digests: &[Digest]);
    fn contains_hash(&self, digest: Digest) -> bool;
    fn contains_hashes(&self, digests: &[Digest], found: &mut [bool]);
    fn bytes(&self) -> Vec<u8>;
    fn modelled_rate(&self, keys: u64) -> f64;
}

macro_rules! shared_filter {
    ($filter:ty, |$this:ident, $keys:ident| $rate:expr) => {
        impl SharedFilter for $filter {
            fn insert_hash(&self, digest: Digest) -> bool {
                <$filter>::insert_hash(self, digest)
            }
            fn insert_hashes(&self, digests: &[Digest], new: &mut [bool]) {
                <$filter>::insert_hashes(self, digests, new);
            }
            fn set_hash(&self, digest: Digest) {
                <$filter>::set_hash(self, digest);
            }
            fn set_hashes(&self, digests: &[Digest]) {
                <$filter>::set_hashes(self, digests);
            }
            fn contains_hash(&self, digest: Digest) -> bool {
                <$filter>::contains_hash(self, digest)
            }
            fn contains_hashes(&self, digests: &[Digest], found: &mut [bool]) {
                <$filter>::contains_hashes(self, digests, found);
            }
            fn bytes(&self) -> Vec<u8> {
                self.to_bytes().unwrap()
            }
            fn modelled_rate(&self, $keys: u64) -> f64 {
                let $this = self;
                $rate
            }
        }
    };
}

shared_filter!(SharedBloomFilter, |filter, keys| blocked::rate(filter.shape(), keys, filter.block_count()));
shared_filter!(SharedClassicBloom, |filter, keys| classic::rate(keys, filter.bits(), filter.hashes()));

/// Every shared filter there is, empty, for `keys` keys at `rate`.
fn subjects(keys: u64, rate: f64) -> Vec<(String, Box<dyn SharedFilter>)> {
    let mut subjects: Vec<(String, Box<dyn SharedFilter>)> = Vec::new();
    for shape in Shape::ALL {
        let builder = || BloomFilter::builder().keys(keys).rate(rate).shape(shape).seed(SEED);
        subjects.push((format!("{shape:?}"), Box::new(builder().build_shared().unwrap())));
        subjects
            .push((format!("{shape:?}, portable"), Box::new(builder().portable().build_shared().unwrap())));
    }
    let plan = ClassicPlan::for_rate(keys, rate).unwrap();
    let classic = ClassicBloom::with_plan(plan, KeyHasher::xxh3(SEED)).unwrap();
    subjects.push(("classic".to_owned(), Box::new(classic.into_shared())));
    subjects
}

const SEED: u64 = 7;
const THREADS: usize = 4;

fn digests(keys: std::ops::Range<u64>) -> Vec<Digest> {
    keys.map(|key| KeyHasher::xxh3(SEED).digest(&key)).collect()
}

/// The numbers 0..count in an order of its own for each seed.
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for i in (1..count).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(i, (state % (i as u64 + 1)) as usize);
    }
    order
}

/// Threads add the same keys, each in an order of its own, half of them one by one and half in batches. How
/// often each key was called new.
fn add_everywhere(filter: &dyn SharedFilter, digests: &[Digest]) -> Vec<u8> {
    let new: Vec<AtomicU8> = digests.iter().map(|_| AtomicU8::new(0)).collect();
    let start = Barrier::new(THREADS);
    thread::scope(|scope| {
        for number in 0..THREADS {
            let (new, start) = (&new, &start);
            scope.spawn(move || {
                let order = shuffled(digests.len(), number as u64 + 1);
                start.wait();
                if number % 2 == 0 {
                    for key in order {
                        new[key].fetch_add(u8::from(filter.insert_hash(digests[key])), Ordering::Relaxed);
                    }
                } else {
                    let mut answers = [false; 300];
                    for keys in order.chunks(answers.len()) {
                        let batch: Vec<Digest> = keys.iter().map(|key| digests[*key]).collect();
                        let answers = &mut answers[..keys.len()];
                        filter.insert_hashes(&batch, answers);
                        for (key, is_new) in keys.iter().zip(&*answers) {
                            new[*key].fetch_add(u8::from(*is_new), Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    new.into_iter().map(AtomicU8::into_inner).collect()
}

fn assert_same_as_one_thread(
    name: &str,
    filter: &dyn SharedFilter,
    alone: &dyn SharedFilter,
    digests: &[Digest],
) {
    let missing = digests.iter().filter(|digest| !filter.contains_hash(**digest)).count();
    assert_eq!(missing, 0, "{name}: keys are missing");
    for digest in digests {
        alone.insert_hash(*digest);
    }
    assert!(filter.bytes() == alone.bytes(), "{name}: other bits than by one thread");
}

/// At a rate so low that no key is a false positive, each is new exactly once.
#[test]
fn every_key_is_new_to_exactly_one_thread() {
    const KEYS: u64 = 20_000;
    let digests = digests(0..KEYS);
    for ((name, filter), (_, alone)) in subjects(KEYS, 1e-9).into_iter().zip(subjects(KEYS, 1e-9)) {
        let new = add_everywhere(&*filter, &digests);
        let wrong = new.iter().filter(|times| **times != 1).count();
        assert_eq!(wrong, 0, "{name}: keys that were new to no thread, or to several");
        assert_same_as_one_thread(&name, &*filter, &*alone, &digests);
    }
}

/// At an everyday rate some keys are taken for old ones when they come: never new twice, and old as often as
/// the model says.
#[test]
fn no_key_is_new_twice_and_few_are_never_new() {
    const KEYS: u64 = 100_000;
    let digests = digests(0..KEYS);
    for ((name, filter), (_, alone)) in subjects(KEYS, 0.02).into_iter().zip(subjects(KEYS, 0.02)) {
        let new = add_everywhere(&*filter, &digests);
        let twice = new.iter().filter(|times| **times > 1).count();
        assert_eq!(twice, 0, "{name}: keys that were new to several threads");

        let never = new.iter().filter(|times| **times == 0).count() as f64;
        // The model's rate, summed over the numbers of keys at which the next one came.
        let steps = 500;
        let width = KEYS as f64 / f64::from(steps);
        let expected: f64 = (0..steps)
            .map(|step| width * filter.modelled_rate(((f64::from(step) + 0.5) * width) as u64))
            .sum();
        let z = (never - expected) / expected.sqrt();
        assert!(
            z.abs() <= 6.0,
            "{name}: {never} keys new to nobody, {expected:.1} expected: {z:.1} deviations"
        );
        assert_same_as_one_thread(&name, &*filter, &*alone, &digests);
    }
}

/// All threads in the same order, from one starting line, again and again: they meet at nearly every key.
#[test]
fn threads_that_meet_at_every_key() {
    const KEYS: u64 = 200;
    const ROUNDS: u64 = 60;
    for round in 0..ROUNDS {
        let digests = digests(round * KEYS..(round + 1) * KEYS);
        for (name, filter) in subjects(KEYS, 1e-9) {
            let start = Barrier::new(THREADS);
            let winners: usize = thread::scope(|scope| {
                let add = || {
                    start.wait();
                    digests.iter().filter(|digest| filter.insert_hash(**digest)).count()
                };
                let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(add)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).sum()
            });
            assert_eq!(winners as u64, KEYS, "{name}, round {round}: one winner for each key");
        }
    }
}

/// Writers that ask and writers that don't, on the same blocks: no bit is lost between them.
#[test]
fn setting_beside_inserting() {
    const KEYS: usize = 30_000;
    let all = digests(0..3 * KEYS as u64);
    // The first third is inserted, the last is set, the middle is both.
    let (inserted, set) = (&all[..2 * KEYS], &all[KEYS..]);
    for ((name, filter), (_, alone)) in
        subjects(3 * KEYS as u64, 1e-9).into_iter().zip(subjects(3 * KEYS as u64, 1e-9))
    {
        let new: Vec<AtomicU8> = inserted.iter().map(|_| AtomicU8::new(0)).collect();
        let start = Barrier::new(4);
        thread::scope(|scope| {
            for number in 0..2 {
                let (new, filter, start) = (&new, &filter, &start);
                scope.spawn(move || {
                    start.wait();
                    for key in shuffled(inserted.len(), number + 11) {
                        new[key].fetch_add(u8::from(filter.insert_hash(inserted[key])), Ordering::Relaxed);
                    }
                });
                scope.spawn(move || {
                    start.wait();
                    let order = shuffled(set.len(), number + 21);
                    if number == 0 {
                        order.iter().for_each(|key| filter.set_hash(set[*key]));
                    } else {
                        for keys in order.chunks(100) {
                            let batch: Vec<Digest> = keys.iter().map(|key| set[*key]).collect();
                            filter.set_hashes(&batch);
                        }
                    }
                });
            }
        });
        let new: Vec<u8> = new.into_iter().map(AtomicU8::into_inner).collect();
        let (only_inserted, both) = new.split_at(KEYS);
        assert!(only_inserted.iter().all(|times| *times == 1), "{name}: a key that was only inserted");
        assert!(both.iter().all(|times| *times <= 1), "{name}: a key that was inserted and set");
        assert_same_as_one_thread(&name, &*filter, &*alone, &all);
    }
}

/// Readers never see a key vanish: neither one whose insertion they were told of, nor one they have seen.
#[test]
fn readers_beside_writers() {
    const KEYS: usize = 40_000;
    let digests = digests(0..KEYS as u64);
    for (name, filter) in subjects(KEYS as u64, 0.01) {
        let (added, done) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            for number in 0..2 {
                let (filter, digests, added, done, name) = (&filter, &digests, &added, &done, &name);
                scope.spawn(move || {
                    let mut seen = vec![false; KEYS];
                    let mut found = vec![false; KEYS];
                    let order = shuffled(KEYS, number + 31);
                    // At least once after the end, however fast the writer was.
                    loop {
                        let last = done.load(Ordering::Acquire);
                        let told = added.load(Ordering::Acquire);
                        filter.contains_hashes(&digests[..told], &mut found[..told]);
                        assert!(
                            found[..told].iter().all(|found| *found),
                            "{name}: a key that was added isn't found"
                        );
                        for key in order.iter().take(KEYS / 8).chain([&0, &(KEYS - 1)]) {
                            let now = filter.contains_hash(digests[*key]);
                            assert!(now || !seen[*key], "{name}: a key that was seen has vanished");
                            seen[*key] = now;
                        }
                        if last {
                            break;
                        }
                    }
                });
            }
            // Any writer will do for the readers: one that asks, one that doesn't, and batches of both.
            let mut new = [false; 50];
            for (number, batch) in digests.chunks(new.len()).enumerate() {
                match number % 4 {
                    0 => batch.iter().for_each(|digest| _ = filter.insert_hash(*digest)),
                    1 => batch.iter().for_each(|digest| filter.set_hash(*digest)),
                    2 => filter.insert_hashes(batch, &mut new[..batch.len()]),
                    _ => filter.set_hashes(batch),
                }
                added.fetch_add(batch.len(), Ordering::Release);
            }
            done.store(true, Ordering::Release);
        });
        assert_eq!(added.into_inner(), KEYS);
    }
}

/// Keys, not digests: the methods that hash for the caller, and the way there and back between owner and
/// threads.
#[test]
fn keys_and_ownership() {
    let keys: Vec<String> = (0..5_000).map(|i| format!("https://example.org/page/{i}")).collect();
    macro_rules! try_it {
        ($make:expr) => {{
            let mut alone = $make;
            for key in &keys {
                alone.insert(key);
            }
            let shared = $make.into_shared();
            thread::scope(|scope| {
                scope.spawn(|| shared.insert_each(&keys[..2_000], &mut vec![false; 2_000]));
                scope.spawn(|| keys[1_000..3_000].iter().for_each(|key| _ = shared.insert(key)));
                scope.spawn(|| shared.set_each(&keys[2_500..4_500]));
                scope.spawn(|| keys[4_000..].iter().for_each(|key| shared.set(key)));
            });
            assert!(keys.iter().all(|key| shared.contains(key)));
            assert!(alone == shared);
            let mut owned = shared.into_owned();
            assert!(alone == owned);
            assert!(!owned.insert(&keys[0]) && owned.insert("another key"));
        }};
    }
    for rate in [0.1, 0.01, 1e-4, 1e-7] {
        try_it!(BloomFilter::with_rate(5_000, rate).unwrap());
        try_it!(ClassicBloom::with_rate(5_000, rate).unwrap());
    }
}
