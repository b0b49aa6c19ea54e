//! The two layouts of `CF.*` beside each other: random commands get the same replies, wherever `docs/commands.md` doesn't
//! name a difference; and a run of commands gets the replies of the same commands one by one.
//!
//! What may differ depends on what looks like what: an item that isn't there may look so in one layout and not in the
//! other. Both filters are therefore asked how often they think an item is there. Where both know it exactly, everything
//! about the item must be the same.
#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod memory;

use std::collections::HashMap;

use mayhap_commands::{CommandId, Effect, Keyspace, Reply, execute_run};
use memory::{Memory, wire};

/// A small generator, so that a seed says everything.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[usize::try_from(self.below(words.len() as u64)).unwrap()]
    }
}

struct Twins {
    native: Memory,
    redisbloom: Memory,
    /// What each key really holds.
    truth: HashMap<&'static str, HashMap<String, u64>>,
    /// Replies that were compared, and those that were not because an item looked like another.
    compared: u64,
    skipped: u64,
}

const KEYS: [&str; 3] = ["a", "b", "c"];

impl Twins {
    fn new() -> Self {
        let (native, redisbloom) = (Memory::with_layout("native"), Memory::with_layout("redisbloom"));
        for memory in [&native, &redisbloom] {
            // How far filters grow, and when they are full, is not the same.
            memory.set("cf-max-expansions", "1024");
        }
        Self { native, redisbloom, truth: HashMap::new(), compared: 0, skipped: 0 }
    }

    fn both(&self, command: &str) -> [(Reply, Effect); 2] {
        [&self.native, &self.redisbloom].map(|memory| {
            let outcome = memory.outcome(&command.split(' ').collect::<Vec<_>>());
            (outcome.reply, outcome.effect)
        })
    }

    /// Everything is the same: the reply in both protocols, and the effect.
    fn same(&mut self, command: &str) -> Reply {
        let [native, redisbloom] = self.both(command);
        let shown = |outcome| format!("{outcome:?}").chars().take(200).collect::<String>();
        assert!(native == redisbloom, "{command}: {} and {}", shown(&native), shown(&redisbloom));
        for resp3 in [false, true] {
            let [mut ours, mut theirs] = [Vec::new(), Vec::new()];
            wire::write(&native.0, resp3, &mut ours);
            wire::write(&redisbloom.0, resp3, &mut theirs);
            assert_eq!(ours, theirs, "{command}");
        }
        self.compared += 1;
        native.0
    }

    fn held(&self, key: &str, item: &str) -> u64 {
        self.truth.get(key).and_then(|items| items.get(item)).copied().unwrap_or(0)
    }

    /// Whether both filters know exactly how often an item is there. They never think it is there less often.
    fn is_clean(&self, key: &str, item: &str) -> bool {
        let held = self.held(key, item);
        let counts = self.both(&format!("CF.COUNT {key} {item}")).map(|(reply, _)| match reply {
            Reply::Integer(count) => u64::try_from(count).unwrap(),
            other => panic!("{other:?}"),
        });
        assert!(counts.iter().all(|count| *count >= held), "{counts:?} of {held}");
        counts == [held; 2]
    }

    /// A command about one item that changes nothing.
    fn ask(&mut self, name: &str, key: &str, item: &str) {
        let command = format!("{name} {key} {item}");
        if self.is_clean(key, item) {
            let reply = self.same(&command);
            let held = self.held(key, item);
            let expected = if name == "CF.COUNT" { Reply::count(held) } else { Reply::Flag(held > 0) };
            assert_eq!(reply, expected, "{command}");
        } else {
            self.skipped += 1;
            assert!(
                self.held(key, item) == 0 || name == "CF.COUNT" || {
                    self.both(&command).iter().all(|(reply, _)| *reply == Reply::Flag(true))
                }
            );
        }
    }

    /// Adds an item, unless what one of the filters would do with it is its own matter: a key that looks like another,
    /// or more copies than fit into the smaller of their buckets.
    fn add(&mut self, name: &str, key: &'static str, item: &str) {
        if !self.is_clean(key, item) || self.held(key, item) >= 4 {
            self.skipped += 1;
            return;
        }
        let insert = name.starts_with("CF.INSERT");
        let command = format!("{name} {key} {}{item}", if insert { "ITEMS " } else { "" });
        let reply = self.same(&command);
        let new = !name.ends_with("NX") || self.held(key, item) == 0;
        let expected = match name {
            "CF.INSERT" => Reply::Added(vec![new]),
            "CF.INSERTNX" => Reply::Array(vec![Reply::Integer(new.into())]),
            _ => Reply::Flag(new),
        };
        assert_eq!(reply, expected, "{command}");
        *self.truth.entry(key).or_default().entry(item.to_owned()).or_default() += u64::from(new);
    }

    /// Removes an item that is there, or that both know not to be there.
    fn delete(&mut self, key: &'static str, item: &str) {
        let held = self.held(key, item);
        if held == 0 && !self.is_clean(key, item) {
            self.skipped += 1;
            return;
        }
        let is_there = self.truth.contains_key(key);
        let reply = self.same(&format!("CF.DEL {key} {item}"));
        assert_eq!(reply, if is_there { Reply::Flag(held > 0) } else { Reply::error("Not found") });
        if held > 0 {
            self.truth.get_mut(key).unwrap().insert(item.to_owned(), held - 1);
        }
    }

    /// Asks for many at once, and compares the clean ones.
    fn ask_many(&mut self, key: &str, items: &[String]) {
        let [native, redisbloom] = self.both(&format!("CF.MEXISTS {key} {}", items.join(" ")));
        let (Reply::Flags(native), Reply::Flags(redisbloom)) = (native.0, redisbloom.0) else { panic!() };
        assert_eq!((native.len(), redisbloom.len()), (items.len(), items.len()));
        for (item, answers) in items.iter().zip(native.iter().zip(&redisbloom)) {
            let held = self.held(key, item) > 0;
            assert!(!held || answers == (&true, &true), "{item}");
            if self.is_clean(key, item) {
                assert_eq!(answers, (&held, &held), "{item}");
                self.compared += 1;
            }
        }
    }

    /// The fields that are the same in both layouts.
    fn info(&mut self, key: &str) {
        let [native, redisbloom] = self.both(&format!("CF.INFO {key}")).map(|(reply, _)| reply);
        let (Reply::Map(native), Reply::Map(redisbloom)) = (&native, &redisbloom) else {
            assert_eq!(native, redisbloom);
            return;
        };
        let number = |fields: &[(Reply, Reply)], name| {
            let field = fields.iter().find(|(field, _)| *field == Reply::Simple(name));
            field.unwrap().1.clone()
        };
        for (ours, theirs) in native.iter().zip(redisbloom) {
            assert_eq!(ours.0, theirs.0);
            let Reply::Simple(name) = ours.0 else { panic!() };
            let own = ["Size", "Number of buckets", "Number of filters", "Bucket size"].contains(&name);
            // Compaction, which sets it to 0, is due in filters of several layers.
            let one = Reply::Integer(1);
            let single = [native, redisbloom].iter().all(|fields| number(fields, "Number of filters") == one);
            let compared = !own && (name != "Number of items deleted" || single);
            assert!(!compared || ours.1 == theirs.1, "{name}: {ours:?} and {theirs:?}");
            self.compared += u64::from(compared);
        }
        let held: u64 = self.truth.get(key).map_or(0, |items| items.values().sum());
        assert_eq!(number(native, "Number of items inserted"), Reply::count(held));
    }
}

/// Commands in which something is wrong, or might be. They have keys of their own.
fn odd(random: &mut Random) -> String {
    let key = format!("odd{}", random.below(60));
    let number =
        random.one_of(&["0", "1", "3", "-1", "x", "", "1.5", "+7", "256", "65536", "32769", "1073741825"]);
    let option = random.one_of(&["BUCKETSIZE", "expansion", "MAXITERATIONS", "FOO", "NOCREATE", "CAPACITY"]);
    match random.below(9) {
        0 => format!("CF.RESERVE {key} {number}"),
        1 => format!("CF.RESERVE {key} {number} {option} {number}"),
        2 => format!("CF.RESERVE {key} 100 FOO {option} {number}"),
        3 => format!("CF.INSERT {key} {option} {number}"),
        4 => format!("CF.INSERTNX nowhere NOCREATE {option} {number} ITEMS x"),
        5 => format!("CF.SCANDUMP nowhere {number}"),
        6 => format!("CF.LOADCHUNK nowhere {number} bytes"),
        7 => format!("{} nowhere", random.one_of(&["CF.INFO", "CF.DEBUG", "CF.COMPACT", "CF.ADD", "CF.DEL"])),
        _ => format!("CF.DEL nowhere {option}"),
    }
}

#[test]
fn replies_are_the_same_in_both_layouts() {
    let (mut compared, mut skipped) = (0, 0);
    for seed in 1..=12 {
        println!("seed {seed}");
        let mut random = Random(seed);
        let mut twins = Twins::new();
        for _ in 0..6_000 {
            let key = random.one_of(&KEYS);
            let item = format!("item:{}", random.below(800));
            match random.below(100) {
                0 => {
                    let expansion = random.one_of(&["1", "2", "3", "8"]);
                    let capacity = 64 + random.below(500);
                    let bucket = random.one_of(&["2", "4", "8"]);
                    let command = format!(
                        "CF.RESERVE {key} {capacity} EXPANSION {expansion} BUCKETSIZE {bucket} MAXITERATIONS 30"
                    );
                    if twins.same(&command) == Reply::OK {
                        twins.truth.insert(key, HashMap::new());
                    }
                }
                1..=4 => {
                    let command = odd(&mut random);
                    twins.same(&command);
                }
                5..=6 => twins.info(key),
                7 => {
                    let command = format!("CF.COMPACT {key}");
                    let reply = twins.same(&command);
                    assert_eq!(reply == Reply::OK, twins.truth.contains_key(key));
                }
                8..=12 => {
                    let items: Vec<String> =
                        (0..=random.below(150)).map(|_| format!("item:{}", random.below(800))).collect();
                    twins.ask_many(key, &items);
                }
                13..=50 => {
                    let name = random.one_of(&["CF.ADD", "CF.ADDNX", "CF.INSERT", "CF.INSERTNX"]);
                    twins.add(name, key, &item);
                }
                51..=70 => twins.delete(key, &item),
                _ => {
                    let name = random.one_of(&["CF.EXISTS", "CF.COUNT"]);
                    twins.ask(name, key, &item);
                }
            }
        }
        compared += twins.compared;
        skipped += twins.skipped;
    }
    println!("{compared} replies compared, {skipped} about items that look like others");
    assert!(compared > 10 * skipped && compared > 100_000);
}

/// All that a host holds under a key, as bytes.
fn dump(memory: &Memory, key: &str) -> Vec<Vec<u8>> {
    let (mut position, mut pieces) = (0, Vec::new());
    loop {
        let reply = memory.run(&format!("CF.SCANDUMP {key} {position}"));
        let Reply::Array(parts) = reply else { return vec![format!("{reply:?}").into_bytes()] };
        let [Reply::Integer(next), Reply::Bulk(bytes)] = &parts[..] else { return pieces };
        pieces.push(bytes.clone());
        position = *next;
    }
}

#[test]
fn a_run_is_what_single_commands_are() {
    for (layout, seed) in
        ["native", "redisbloom"].into_iter().flat_map(|layout| (1..=20).map(move |s| (layout, s)))
    {
        println!("{layout}, seed {seed}");
        let mut random = Random(seed);
        let (one, many) = (Memory::with_layout(layout), Memory::with_layout(layout));
        // Some that fill up, some that reach their last expansion, some that grow.
        let reserve = match seed % 4 {
            0 => "CF.RESERVE k 200 EXPANSION 0",
            1 => "CF.RESERVE k 64 BUCKETSIZE 1 MAXITERATIONS 3",
            2 => "CF.RESERVE k 100 EXPANSION 2",
            _ => "CF.COUNT k nothing",
        };
        for memory in [&one, &many] {
            memory.set("cf-max-expansions", if seed % 4 == 1 { "4" } else { "32" });
            memory.run(reserve);
        }
        let mut refused = 0;
        for step in 0..300 {
            // Waves of mostly adding and mostly removing.
            let adding = if step / 75 % 2 == 0 { 7 } else { 2 };
            let (id, name) = match random.below(10) {
                chance if chance < adding => (CommandId::CfAdd, "CF.ADD"),
                chance if chance < 9 => (CommandId::CfDel, "CF.DEL"),
                _ => (CommandId::CfExists, "CF.EXISTS"),
            };
            let items: Vec<String> =
                (0..random.below(200)).map(|_| format!("i{}", random.below(400))).collect();
            let items: Vec<&[u8]> = items.iter().map(String::as_bytes).collect();
            let mut replies = vec![Reply::Null];
            let effect = execute_run(&many, id, b"k", &items, &mut replies);
            let mut strongest = Effect::None;
            assert_eq!(replies.len(), items.len() + 1);
            for (item, reply) in items.iter().zip(&replies[1..]) {
                let single = one.outcome(&[name.as_bytes(), b"k", item]);
                assert_eq!(single.reply, *reply, "step {step}");
                refused += u64::from(reply.is_error());
                strongest = match (strongest, single.effect) {
                    (Effect::Created, _) | (_, Effect::Created) => Effect::Created,
                    (Effect::Changed, _) | (_, Effect::Changed) => Effect::Changed,
                    _ => Effect::None,
                };
            }
            assert_eq!(effect, strongest, "step {step}");
        }
        assert_eq!(one.run("CF.DEBUG k"), many.run("CF.DEBUG k"));
        assert!(dump(&one, "k") == dump(&many, "k"), "the same bytes");
        assert!(refused > 0 || seed % 4 > 1, "some must have been refused");
    }
}

#[test]
fn runs_on_missing_and_other_keys() {
    use mayhap_commands::Value;
    let memory = Memory::new();
    let bits = || mayhap_commands::Bits { set: mayhap::Bitmap::sparse(), bytes: 8 };
    memory.put(b"bits", Value::Bitmap(std::sync::RwLock::new(bits())));
    let items: [&[u8]; 3] = [b"a", b"b", b"a"];
    for (id, name) in
        [(CommandId::CfExists, "CF.EXISTS"), (CommandId::CfDel, "CF.DEL"), (CommandId::CfAdd, "CF.ADD")]
    {
        for key in ["bits", "k"] {
            let mut replies = Vec::new();
            let effect = execute_run(&memory, id, key.as_bytes(), &items, &mut replies);
            let single = Memory::new();
            if key == "bits" {
                single.put(b"bits", Value::Bitmap(std::sync::RwLock::new(bits())));
            }
            let expected: Vec<Reply> =
                items.iter().map(|item| single.reply(&[name.as_bytes(), key.as_bytes(), item])).collect();
            assert_eq!(replies, expected, "{name} {key}");
            assert_eq!(effect == Effect::Created, name == "CF.ADD" && key == "k");
        }
    }
    assert!(memory.find(b"k").is_some());
}

/// The settings are changed one by one: whatever they are, `CF.ADD` makes a filter of them.
#[test]
fn usual_filters_have_two_buckets_at_least() {
    for layout in ["native", "redisbloom"] {
        let memory = Memory::with_layout(layout);
        memory.set("cf-bucket-size", "255");
        memory.set("cf-initial-size", "2");
        assert_eq!(memory.run("CF.ADD k item"), Reply::Flag(true), "{layout}");
        assert_eq!(memory.run("CF.INSERT l ITEMS item"), Reply::Added(vec![true]), "{layout}");
        assert_eq!(memory.run("CF.EXISTS k item"), Reply::Flag(true), "{layout}");
        let Reply::Error(text) = memory.run("CF.INSERT m CAPACITY 509 ITEMS item") else {
            panic!("{layout}")
        };
        assert_eq!(text, "Capacity must be in the range [cf-bucket-size * 2, 1073741824]");
    }
}
