//! `BF.*` where a transcript doesn't reach: batches against one by one, threads, limits.

#![allow(clippy::unwrap_used, reason = "a check that panics has failed")]

mod memory;

use std::sync::Barrier;
use std::sync::atomic::Ordering;

use mayhap_commands::{CommandId, Effect, Keyspace as _, Reply, execute_run, execute_wide_run};
use memory::Memory;

const LAYOUTS: [&str; 2] = ["native", "redisbloom"];

/// A fixed sequence that looks random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x2545_f491_4f6c_dd1d);
        (self.0 >> 33) % bound
    }
}

fn items(count: u64, numbers: &mut Numbers, different: u64) -> Vec<Vec<u8>> {
    (0..count).map(|_| format!("item:{}", numbers.below(different)).into_bytes()).collect()
}

/// The same filter, made by the same command, in two hosts; then the same commands one by one and as runs.
#[test]
fn a_run_is_the_same_as_one_by_one() {
    let makers: [&[&str]; 6] = [
        &[],
        &["BF.RESERVE", "k", "0.01", "20"],
        &["BF.RESERVE", "k", "0.2", "3", "EXPANSION", "1"],
        &["BF.RESERVE", "k", "0.01", "100", "NONSCALING"],
        &["BF.RESERVE", "k", "0.1", "1", "NONSCALING"],
        &["BF.RESERVE", "k", "0.0001", "1000"],
    ];
    let mut numbers = Numbers(1);
    for layout in LAYOUTS {
        for maker in makers {
            let [one_by_one, runs] = [(); 2].map(|()| Memory::with_layout(layout));
            if !maker.is_empty() {
                assert_eq!((one_by_one.reply(maker), runs.reply(maker)), (Reply::OK, Reply::OK));
            }
            for round in 0..30 {
                let count = [1, 2, 3, 17, 64, 65, 200][round % 7];
                let items = items(count, &mut numbers, 400);
                let id = if round % 3 == 2 { CommandId::BfExists } else { CommandId::BfAdd };
                let name = if id == CommandId::BfAdd { "BF.ADD" } else { "BF.EXISTS" };
                let outcomes: Vec<_> =
                    items.iter().map(|item| one_by_one.outcome(&[name.as_bytes(), b"k", item])).collect();
                let mut replies = vec![Reply::OK];
                let words: Vec<&[u8]> = items.iter().map(Vec::as_slice).collect();
                let effect = execute_run(&runs, id, b"k", &words, &mut replies);
                assert_eq!(replies.remove(0), Reply::OK, "what was there stays");
                let expected: Vec<Reply> = outcomes.iter().map(|outcome| outcome.reply.clone()).collect();
                assert_eq!(replies, expected, "{layout} {maker:?} round {round}");
                let has = |effect| outcomes.iter().any(|outcome| outcome.effect == effect);
                let strongest = match (has(Effect::Created), has(Effect::Changed)) {
                    (true, _) => Effect::Created,
                    (false, true) => Effect::Changed,
                    (false, false) => Effect::None,
                };
                assert_eq!(effect, strongest);
            }
            assert_eq!(one_by_one.run("BF.SCANDUMP k 0"), runs.run("BF.SCANDUMP k 0"));
            assert_eq!(one_by_one.run("BF.DEBUG k"), runs.run("BF.DEBUG k"));
        }
    }
}

#[test]
fn a_wide_run_is_the_same_as_one_command_after_the_other() {
    let makers: [&[&str]; 5] = [
        &[],
        &["BF.RESERVE", "k", "0.2", "3", "EXPANSION", "1"],
        &["BF.RESERVE", "k", "0.01", "100", "NONSCALING"],
        &["BF.RESERVE", "k", "0.1", "1", "NONSCALING"],
        &["CF.RESERVE", "k", "100"],
    ];
    let mut numbers = Numbers(2);
    for layout in LAYOUTS {
        for maker in makers {
            let [one_by_one, runs] = [(); 2].map(|()| Memory::with_layout(layout));
            if !maker.is_empty() {
                assert_eq!((one_by_one.reply(maker), runs.reply(maker)), (Reply::OK, Reply::OK));
            }
            for round in 0..20 {
                let counts: &[usize] =
                    [&[1, 1, 1][..], &[3, 9, 2], &[16, 16, 16, 16, 16], &[70, 1, 70, 2]][round % 4];
                let items = items(counts.iter().sum::<usize>() as u64, &mut numbers, 300);
                let items: Vec<&[u8]> = items.iter().map(Vec::as_slice).collect();
                let mut rest = &items[..];
                let mut outcomes = Vec::new();
                for count in counts {
                    let (now, later) = rest.split_at(*count);
                    rest = later;
                    outcomes.push(one_by_one.outcome(&[&[&b"BF.MADD"[..], b"k"], now].concat()));
                }
                let mut replies = Vec::new();
                let effect = execute_wide_run(&runs, CommandId::BfMadd, b"k", &items, counts, &mut replies);
                let expected: Vec<Reply> = outcomes.iter().map(|outcome| outcome.reply.clone()).collect();
                assert_eq!(replies, expected, "{layout} {maker:?} round {round}");
                let has = |effect| outcomes.iter().any(|outcome| outcome.effect == effect);
                assert_eq!(effect != Effect::None, has(Effect::Created) || has(Effect::Changed));
            }
            assert_eq!(one_by_one.run("BF.SCANDUMP k 0"), runs.run("BF.SCANDUMP k 0"));
            assert_eq!(one_by_one.run("BF.DEBUG k"), runs.run("BF.DEBUG k"));
        }
    }
}

#[test]
fn questions_asked_together_are_answered_one_by_one() {
    for layout in LAYOUTS {
        let memory = Memory::with_layout(layout);
        memory.run("BF.MADD bloom a b c d e");
        memory.run("CF.INSERT cuckoo ITEMS a b c d e");
        let items: Vec<String> = (0..300u32).map(|i| char::from(b'a' + (i % 11) as u8).to_string()).collect();
        let items: Vec<&[u8]> = items.iter().map(String::as_bytes).collect();
        for (key, of_its_kind) in [("bloom", 0), ("cuckoo", 1), ("missing", 2)] {
            for (place, (id, name)) in
                [(CommandId::BfMexists, "BF.MEXISTS"), (CommandId::CfMexists, "CF.MEXISTS")]
                    .into_iter()
                    .enumerate()
            {
                let counts = [1, 63, 64, 65, 2, 5, 100];
                let mut replies = vec![Reply::OK];
                execute_wide_run(&memory, id, key.as_bytes(), &items, &counts, &mut replies);
                let mut rest = &items[..];
                let mut expected = vec![Reply::OK];
                for count in counts {
                    let (now, later) = rest.split_at(count);
                    rest = later;
                    let words = [&[name.as_bytes(), key.as_bytes()], now].concat();
                    expected.push(memory.outcome(&words).reply);
                }
                assert_eq!(replies, expected, "{layout} {name} {key}");
                let some = matches!(&replies[2], Reply::Flags(found) if found.contains(&true));
                assert_eq!(some, of_its_kind == place, "{layout} {name} {key}");
            }
        }
    }
}

#[test]
fn many_items_in_one_command_are_the_same_as_one_by_one() {
    let mut numbers = Numbers(2);
    for layout in LAYOUTS {
        for maker in ["BF.RESERVE k 0.01 50", "BF.RESERVE k 0.01 150 NONSCALING"] {
            let [one_by_one, together] = [(); 2].map(|()| Memory::with_layout(layout));
            assert_eq!((one_by_one.run(maker), together.run(maker)), (Reply::OK, Reply::OK));
            for _ in 0..8 {
                let items = items(130, &mut numbers, 300);
                let command = |name: &str| -> Vec<Vec<u8>> {
                    [name.as_bytes().to_vec(), b"k".to_vec()].into_iter().chain(items.clone()).collect()
                };
                let expected: Vec<Reply> = items
                    .iter()
                    .map(|item| one_by_one.reply(&[b"BF.EXISTS".as_slice(), b"k", item]))
                    .collect();
                let Reply::Flags(found) = together.reply(&command("BF.MEXISTS")) else { panic!("flags") };
                assert_eq!(found.into_iter().map(Reply::Flag).collect::<Vec<_>>(), expected);
                // The answers end with the first error, and what is after it was not tried.
                let mut expected = Vec::new();
                for item in &items {
                    expected.push(one_by_one.reply(&[b"BF.ADD".as_slice(), b"k", item]));
                    if expected.last().is_some_and(Reply::is_error) {
                        break;
                    }
                }
                let got = match together.reply(&command("BF.MADD")) {
                    Reply::Flags(flags) => flags.into_iter().map(Reply::Flag).collect(),
                    Reply::Array(replies) => replies,
                    other => panic!("{other:?}"),
                };
                assert_eq!(got, expected, "{layout} {maker}");
                assert_eq!(one_by_one.run("BF.DEBUG k"), together.run("BF.DEBUG k"));
            }
        }
    }
}

#[test]
fn a_run_on_something_else_says_so_each_time() {
    let memory = Memory::new();
    let value = mayhap_commands::Bits { set: mayhap::Bitmap::sparse(), bytes: 8 };
    memory.put(b"bits", mayhap_commands::Value::Bitmap(std::sync::RwLock::new(value)));
    let mut replies = Vec::new();
    assert_eq!(execute_run(&memory, CommandId::BfAdd, b"bits", &[b"a", b"b"], &mut replies), Effect::None);
    assert!(replies.len() == 2 && replies.iter().all(Reply::is_error), "{replies:?}");
    replies.clear();
    assert_eq!(execute_run(&memory, CommandId::BfExists, b"bits", &[b"a", b"b"], &mut replies), Effect::None);
    assert_eq!(replies, [Reply::Flag(false), Reply::Flag(false)]);
    memory.room.store(10, Ordering::Relaxed);
    replies.clear();
    assert_eq!(execute_run(&memory, CommandId::BfAdd, b"new", &[b"a", b"b"], &mut replies), Effect::None);
    assert!(replies.len() == 2 && replies.iter().all(Reply::is_error), "{replies:?}");
    assert!(memory.find(b"new").is_none());
}

/// Many clients make one filter and take one nickname at the same time, also while it grows: exactly one gets it.
#[test]
fn one_nickname_goes_to_one_client() {
    for layout in LAYOUTS {
        let memory = Memory::with_layout(layout);
        memory.set("bf-initial-size", "2");
        memory.set("bf-error-rate", "0.0001");
        let mut taken = 0;
        for round in 0..200 {
            let (key, threads) = (format!("taken:{}", round / 40), 4);
            // A false positive is no winner's loss.
            let is_free = memory.run(&format!("BF.EXISTS {key} nick:{round}")) == Reply::Flag(false);
            taken = if round % 40 == 0 { 0 } else { taken } + i64::from(is_free);
            let barrier = Barrier::new(threads);
            let client = || {
                barrier.wait();
                memory.outcome(&["BF.ADD", &key, &format!("nick:{round}")])
            };
            let outcomes: Vec<_> = std::thread::scope(|scope| {
                let clients: Vec<_> = (0..threads).map(|_| scope.spawn(client)).collect();
                clients.into_iter().map(|client| client.join().unwrap()).collect()
            });
            let given = outcomes.iter().filter(|outcome| outcome.reply == Reply::Flag(true)).count();
            assert_eq!(given, usize::from(is_free), "{layout} round {round}: {outcomes:?}");
            let made = outcomes.iter().filter(|outcome| outcome.effect == Effect::Created).count();
            assert_eq!(made, usize::from(round % 40 == 0), "one of them made the filter");
            assert_eq!(memory.reply(&["BF.CARD", &key]), Reply::Integer(taken));
        }
    }
}

#[test]
fn limits_hold_before_memory_is_taken() {
    for layout in LAYOUTS {
        let memory = Memory::with_layout(layout);
        memory.set("filter-max-bytes", "10kb");
        let Reply::Error(text) = memory.run("BF.RESERVE k 0.000001 1000000000") else { panic!() };
        assert!(text.starts_with("ERR Insufficient memory to create filter: it would take "), "{text}");
        assert!(memory.find(b"k").is_none());
        // It grows as far as it may, then refuses, and says what it took.
        assert_eq!(memory.run("BF.RESERVE k 0.01 1000"), Reply::OK);
        let mut added = 0;
        let error = loop {
            match memory.run(&format!("BF.ADD k item:{added}")) {
                Reply::Flag(_) => added += 1,
                other => break other,
            }
        };
        let Reply::Error(text) = error else { panic!("{error:?}") };
        assert!(text.starts_with("ERR problem inserting into filter: it may not grow"), "{text}");
        assert!(added >= 1000, "{layout}: {added}");
        assert_eq!(memory.run("BF.EXISTS k item:7"), Reply::Flag(true));
        assert_eq!(memory.run("BF.ADD k item:7"), Reply::Flag(false));
        // What the host has left is a limit, too.
        memory.set("filter-max-bytes", "10gb");
        memory.room.store(1000, Ordering::Relaxed);
        assert!(memory.run("BF.RESERVE l 0.01 10000").is_error());
        assert_eq!(memory.run("BF.RESERVE l 0.01 100"), Reply::OK);
    }
}

/// Each link of RedisBloom's has half the rate of the one before. The lowest number that there is, about 2^-1074, comes
/// after some 77 of them here, and memory has nothing to do with it.
#[test]
fn a_rate_that_can_not_be_halved_is_the_reason_given() {
    let memory = Memory::with_layout("redisbloom");
    assert_eq!(memory.run("BF.RESERVE k 1e-300 1 EXPANSION 1"), Reply::OK);
    // Many of them are false positives: the hashes of so small links are poor.
    let items: Vec<String> = (0..1_000).map(|number| format!("item:{number}")).collect();
    let words: Vec<&str> = ["BF.MADD", "k"].into_iter().chain(items.iter().map(String::as_str)).collect();
    let Reply::Array(answers) = memory.reply(&words) else { panic!("it has no end") };
    // The item that was refused is refused again.
    let alone = memory.run(&format!("BF.ADD k {}", items[answers.len() - 1]));
    for error in [answers.last().unwrap(), &alone] {
        let Reply::Error(text) = error else { panic!("{error:?}") };
        assert!(text.starts_with("ERR problem inserting into filter: each link has half"), "{text}");
    }
}

/// What counts is the room there is when a filter grows, not what there was when it was made.
#[test]
fn filters_grow_into_the_room_that_there_is_now() {
    let add = |memory: &Memory, key: &str, from: u32| {
        let items: Vec<String> = (from..from + 2_000).map(|number| format!("item:{number}")).collect();
        memory
            .reply(&["BF.MADD", key].into_iter().chain(items.iter().map(String::as_str)).collect::<Vec<_>>())
    };
    for layout in LAYOUTS {
        let memory = Memory::with_layout(layout);
        assert_eq!(memory.run("BF.RESERVE early 0.01 100"), Reply::OK);
        memory.room.store(1_000, Ordering::Relaxed);
        assert_eq!(memory.run("BF.RESERVE late 0.01 100"), Reply::OK);
        for key in ["early", "late"] {
            let Reply::Array(answers) = add(&memory, key, 0) else {
                panic!("{layout}: {key} ignores the limit")
            };
            assert!(answers.len() >= 100 && answers.last().is_some_and(Reply::is_error), "{layout} {key}");
        }
        memory.room.store(u64::MAX, Ordering::Relaxed);
        for key in ["early", "late"] {
            assert!(matches!(add(&memory, key, 10_000), Reply::Flags(_)), "{layout} {key}");
            memory.set("filter-max-bytes", "1kb");
            assert!(matches!(add(&memory, key, 20_000), Reply::Array(_)), "{layout} {key}");
            memory.set("filter-max-bytes", "64gb");
        }
    }
}

#[test]
fn the_whole_of_info_follows_the_counts() {
    for layout in LAYOUTS {
        let memory = Memory::with_layout(layout);
        assert_eq!(memory.run("BF.RESERVE k 0.01 1000"), Reply::OK);
        for number in 0..3_000 {
            memory.run(&format!("BF.ADD k item:{number}"));
        }
        let Reply::Map(fields) = memory.run("BF.INFO k FULL") else { panic!() };
        let field = |name: &'static str| {
            fields
                .iter()
                .find(|(label, _)| *label == Reply::Simple(name))
                .map(|(_, value)| value.clone())
                .unwrap()
        };
        let double = |name| match field(name) {
            Reply::Double(number) => number,
            other => panic!("{other:?}"),
        };
        assert_eq!(field("Layout"), Reply::text(layout));
        assert_eq!(field("Over plan"), Reply::Flag(false));
        assert_eq!(double("Error rate"), 0.01);
        let (now, fill) = (double("Expected error rate now"), double("Fill"));
        assert!(now > 0.001 && now < 0.01 && fill > 0.2 && fill < 0.6, "{layout}: {now} {fill}");
        // Of absent items so many are found as it says: 20 000 of them know it to a fifth of itself.
        let wrong = (0..20_000)
            .filter(|number| memory.run(&format!("BF.EXISTS k absent:{number}")) == Reply::Flag(true))
            .count();
        let measured = wrong as f64 / 20_000.0;
        assert!((measured / now - 1.0).abs() < 0.5, "{layout}: {measured}, not {now}");
        let Reply::Array(layers) = field("Layers") else { panic!() };
        assert_eq!(layers.len(), 2);
    }
}

/// Rates are sums of tiny numbers: they must not come out of the difference of large ones.
#[test]
fn low_rates_are_told_exactly() {
    for layout in LAYOUTS {
        let memory = Memory::with_layout(layout);
        assert_eq!(memory.run("BF.RESERVE k 1e-14 100"), Reply::OK);
        for number in 0..60 {
            memory.run(&format!("BF.ADD k item:{number}"));
        }
        let rate = |fields: &[(Reply, Reply)]| {
            let field = fields.iter().find(|(label, _)| *label == Reply::Simple("Expected error rate now"));
            match field {
                Some((_, Reply::Double(rate))) => *rate,
                other => panic!("{other:?}"),
            }
        };
        let Reply::Map(fields) = memory.run("BF.INFO k FULL") else { panic!() };
        let Some((_, Reply::Array(layers))) = fields.last() else { panic!() };
        let [Reply::Map(layer)] = layers.as_slice() else { panic!("{layers:?}") };
        let (whole, part) = (rate(&fields), rate(layer));
        assert!(part > 0.0 && (whole / part - 1.0).abs() < 1e-9, "{layout}: {whole}, not {part}");
    }
}
