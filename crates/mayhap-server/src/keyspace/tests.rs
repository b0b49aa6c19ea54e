//! Tests of the keyspace: what is found, shown, counted and forgotten.

use std::collections::BTreeSet;
use std::sync::{Barrier, RwLock};
use std::thread;
use std::time::Duration;

use mayhap::Bitmap;
use mayhap::hash::KeyHasher;
use mayhap_commands::{Bits, Keyspace as _, Settings, Transfers};

use super::*;
use crate::gate::Gate;

const NOW: u64 = 1_000;

fn bitmap() -> Value {
    Value::Bitmap(RwLock::new(Bits { set: Bitmap::sparse(), bytes: 0 }))
}

fn dense(bytes: u64) -> Value {
    Value::Bitmap(RwLock::new(Bits { set: Bitmap::dense(bytes * 8).unwrap(), bytes }))
}

fn put(keyspace: &Keyspace, key: impl AsRef<[u8]>) -> Arc<Entry> {
    keyspace.create(key.as_ref(), bitmap(), None, NOW).unwrap().into_held()
}

#[test]
fn a_key_is_created_once() {
    let keyspace = Keyspace::new(0);
    assert!(keyspace.find(b"a", NOW).is_none());
    let first = put(&keyspace, b"a");
    match keyspace.create(b"a", bitmap(), None, NOW).unwrap() {
        Created::Found(second) => assert!(Arc::ptr_eq(&first, &second)),
        Created::New(_) => panic!("it was there"),
    }
    assert_eq!(keyspace.len(), 1);
    assert!(keyspace.remove(b"a", NOW) && !keyspace.remove(b"a", NOW));
    assert!(keyspace.is_empty());
    assert_eq!(keyspace.used_bytes(), 0);
}

#[test]
fn of_many_who_create_one_wins() {
    for _ in 0..200 {
        let keyspace = Keyspace::new(0);
        let barrier = Barrier::new(4);
        let winners: usize = thread::scope(|scope| {
            let create = || {
                barrier.wait();
                usize::from(matches!(keyspace.create(b"a", bitmap(), None, NOW), Ok(Created::New(_))))
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(create)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((winners, keyspace.len()), (1, 1));
        keyspace.clear();
        assert_eq!(keyspace.used_bytes(), 0);
    }
}

#[test]
fn expired_keys_are_as_good_as_absent() {
    let keyspace = Keyspace::new(0);
    for number in 0..1000_u64 {
        let expires_at = (number % 2 == 0).then_some(NOW + number);
        keyspace.create(number.to_string().as_bytes(), bitmap(), expires_at, NOW).unwrap();
    }
    let entry = keyspace.find(b"10", NOW + 9).unwrap();
    assert_eq!(entry.expires_at(), Some(NOW + 10));
    assert!(keyspace.find(b"10", NOW + 10).is_none());
    let mut shown = 0;
    keyspace.for_each(NOW + 499, |_, _| shown += 1);
    assert_eq!(shown, 500 + 250);
    // One was removed when it was asked for, and one got more time.
    assert!(keyspace.set_expiry(b"20", None, NOW, |_| true));
    assert_eq!(keyspace.remove_expired(NOW + 499, || ()), 250 - 2);
    assert_eq!(keyspace.len(), 750 + 1);
    // A new one in the place of one that expired.
    assert!(matches!(keyspace.create(b"998", bitmap(), None, NOW + 998), Ok(Created::New(_))));
    keyspace.clear();
    assert_eq!(keyspace.used_bytes(), 0);
}

#[test]
fn keys_that_end_are_known() {
    let keyspace = Keyspace::new(0);
    let set = |key: &[u8], moment| keyspace.set_expiry(key, moment, NOW, |_| true);
    assert!(!set(b"a", Some(NOW + 5)), "there is none");
    put(&keyspace, b"a");
    assert!(set(b"a", Some(NOW + 5)) && keyspace.expiring() == 1);
    assert!(!keyspace.set_expiry(b"a", None, NOW, |before| before != Some(NOW + 5)), "not allowed");
    assert!(!keyspace.set_expiry(b"a", None, NOW + 5, |_| true), "it has ended");
    assert!(set(b"a", None) && keyspace.expiring() == 0);
    assert_eq!(keyspace.remove_expired(NOW + 5, || ()), 0);

    assert!(set(b"a", Some(NOW + 50)));
    keyspace.rename(b"a", b"another", true, NOW);
    assert_eq!((keyspace.remove_expired(NOW + 49, || ()), keyspace.expiring()), (0, 1));
    assert_eq!((keyspace.remove_expired(NOW + 50, || ()), keyspace.expiring()), (1, 0));
    assert!(keyspace.is_empty());

    // Counted when they come and go in another way, too.
    keyspace.create(b"b", bitmap(), Some(NOW + 9), NOW).unwrap();
    keyspace.replace(b"c", bitmap(), Some(NOW + 9), NOW).unwrap();
    assert_eq!(keyspace.expiring(), 2);
    keyspace.remove(b"b", NOW);
    keyspace.replace(b"c", bitmap(), None, NOW).unwrap();
    assert_eq!(keyspace.expiring(), 0);
    keyspace.create(b"d", bitmap(), Some(NOW + 9), NOW).unwrap();
    keyspace.rename(b"c", b"d", true, NOW);
    assert_eq!(keyspace.expiring(), 0);
    keyspace.create(b"e", bitmap(), Some(NOW + 9), NOW).unwrap();
    assert!(keyspace.find(b"e", NOW + 9).is_none() && keyspace.expiring() == 0);
    keyspace.create(b"f", bitmap(), Some(NOW + 9), NOW).unwrap();
    keyspace.clear();
    assert_eq!((keyspace.remove_expired(NOW + 9, || ()), keyspace.expiring()), (0, 0));
}

#[test]
fn a_key_that_is_given_more_time_while_somebody_sees_its_end_stays() {
    let keyspace = Keyspace::new(0);
    let entry = keyspace.create(b"a", bitmap(), Some(NOW + 5), NOW).unwrap().into_held();
    assert!(!entry.is_live(NOW + 5), "one worker has seen that");
    assert!(keyspace.set_expiry(b"a", None, NOW, |_| true), "another, whose batch began earlier");
    assert!(Arc::ptr_eq(&keyspace.end(b"a", NOW + 5).unwrap(), &entry));
    assert_eq!((keyspace.len(), keyspace.expired()), (1, 0));
    assert!(keyspace.set_expiry(b"a", Some(NOW + 5), NOW, |_| true));
    assert!(keyspace.end(b"a", NOW + 5).is_none() && keyspace.end(b"a", NOW + 5).is_none());
    assert_eq!((keyspace.len(), keyspace.expired()), (0, 1));
}

#[test]
fn many_keys_that_end_at_once_go_some_at_a_time() {
    let keyspace = Keyspace::new(0);
    for number in 0..100_000_u64 {
        keyspace.create(&number.to_le_bytes(), bitmap(), Some(NOW + number % 2), NOW - 1).unwrap();
    }
    let holds = AtomicU64::new(0);
    let hold = || holds.fetch_add(1, Ordering::Relaxed);
    assert_eq!(keyspace.remove_expired(NOW, hold), 50_000);
    assert!(holds.load(Ordering::Relaxed) <= 50_000 / 256 + SHARDS as u64);
    assert_eq!((keyspace.len(), keyspace.expiring()), (50_000, 50_000));
    keyspace.for_each(NOW, |_, entry| assert_eq!(entry.expires_at(), Some(NOW + 1)));
    assert_eq!((keyspace.remove_expired(NOW + 1, hold), keyspace.used_bytes()), (50_000, 0));
}

#[test]
fn a_walk_shows_what_stays_exactly_once() {
    let keyspace = Keyspace::new(0);
    for number in 0..3000 {
        put(&keyspace, format!("stays {number}"));
        put(&keyspace, format!("goes {number}"));
    }
    let mut shown = Vec::new();
    let mut cursor = 0;
    let mut round = 0;
    loop {
        cursor =
            keyspace.scan(cursor, 10, NOW, |key, _| shown.push(String::from_utf8(key.to_vec()).unwrap()));
        assert!(cursor <= MAX_CURSOR);
        if cursor == 0 {
            break;
        }
        keyspace.remove(format!("goes {}", round * 7 % 3000).as_bytes(), NOW);
        put(&keyspace, format!("comes {round}"));
        round += 1;
    }
    let stayed: Vec<&String> = shown.iter().filter(|key| key.starts_with("stays")).collect();
    assert_eq!((stayed.len(), stayed.iter().collect::<BTreeSet<_>>().len()), (3000, 3000));
    assert_eq!(shown.len(), shown.iter().collect::<BTreeSet<_>>().len());
    assert_eq!(keyspace.scan(u64::MAX, 10, NOW, |_, _| panic!("there is nothing")), 0);
}

#[test]
fn a_random_place_has_a_key() {
    let keyspace = Keyspace::new(0);
    assert_eq!(keyspace.key_after(7, NOW), None);
    for number in 0..10 {
        put(&keyspace, number.to_string());
    }
    let places = (0..20_000).map(|step: u64| step.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let found: BTreeSet<_> = places.map(|place| keyspace.key_after(place, NOW).unwrap()).collect();
    // A key is found from the places before it: one whose hash comes close after another's may have none of these.
    assert!(found.len() >= 8, "{} of 10", found.len());
}

#[test]
fn a_value_gets_another_name() {
    let keyspace = Keyspace::new(0);
    let entry = put(&keyspace, b"a");
    keyspace.set_expiry(b"a", Some(NOW + 5), NOW, |_| true);
    put(&keyspace, b"b");
    assert_eq!(keyspace.rename(b"x", b"a", true, NOW), Renamed::NoSuchKey);
    assert_eq!(keyspace.rename(b"a", b"b", false, NOW), Renamed::Taken);
    assert_eq!(keyspace.rename(b"a", b"a", false, NOW), Renamed::Taken);
    assert_eq!(keyspace.rename(b"a", b"a", true, NOW), Renamed::Done);
    assert_eq!(keyspace.rename(b"a", b"b", true, NOW), Renamed::Done);
    assert!(keyspace.find(b"a", NOW).is_none());
    assert!(Arc::ptr_eq(&keyspace.find(b"b", NOW).unwrap(), &entry));
    assert!(keyspace.find(b"b", NOW + 5).is_none());
    // Between all pairs of shards, from several threads: nobody waits for ever, nothing is lost.
    // Every other name is free, and all have different lengths, which are counted.
    let keyspace = Keyspace::new(0);
    let name = |number: usize| vec![b'a'; number + 1];
    for number in 0..100 {
        put(&keyspace, name(2 * number));
    }
    let renamed = AtomicU64::new(0);
    thread::scope(|scope| {
        for step in [1, 37, 99] {
            let (keyspace, renamed) = (&keyspace, &renamed);
            scope.spawn(move || {
                for number in (0..200).cycle().take(5000) {
                    let done = keyspace.rename(&name(number), &name((number + step) % 200), false, NOW);
                    renamed.fetch_add((done == Renamed::Done).into(), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(keyspace.len(), 100);
    assert!(renamed.into_inner() > 1000);
    let mut bytes = 0;
    keyspace.for_each(NOW, |key, _| bytes += key.len() as u64);
    let without_names = put(&Keyspace::new(0), b"").bytes();
    assert_eq!(keyspace.used_bytes(), bytes + 100 * without_names);
}

#[test]
fn memory_is_counted_and_limited() {
    let keyspace = Keyspace::new(100_000);
    keyspace.create(b"a", dense(1 << 16), None, NOW).unwrap();
    assert!(keyspace.used_bytes() > 1 << 16 && keyspace.room() < 100_000 - (1 << 16));
    let refused = keyspace.create(b"b", dense(1 << 16), None, NOW);
    assert!(matches!(refused, Err(NoRoom { limit: 100_000 })));
    // A value that grows is counted when it is weighed, even beyond the limit; one that is gone is not.
    let entry = keyspace.find(b"a", NOW).unwrap();
    let before = keyspace.used_bytes();
    let Value::Bitmap(bits) = &entry.value else { panic!("it is a bitmap") };
    bits.write().unwrap().set = Bitmap::dense(8 << 18).unwrap();
    keyspace.weigh(&entry);
    keyspace.weigh(&entry);
    assert_eq!((keyspace.used_bytes(), keyspace.room()), (before + (3 << 16), 0));
    keyspace.remove(b"a", NOW);
    keyspace.weigh(&entry);
    assert_eq!(keyspace.used_bytes(), 0);
    assert!(keyspace.create(b"b", dense(1 << 16), None, NOW).is_ok());
    // A long name is counted, also if it isn't the first.
    let before = keyspace.used_bytes();
    keyspace.rename(b"b", &[b'b'; 5_001], true, NOW);
    assert_eq!(keyspace.used_bytes(), before + 5_000);
    keyspace.rename(&[b'b'; 5_001], b"b", true, NOW);
    assert!(keyspace.replace(b"b", dense(1 << 14), None, NOW).is_ok());
    keyspace.clear();
    assert_eq!(keyspace.used_bytes(), 0);
}

#[test]
fn a_value_that_is_renamed_while_it_grows_is_counted() {
    let keyspace = Keyspace::new(0);
    let (settings, transfers) = (Settings::new(KeyHasher::default()), Transfers::default());
    let cache = WorkerCache::default();
    let view = View {
        keyspace: &keyspace,
        settings: &settings,
        transfers: &transfers,
        cache: &cache,
        gate: None,
        touches: true,
        now: NOW,
    };
    let entry = put(&keyspace, b"a");
    let (found, before) = (view.find(b"a").unwrap(), keyspace.used_bytes());
    keyspace.rename(b"a", b"b", true, NOW);
    let Value::Bitmap(bits) = &*found else { panic!("it is a bitmap") };
    bits.write().unwrap().set = Bitmap::dense(8 << 12).unwrap();
    view.note_change(b"a");
    assert!(keyspace.used_bytes() >= before + (1 << 12));
    assert_eq!(keyspace.used_bytes(), entry.bytes());
}

/// Millions of small values take as long to free as a large one.
#[test]
fn all_keys_are_freed_aside() {
    let keyspace = Keyspace::new(0);
    let (attic, removed) = std::sync::mpsc::channel();
    keyspace.send_removed_to(Some(attic));
    let entry = put(&keyspace, b"a");
    assert_eq!((keyspace.clear(), keyspace.used_bytes()), (1, 0));
    assert_eq!(Arc::strong_count(&entry), 2, "it waits to be freed");
    drop(removed.try_iter().collect::<Vec<_>>());
    assert_eq!(Arc::strong_count(&entry), 1);
    // A small one by itself isn't worth the way.
    put(&keyspace, b"b");
    keyspace.remove(b"b", NOW);
    assert_eq!(removed.try_iter().count(), 0);
}

#[test]
fn a_worker_remembers_until_something_is_removed() {
    let keyspace = Keyspace::new(0);
    let (settings, transfers) = (Settings::new(KeyHasher::default()), Transfers::default());
    let cache = WorkerCache::default();
    let view = View {
        keyspace: &keyspace,
        settings: &settings,
        transfers: &transfers,
        cache: &cache,
        gate: None,
        touches: true,
        now: NOW,
    };
    assert!(view.find(b"a").is_none());
    let entry = put(&keyspace, b"a");
    let first = view.find(b"a").unwrap();
    let owners = Arc::strong_count(&entry);
    let second = view.find(b"a").unwrap();
    assert_eq!(Arc::strong_count(&entry), owners, "found again without a new owner");
    assert!(Arc::ptr_eq(first.entry(), second.entry()));
    keyspace.replace(b"a", bitmap(), None, NOW).unwrap();
    assert!(!Arc::ptr_eq(view.find(b"a").unwrap().entry(), &entry));
    keyspace.set_expiry(b"a", Some(NOW), NOW, |_| true);
    assert!(view.find(b"a").is_none());
    put(&keyspace, b"a");
    assert!(view.find(b"a").is_some());
    keyspace.rename(b"a", b"b", true, NOW);
    assert!(view.find(b"a").is_none() && view.find(b"b").is_some());
    // What was held stays alive; what is only remembered doesn't, once it is forgotten.
    drop((first, second));
    cache.clear();
    assert_eq!(Arc::strong_count(&entry), 1);
}

/// A renaming counts the value's bytes again, and waits for whoever works on it. Meanwhile the value has its new name, for
/// everybody.
#[test]
fn a_worker_does_not_remember_a_name_that_is_gone() {
    let keyspace = Keyspace::new(0);
    let (settings, transfers) = (Settings::new(KeyHasher::default()), Transfers::default());
    let cache = WorkerCache::default();
    let view = View {
        keyspace: &keyspace,
        settings: &settings,
        transfers: &transfers,
        cache: &cache,
        gate: None,
        touches: true,
        now: NOW,
    };
    let entry = put(&keyspace, b"a");
    assert!(view.find(b"a").is_some());
    let Value::Bitmap(bits) = &entry.value else { panic!("it is a bitmap") };
    let at_work = bits.write().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| keyspace.rename(b"a", b"b", true, NOW));
        while keyspace.find(b"b", NOW).is_none() {
            thread::yield_now();
        }
        let is_found = view.find(b"a").is_some();
        drop(at_work);
        assert!(!is_found);
    });
}

/// All commands of a transaction see one time. A long command that began later, and sees another, must not remove what the
/// transaction still sees.
#[test]
fn a_thread_beside_the_workers_removes_nothing_while_somebody_is_alone() {
    let (keyspace, gate) = (Keyspace::new(0), Gate::new(1));
    keyspace.create(b"a", bitmap(), Some(NOW + 5), NOW).unwrap();
    let alone = gate.enter_alone();
    thread::scope(|scope| {
        let look = || {
            let (settings, transfers) = (Settings::new(KeyHasher::default()), Transfers::default());
            let view = View {
                keyspace: &keyspace,
                settings: &settings,
                transfers: &transfers,
                cache: &WorkerCache::default(),
                gate: Some(&gate),
                touches: true,
                now: NOW + 5,
            };
            view.find(b"a").is_some()
        };
        let beside = scope.spawn(look);
        // Long enough for it to do what it must not; if it is slower than that, nothing is seen, and nothing is wrong.
        thread::sleep(Duration::from_millis(50));
        let keys = keyspace.len();
        drop(alone);
        assert_eq!((keys, beside.join().unwrap(), keyspace.len()), (1, false, 0));
    });
}
