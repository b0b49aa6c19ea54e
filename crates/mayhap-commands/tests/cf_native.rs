//! What the native layout of `CF.*` promises beyond RedisBloom's: a rate that stays, copies that are limited, refusals
//! that lose nothing, compaction beside other clients, dumps that are checked.
#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod memory;

use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};

use mayhap::ScalableCuckoo;
use mayhap_commands::{CommandId, Effect, Keyspace, NativeCuckoo, Reply, Value, execute, execute_run};
use memory::Memory;

fn items(prefix: &str, count: u64) -> Vec<String> {
    (0..count).map(|number| format!("{prefix}{number}")).collect()
}

fn run(memory: &Memory, id: CommandId, items: &[String]) -> Vec<Reply> {
    let items: Vec<&[u8]> = items.iter().map(String::as_bytes).collect();
    let mut replies = Vec::new();
    execute_run(memory, id, b"k", &items, &mut replies);
    replies
}

fn all(replies: &[Reply], answer: bool) -> bool {
    replies.iter().all(|reply| *reply == Reply::Flag(answer))
}

fn field(memory: &Memory, command: &str, name: &'static str) -> Reply {
    let Reply::Map(fields) = memory.run(command) else { panic!("{command}") };
    fields.into_iter().find(|(field, _)| *field == Reply::Simple(name)).unwrap().1
}

fn number(memory: &Memory, name: &'static str) -> u64 {
    let Reply::Integer(number) = field(memory, "CF.INFO k", name) else { panic!("{name}") };
    u64::try_from(number).unwrap()
}

/// A filter made for 100 items and grown to 100 000 keeps its rate; RedisBloom's would be at 15 % and more.
#[test]
fn the_rate_stays_as_it_grows() {
    for (reserve, rate) in [
        ("CF.RESERVE k 100 EXPANSION 2 ERROR 0.01", 0.01),
        ("CF.RESERVE k 10000 EXPANSION 1 ERROR 0.002", 0.002),
        ("CF.RESERVE k 1000 BUCKETSIZE 8 EXPANSION 4 ERROR 0.05", 0.05),
    ] {
        let memory = Memory::new();
        assert_eq!(memory.run(reserve), Reply::OK);
        assert!(all(&run(&memory, CommandId::CfAdd, &items("in:", 100_000)), true));
        assert!(all(&run(&memory, CommandId::CfExists, &items("in:", 100_000)), true));
        let asked = 200_000;
        let replies = run(&memory, CommandId::CfExists, &items("out:", asked));
        let found = replies.iter().filter(|reply| **reply == Reply::Flag(true)).count() as f64;
        // Five standard deviations above the promise.
        let most = asked as f64 * rate + 5.0 * (asked as f64 * rate).sqrt();
        assert!(found <= most, "{reserve}: {found} of {asked}");
        let Reply::Double(expected) = field(&memory, "CF.INFO k FULL", "Expected error rate now") else {
            panic!()
        };
        assert!(expected <= rate, "{reserve}: {expected}");
        assert!(number(&memory, "Number of filters") > 1);
    }
}

#[test]
fn as_many_layers_as_may_be() {
    let memory = Memory::new();
    memory.set("cf-max-expansions", "3");
    memory.run("CF.RESERVE k 1000");
    let replies = run(&memory, CommandId::CfAdd, &items("in:", 4_000));
    let refused = Reply::error("Maximum expansions reached");
    let kept = replies.iter().position(|reply| *reply == refused).unwrap();
    assert!(kept > 2_900 && number(&memory, "Number of filters") == 3, "{kept}");
    // Nothing is lost, and what finds room after the first refusal is there as well.
    let all_items = items("in:", 4_000);
    let held: Vec<String> = all_items
        .iter()
        .zip(&replies)
        .filter(|(_, reply)| !reply.is_error())
        .map(|(item, _)| item.clone())
        .collect();
    assert_eq!(number(&memory, "Number of items inserted"), held.len() as u64);
    assert!(all(&run(&memory, CommandId::CfExists, &held), true));
    assert!(all(&run(&memory, CommandId::CfDel, &held), true));
    assert_eq!(number(&memory, "Number of items inserted"), 0);
}

#[test]
fn memory_that_is_not_there_is_refused_and_nothing_lost() {
    for layout in ["native", "redisbloom"] {
        let memory = Memory::with_layout(layout);
        memory.run("CF.RESERVE k 1000 EXPANSION 2");
        memory.room.store(1_000, Ordering::Relaxed);
        let replies = run(&memory, CommandId::CfAdd, &items("in:", 3_000));
        let refused = Reply::error("ERR Insufficient memory");
        assert!(replies.contains(&refused), "{layout}");
        assert!(replies.iter().all(|reply| *reply == refused || *reply == Reply::Flag(true)), "{layout}");
        assert_eq!(number(&memory, "Number of filters"), 1);
        let reply = memory.run("CF.RESERVE other 100000");
        assert!(
            matches!(&reply, Reply::Error(text) if text.starts_with("ERR Insufficient memory: it would take"))
        );
        assert!(memory.find(b"other").is_none());
        assert!(memory.outcome(&["CF.ADD", "new", "item"]).reply.is_error());
        assert!(memory.find(b"new").is_none());
        // When there is room again it goes on.
        memory.room.store(u64::MAX, Ordering::Relaxed);
        assert!(all(&run(&memory, CommandId::CfAdd, &items("more:", 3_000)), true));
        for (item, reply) in items("in:", 3_000).iter().zip(&replies) {
            let exists = memory.reply(&["CF.EXISTS", "k", item]);
            assert!(reply.is_error() || exists == Reply::Flag(true), "{layout}: {item}");
        }
    }
}

/// Removals give layers back by and by, and none of them does much of the work.
#[test]
fn removals_compact_in_small_steps() {
    let memory = Memory::new();
    memory.run("CF.RESERVE k 1000 EXPANSION 2");
    let all_items = items("in:", 60_000);
    run(&memory, CommandId::CfAdd, &all_items);
    let (before, bytes) = (number(&memory, "Number of filters"), number(&memory, "Size"));
    let (kept, removed): (Vec<String>, Vec<String>) =
        all_items.into_iter().partition(|item| item.ends_with("00"));
    assert!(all(&run(&memory, CommandId::CfDel, &removed), true));
    assert!(all(&run(&memory, CommandId::CfExists, &kept), true));
    assert!(number(&memory, "Number of filters") < before && number(&memory, "Size") < bytes / 8);
    assert_eq!(number(&memory, "Number of items inserted"), kept.len() as u64);
    memory.run("CF.COMPACT k");
    assert_eq!(number(&memory, "Number of filters"), 1);
    assert!(all(&run(&memory, CommandId::CfExists, &kept), true));
}

#[test]
fn compaction_beside_readers_and_writers() {
    let memory = Memory::new();
    memory.run("CF.RESERVE k 1000 EXPANSION 2");
    let (stays, goes) = (items("stays:", 5_000), items("goes:", 50_000));
    for (some, others) in stays.chunks(100).zip(goes.chunks(1_000)) {
        run(&memory, CommandId::CfAdd, some);
        run(&memory, CommandId::CfAdd, others);
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                assert!(all(&run(&memory, CommandId::CfExists, &stays), true));
            }
        });
        scope.spawn(|| {
            for some in goes.chunks(500) {
                assert!(all(&run(&memory, CommandId::CfDel, some), true));
                memory.run("CF.COMPACT k");
            }
            done.store(true, Ordering::Relaxed);
        });
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                assert_eq!(memory.run("CF.COMPACT k"), Reply::OK);
                assert_eq!(memory.run("CF.ADD k one"), Reply::Flag(true));
                assert_eq!(memory.run("CF.DEL k one"), Reply::Flag(true));
            }
        });
    });
    assert_eq!(number(&memory, "Number of items inserted"), stays.len() as u64);
    assert!(all(&run(&memory, CommandId::CfExists, &stays), true));
}

/// Of many who add the same item to a key that isn't there, all add it to one filter.
#[test]
fn a_filter_is_made_once() {
    for layout in ["native", "redisbloom"] {
        for _ in 0..50 {
            let memory = Memory::with_layout(layout);
            let effects: Vec<Effect> = std::thread::scope(|scope| {
                let add = || memory.outcome(&["CF.ADDNX", "k", "nickname"]);
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(add)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap().effect).collect()
            });
            assert_eq!(effects.iter().filter(|effect| **effect == Effect::Created).count(), 1);
            assert_eq!(memory.run("CF.COUNT k nickname"), Reply::Integer(1));
        }
    }
}

/// A dump with any byte changed, or cut anywhere, is refused, and nobody sees anything of it.
#[test]
fn damaged_dumps_are_refused() {
    let memory = Memory::new();
    memory.run("CF.RESERVE k 20 EXPANSION 2");
    run(&memory, CommandId::CfAdd, &items("in:", 100));
    let Reply::Array(dump) = memory.run("CF.SCANDUMP k 0") else { panic!() };
    let [Reply::Integer(end), Reply::Bulk(file)] = &dump[..] else { panic!() };
    let load = |position: i64, bytes: &[u8]| {
        let position = position.to_string();
        let words: [&[u8]; 4] = [b"CF.LOADCHUNK", b"copy", position.as_bytes(), bytes];
        let outcome = execute(&memory, CommandId::CfLoadchunk, &words);
        memory.transfers.abort_load(b"copy");
        assert_eq!(outcome.effect, Effect::None);
        assert!(memory.find(b"copy").is_none());
        outcome.reply
    };
    for place in 0..file.len() {
        let mut bytes = file.clone();
        bytes[place] ^= 1 << (place % 8);
        // A changed length in the header may make it the beginning of a longer file, which is waited for.
        let reply = load(*end, &bytes);
        assert!(reply.is_error() || reply == Reply::OK && place < 512, "{place}: {reply:?}");
        let short = load(place as i64 + 1, &file[..place]);
        assert!(short.is_error() || short == Reply::OK, "{place}");
    }
    for position in [i64::MIN, -1, 0, 1, 2, *end - 1, *end + 1, 1 << 41, 1 << 53, i64::MAX] {
        assert!(load(position, file).is_error(), "{position}");
    }
    // Another server's key.
    let other = Memory::with_key(8);
    let reply = other.reply(&[b"CF.LOADCHUNK".as_slice(), b"k", end.to_string().as_bytes(), file]);
    assert!(matches!(&reply, Reply::Error(text) if text.contains("key")), "{reply:?}");
    // Whole, it loads.
    let end = end.to_string();
    let words: [&[u8]; 4] = [b"CF.LOADCHUNK", b"copy", end.as_bytes(), file];
    assert_eq!(memory.outcome(&words).effect, Effect::Created);
    assert_eq!(memory.run("CF.DEBUG copy"), memory.run("CF.DEBUG k"));
}

/// Headers of RedisBloom's with any byte changed: refused, or a filter within the limits that waits for its bytes.
#[test]
fn damaged_headers_take_no_more_than_they_may() {
    let source = Memory::with_layout("redisbloom");
    source.run("CF.RESERVE k 64");
    source.run("CF.ADD k a");
    let Reply::Array(dump) = source.run("CF.SCANDUMP k 0") else { panic!() };
    let [Reply::Integer(1), Reply::Bulk(header)] = &dump[..] else { panic!() };
    let memory = Memory::new();
    memory.set("filter-max-bytes", "1mb");
    for place in 0..header.len() {
        for value in 0..=255 {
            let mut bytes = header.clone();
            bytes[place] = value;
            memory.reply(&[b"CF.LOADCHUNK".as_slice(), b"copy", b"1", &bytes]);
            assert!(memory.transfers.bytes() < 2 << 20);
            assert!(memory.find(b"copy").is_none());
        }
        assert!(memory.reply(&[b"CF.LOADCHUNK".as_slice(), b"cut", b"1", &header[..place]]).is_error());
    }
}

/// A client that lost its connection begins again, and isn't kept out by what it left behind.
#[test]
fn a_load_begun_anew_needs_the_room_of_one() {
    for layout in ["native", "redisbloom"] {
        let memory = Memory::with_layout(layout);
        memory.run("CF.RESERVE k 20000000");
        memory.run("CF.ADD k item");
        let Reply::Array(dump) = memory.run("CF.SCANDUMP k 0") else { panic!("{layout}") };
        let [Reply::Integer(position), Reply::Bulk(first)] = dump.as_slice() else { panic!("{layout}") };
        let position = position.to_string();
        let load = |key: &str| {
            memory.reply(&[b"CF.LOADCHUNK".as_slice(), key.as_bytes(), position.as_bytes(), first])
        };
        // 34 MB, and what a native dump of it keeps.
        memory.room.store(memory.transfers.bytes() + (50 << 20), Ordering::Relaxed);
        assert_eq!((load("copy"), load("copy")), (Reply::OK, Reply::OK), "{layout}");
        let Reply::Error(text) = load("other") else { panic!("{layout}") };
        assert!(text.starts_with("ERR Insufficient memory: it would take "), "{layout}: {text}");
    }
}

/// `RESTORE` takes the number of removals from the payload, whatever it is.
#[test]
fn removals_are_counted_up_to_the_largest_number() {
    let memory = Memory::new();
    let filter = ScalableCuckoo::builder().keys(100).hasher(memory.settings.hasher.clone()).build().unwrap();
    memory.put(b"k", Value::Cuckoo(RwLock::new(NativeCuckoo { filter, deleted: u64::MAX - 1 })));
    let items = items("item:", 3);
    assert!(all(&run(&memory, CommandId::CfAdd, &items), true));
    assert!(all(&run(&memory, CommandId::CfDel, &items), true));
    let Value::Cuckoo(filter) = &*memory.find(b"k").unwrap() else { panic!("it is native") };
    assert_eq!(filter.read().unwrap().deleted, u64::MAX);
}

/// A file may say how long an add searches; here it must not be longer than what `CF.RESERVE` can ask for.
#[test]
fn a_dump_whose_adds_take_too_long_is_refused() {
    let memory = Memory::new();
    let load = |key: &str, kicks: u32| {
        let hasher = memory.settings.hasher.clone();
        let filter = ScalableCuckoo::builder().keys(100).max_kicks(kicks).hasher(hasher).build().unwrap();
        let file = filter.to_bytes().unwrap();
        let iterator = (file.len() + 1).to_string();
        memory.reply(&[b"CF.LOADCHUNK".as_slice(), key.as_bytes(), iterator.as_bytes(), &file])
    };
    assert_eq!(memory.run("CF.RESERVE longest 100 MAXITERATIONS 65535"), Reply::OK);
    let Value::Cuckoo(longest) = &*memory.find(b"longest").unwrap() else { panic!("it is native") };
    let most = longest.read().unwrap().filter.max_kicks();
    assert_eq!(load("k", most), Reply::OK);
    let Reply::Error(text) = load("l", most + 1) else { panic!("it was taken") };
    assert!(text.contains("most kicks") && text.contains(&format!("at most {most} ")), "{text}");
    assert!(memory.find(b"l").is_none());
}
