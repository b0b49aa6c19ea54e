//! Remembering and forgetting, against a model that knows when each key was last seen.

use std::collections::{HashMap, VecDeque};
use std::vec;
use std::vec::Vec;

use super::{Numbers, roomy};
use crate::WindowBloom;
use crate::hash::Digest;

/// When each key was last seen, and the newest instant: the promise in plain words.
struct Model {
    window: u64,
    slots: u64,
    newest: u64,
    last_seen: HashMap<u64, u64>,
}

impl Model {
    fn new(window: u64, slots: u32) -> Self {
        Self { window, slots: u64::from(slots), newest: 0, last_seen: HashMap::new() }
    }

    fn see(&mut self, key: u64, now: u64) {
        self.newest = self.newest.max(now);
        self.last_seen.insert(key, self.newest);
    }

    /// Whether the key must be found, must not, or may be either, because it is older than the window by less than a
    /// slot.
    fn must_be_found(&self, key: u64, now: u64) -> Option<bool> {
        let Some(then) = self.last_seen.get(&key) else { return Some(false) };
        let age = u128::from(now.max(self.newest) - then);
        let (window, slots) = (u128::from(self.window), u128::from(self.slots));
        if age <= window {
            Some(true)
        } else if age * slots >= window * (slots + 1) {
            Some(false)
        } else {
            None
        }
    }

    /// The same without leave: found exactly while the slot of now is at most g after that of then.
    fn is_found(&self, key: u64, now: u64) -> bool {
        let slot = |instant: u64| u128::from(instant) * u128::from(self.slots) / u128::from(self.window);
        let now = slot(now.max(self.newest));
        self.last_seen.get(&key).is_some_and(|then| now <= slot(*then) + u128::from(self.slots))
    }

    fn check(&self, filter: &WindowBloom, key: u64, now: u64) {
        let found = filter.contains_at(&key, now);
        assert_eq!(found, self.is_found(key, now), "key {key} at {now}");
        if let Some(must) = self.must_be_found(key, now) {
            assert_eq!(found, must, "key {key} at {now}");
        }
    }
}

/// Every pair of insertions of one key and every question, for small windows, from instant 0 and up to the last one.
#[test]
fn every_small_case() {
    for window in 1..=7u64 {
        for slots in 1..=u32::try_from(window.min(4)).unwrap() {
            let empty = WindowBloom::by_time(window, slots, 10, 1e-4).unwrap();
            let end = 3 * window + 2;
            for base in [0, u64::MAX - end] {
                for first in 0..=end {
                    for second in 0..=end {
                        let mut filter = empty.clone();
                        let mut model = Model::new(window, slots);
                        let (first, second) = (base + first, base + second);
                        assert!(filter.insert_at(&7u64, first), "nothing was seen before");
                        model.see(7, first);
                        let new = filter.insert_at(&7u64, second);
                        assert_eq!(new, !model.is_found(7, second), "{first}, then {second}");
                        model.see(7, second);
                        for now in base..=base + end {
                            model.check(&filter, 7, now);
                            assert!(!filter.contains_at(&8u64, now));
                        }
                        // Moving the clock changes no answer.
                        let third = base + (first ^ second) % (end + 1);
                        filter.advance(third);
                        model.newest = model.newest.max(third);
                        for now in [base, third, base + end, u64::MAX] {
                            model.check(&filter, 7, now);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn long_histories_with_jumps_and_clocks_that_go_back() {
    for seed in 0..40 {
        let mut numbers = Numbers(seed);
        let window = [1, 2, 10, 24, 97, 3_600, 1 << 40, u64::MAX / 3][numbers.below(8) as usize];
        let slots = 1 + numbers.below(window.min(9)) as u32;
        let mut filter = roomy(window, slots);
        let mut model = Model::new(window, slots);
        // Sometimes the first instant is far from 0, sometimes the last ones are near the end of all time.
        let mut now = [0, 1_700_000_000, u64::MAX - window.saturating_mul(4)][numbers.below(3) as usize];
        for _ in 0..1_500 {
            let slot = (window / u64::from(slots)).max(1);
            now = match numbers.below(40) {
                0 => now.saturating_add(slot * numbers.below(u64::from(slots) + 3)),
                1 => now.saturating_add(window.saturating_mul(numbers.below(4))),
                2..6 => now.saturating_sub(numbers.below(window.saturating_mul(2).max(1))),
                _ => now.saturating_add(numbers.below(slot / 5 + 2)),
            };
            let key = numbers.below(50);
            match numbers.below(4) {
                0 => model.check(&filter, key, now),
                1 if numbers.below(10) == 0 => {
                    filter.advance(now);
                    model.newest = model.newest.max(now);
                }
                _ => {
                    let expected = !model.is_found(key, now);
                    assert_eq!(filter.insert_at(&key, now), expected);
                    model.see(key, now);
                }
            }
            let asked = numbers.below(50);
            model.check(&filter, asked, now);
            model.check(&filter, asked, model.newest.saturating_add(numbers.below(window.saturating_mul(2))));
            assert_eq!(filter.contains(&asked), filter.contains_at(&asked, model.newest));
        }
    }
}

#[test]
fn by_count_the_last_insertions_are_remembered_and_no_others() {
    for window in 1..=40u64 {
        for slots in 1..=u32::try_from(window.min(6)).unwrap() {
            let mut filter =
                WindowBloom::builder().keys(window).generations(slots).rate(1e-9).seed(3).build().unwrap();
            for key in 0..4 * window + 5 {
                assert!(filter.insert_at(&key, u64::MAX - key), "whatever the time");
                let mut remembered = 0;
                for earlier in 0..=key {
                    let after = key - earlier;
                    let found = filter.contains_at(&earlier, u64::MAX);
                    assert!(found || after > window, "{after} after {earlier}: {window} in {slots}");
                    let forgotten = after * u64::from(slots) >= window * (u64::from(slots) + 1);
                    assert!(!found || !forgotten, "{after} after {earlier}: {window} in {slots}");
                    remembered += u64::from(found);
                }
                assert!(remembered >= (key + 1).min(window));
            }
            assert_eq!(filter.inserted(), Some(4 * window + 5));
        }
    }
}

#[test]
fn by_count_a_key_that_comes_again_starts_again() {
    let mut numbers = Numbers(9);
    let (window, slots) = (50u64, 4u64);
    let mut filter = WindowBloom::builder().keys(window).generations(4).rate(1e-9).seed(1).build().unwrap();
    let mut history = VecDeque::new();
    for _ in 0..3_000 {
        let key = numbers.below(120);
        let since = |key: u64, history: &VecDeque<u64>| history.iter().position(|earlier| *earlier == key);
        let new = filter.insert(&key);
        // The insertion is the next instant, so those between, and itself, are after the last time.
        match since(key, &history).map(|between| between as u64 + 1) {
            Some(after) if after <= window => assert!(!new, "{after} after the last"),
            Some(after) if after * slots >= window * (slots + 1) => assert!(new, "{after} after the last"),
            Some(_) => {}
            None => assert!(new),
        }
        history.push_front(key);
        for key in 0..120 {
            let found = filter.contains(&key);
            match since(key, &history).map(|after| after as u64) {
                Some(after) if after <= window => assert!(found),
                Some(after) if after * slots >= window * (slots + 1) => assert!(!found),
                Some(_) => {}
                None => assert!(!found),
            }
        }
    }
}

#[test]
fn a_batch_is_one_by_one() {
    let windows = || {
        let by_time = WindowBloom::builder().window(40).generations(3).keys(600).rate(0.2);
        let by_count = WindowBloom::builder().keys(700).generations(5).rate(0.2);
        [by_time.build().unwrap(), by_count.build().unwrap()]
    };
    for (mut one, mut many) in windows().into_iter().zip(windows()) {
        let mut extended = one.clone();
        let mut numbers = Numbers(2);
        for length in [0, 1, 2, 255, 256, 257, 1_000, 140, 139, 141, 3_000] {
            let now = numbers.below(200);
            let keys: Vec<u64> = (0..length).map(|_| numbers.below(1_000)).collect();
            let digests: Vec<Digest> = keys.iter().map(|key| one.hash(key)).collect();
            let mut answers = vec![false; keys.len()];
            if length % 2 == 0 {
                many.insert_each_at(&keys, now, &mut answers);
            } else {
                many.insert_hashes_at(&digests, now, &mut answers);
            }
            assert_eq!(answers, keys.iter().map(|key| one.insert_at(key, now)).collect::<Vec<_>>());
            assert!(one == many);
            extended.advance(now);
            extended.extend(keys.iter().copied());
            assert!(one.len_bytes() == extended.len_bytes() && (length == 0 || one == extended));

            let keys: Vec<u64> = (0..length).map(|_| numbers.below(2_000)).collect();
            let digests: Vec<Digest> = keys.iter().map(|key| one.hash(key)).collect();
            let later = now + numbers.below(80);
            let expected: Vec<bool> = keys.iter().map(|key| one.contains_at(key, later)).collect();
            many.contains_each_at(&keys, later, &mut answers);
            assert_eq!(answers, expected);
            many.contains_hashes_at(&digests, later, &mut answers);
            assert_eq!(answers, expected);
            many.contains_each(&keys, &mut answers);
            assert_eq!(answers, keys.iter().map(|key| one.contains(key)).collect::<Vec<_>>());
            many.contains_hashes(&digests, &mut answers);
            assert_eq!(answers, digests.iter().map(|digest| one.contains_hash(*digest)).collect::<Vec<_>>());
        }
        let mut new = [true; 2];
        many.insert_each(&["apple", "apple"], &mut new);
        assert_eq!(new, [one.insert("apple"), one.insert("apple")]);
        let digest = one.hash("pear");
        many.insert_hashes(&[digest, digest], &mut new);
        assert_eq!(new, [one.insert_hash(digest), one.insert_hash(digest)]);
        assert!(one == many);
    }
}
