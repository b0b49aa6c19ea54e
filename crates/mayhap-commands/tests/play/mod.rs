//! Playing a sequence of commands to the commands and to the model.

#![allow(clippy::unwrap_used, reason = "a check that panics has failed")]
#![allow(clippy::cast_possible_truncation, reason = "all numbers are small")]

use mayhap_commands::{Reply, execute_run, runs, spec};

use crate::memory::{Memory, wire};
use crate::model::Model;
use crate::model::answer::Answer;

/// Larger filters are removed: they take time, and have nothing new to show.
const LARGE_BYTES: u64 = 16 << 10;

/// Keys of a sequence: few, so that what is done to one meets what was done before.
const KEYS: [&str; 3] = ["first", "second", "third"];

/// A sequence: the same commands for both.
pub(crate) struct Play {
    number: u64,
    random: u64,
    memory: Memory,
    model: Model,
    /// What filters are made with, when they are made on purpose; `{}` is the key.
    reserve: String,
    /// Items are chosen among so many: the fewer, the more duplicates.
    items: u64,
    commands: usize,
}

impl Play {
    pub(crate) fn new(number: u64, reserve: &str) -> Self {
        let memory = Memory::with_layout("redisbloom");
        let mut play = Self {
            number,
            random: number,
            memory,
            model: Model::new(),
            reserve: reserve.to_owned(),
            items: 0,
            commands: 0,
        };
        play.items = [3, 20, 100, 400][play.below(4) as usize];
        play
    }

    /// Now and then others than RedisBloom's own, and small, so that filters grow.
    pub(crate) fn choose_defaults(&mut self) {
        if self.below(3) == 0 {
            return;
        }
        let (size, growth) = (1 + self.below(30), self.below(4));
        let (bucket_size, expansion) = (1 + self.below(4), self.below(4));
        let (capacity, iterations) = (bucket_size * (2 + self.below(20)), 1 + self.below(40));
        let max_expansions = 2 + self.below(40);
        for (name, value) in [
            ("bf-initial-size", size),
            ("bf-expansion-factor", growth),
            ("cf-bucket-size", bucket_size),
            ("cf-initial-size", capacity),
            ("cf-max-iterations", iterations),
            ("cf-expansion-factor", expansion),
            ("cf-max-expansions", max_expansions),
        ] {
            self.memory.set(name, &value.to_string());
        }
        self.model.bf_initial_size = size;
        self.model.bf_expansion_factor = u32::try_from(growth).unwrap();
        self.model.cf_bucket_size = u16::try_from(bucket_size).unwrap();
        self.model.cf_initial_size = capacity;
        self.model.cf_max_iterations = u16::try_from(iterations).unwrap();
        self.model.cf_expansion_factor = u16::try_from(expansion).unwrap();
        self.model.cf_max_expansions = max_expansions;
    }

    pub(crate) fn bloom_step(&mut self) {
        let key = self.key();
        match self.below(24) {
            0 | 1 => self.reserve(&key),
            2..=6 => self.one("BF.ADD", &key),
            7..=9 => self.many("BF.MADD", &key, &[]),
            10 => self.many(
                "BF.INSERT",
                &key,
                &["CAPACITY 9", "ERROR 0.1", "EXPANSION 3", "NONSCALING", "NOCREATE"],
            ),
            11 | 12 => self.one("BF.EXISTS", &key),
            13 | 14 => self.many("BF.MEXISTS", &key, &[]),
            15 => self.plain("BF.CARD", &key),
            16 => self.plain("BF.INFO", &key),
            17 => self.plain("BF.DEBUG", &key),
            18 => self.run_of("BF.ADD", &key),
            19 => self.run_of("BF.EXISTS", &key),
            20 => self.odd_scan("BF.SCANDUMP", &key),
            21 => self.copy("BF", &key),
            22 => drop(self.dump("BF.SCANDUMP", &key)),
            _ => self.maybe_remove(&key),
        }
    }

    pub(crate) fn cuckoo_step(&mut self) {
        let key = self.key();
        match self.below(30) {
            0 | 1 => self.reserve(&key),
            2..=4 => self.one("CF.ADD", &key),
            5 | 6 => self.one("CF.ADDNX", &key),
            7 | 8 => self.many("CF.INSERT", &key, &["CAPACITY 16", "NOCREATE"]),
            9 => self.many("CF.INSERTNX", &key, &["CAPACITY 64", "NOCREATE"]),
            10 | 11 => self.one("CF.EXISTS", &key),
            12 => self.many("CF.MEXISTS", &key, &[]),
            13 | 14 => self.one("CF.COUNT", &key),
            15..=18 => self.one("CF.DEL", &key),
            19 => self.plain("CF.COMPACT", &key),
            20 => self.plain("CF.INFO", &key),
            21 => self.plain("CF.DEBUG", &key),
            22 => self.run_of("CF.ADD", &key),
            23 => self.run_of("CF.EXISTS", &key),
            24 | 25 => self.run_of("CF.DEL", &key),
            26 => self.odd_scan("CF.SCANDUMP", &key),
            27 => self.copy("CF", &key),
            28 => drop(self.dump("CF.SCANDUMP", &key)),
            _ => self.maybe_remove(&key),
        }
    }

    fn reserve(&mut self, key: &str) {
        let command = self.reserve.replace("{}", key);
        self.check(&command.split(' ').map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>());
    }

    fn plain(&mut self, name: &str, key: &str) {
        self.check(&[name.into(), key.into()]);
    }

    fn one(&mut self, name: &str, key: &str) {
        let item = self.item();
        self.check(&[name.into(), key.into(), item]);
    }

    /// Several items, and, for `INSERT`, some of these options.
    fn many(&mut self, name: &str, key: &str, options: &[&str]) {
        let mut words: Vec<Vec<u8>> = vec![name.into(), key.into()];
        if !options.is_empty() {
            for option in options {
                if self.below(4) == 0 {
                    words.extend(option.split(' ').map(|word| word.as_bytes().to_vec()));
                }
            }
            words.push(b"ITEMS".to_vec());
        }
        for _ in 0..=self.below(12) {
            words.push(self.item());
        }
        self.check(&words);
    }

    /// Several commands of one item each, executed together.
    fn run_of(&mut self, name: &str, key: &str) {
        let id = spec::all().find(|spec| spec.name == name).unwrap().id;
        assert!(runs(id));
        // Copies of a few items make a cuckoo filter grow without end.
        let longest = if self.items >= 100 && self.below(4) == 0 { 150 } else { 10 };
        let length = 1 + self.below(longest);
        let items: Vec<Vec<u8>> = (0..length).map(|_| self.item()).collect();
        let words: Vec<&[u8]> = items.iter().map(Vec::as_slice).collect();
        let mut replies = Vec::new();
        execute_run(&self.memory, id, key.as_bytes(), &words, &mut replies);
        assert_eq!(replies.len(), items.len());
        for (item, reply) in items.iter().zip(&replies) {
            let words = [name.into(), key.into(), item.clone()];
            let expected = self.model.answer(&words);
            self.compare(&words, reply, &expected);
        }
    }

    /// A dump from any place.
    fn odd_scan(&mut self, name: &str, key: &str) {
        let place = self.below(400).cast_signed() - 20;
        self.check(&[name.into(), key.into(), place.to_string().into_bytes()]);
    }

    /// All pieces, which are given back with the iterator that came with them.
    fn dump(&mut self, name: &str, key: &str) -> Vec<(u64, Vec<u8>)> {
        let (mut pieces, mut at) = (Vec::new(), 0);
        loop {
            let reply = self.check(&[name.into(), key.into(), at.to_string().into_bytes()]);
            let Reply::Array(parts) = reply else { return pieces };
            let [Reply::Integer(next), bytes] = parts.as_slice() else { panic!("{parts:?}") };
            at = next.unsigned_abs();
            match bytes {
                Reply::Bulk(bytes) if at != 0 => pieces.push((at, bytes.clone())),
                _ => return pieces,
            }
        }
    }

    /// Dumps a filter and loads it under another key, its pieces in any order.
    fn copy(&mut self, family: &str, key: &str) {
        let to = KEYS[self.below(3) as usize];
        let mut pieces = self.dump(&format!("{family}.SCANDUMP"), key);
        let Some(filter) = self.model.keys.get(key.as_bytes()).cloned() else { return };
        if to == key || pieces.is_empty() {
            return;
        }
        self.memory.remove(to.as_bytes());
        self.model.keys.remove(to.as_bytes());
        for index in (2..pieces.len()).rev() {
            pieces.swap(index, 1 + self.below(index as u64) as usize);
        }
        for (at, bytes) in pieces {
            let words =
                [format!("{family}.LOADCHUNK").into_bytes(), to.into(), at.to_string().into_bytes(), bytes];
            let reply = self.memory.reply(&words);
            if self.model.has_too_many_filters(&filter) {
                // It came about within one command, but isn't taken back.
                return assert_eq!(reply, Reply::error("Couldn't create filter!"));
            }
            assert_eq!(reply, Reply::OK, "sequence {}: {}", self.number, show(&words));
        }
        self.model.keys.insert(to.into(), filter);
        self.dump(&format!("{family}.SCANDUMP"), to);
    }

    /// Compares all bytes after every few steps.
    pub(crate) fn after(&mut self, step: usize) {
        if step.is_multiple_of(4) {
            self.compare_dumps();
        }
        self.remove_large();
    }

    fn remove_large(&mut self) {
        for key in KEYS {
            if self.model.keys.get(key.as_bytes()).is_some_and(|filter| filter.bytes() > LARGE_BYTES) {
                self.model.keys.remove(key.as_bytes());
                assert!(self.memory.remove(key.as_bytes()));
            }
        }
    }

    fn maybe_remove(&mut self, key: &str) {
        if self.below(3) == 0 {
            let was_there = self.model.keys.remove(key.as_bytes()).is_some();
            assert_eq!(self.memory.remove(key.as_bytes()), was_there);
        }
    }

    /// Everything there is to see of every key.
    pub(crate) fn compare_dumps(&mut self) {
        for key in KEYS {
            for name in ["BF.SCANDUMP", "CF.SCANDUMP"] {
                self.dump(name, key);
            }
            self.plain("BF.INFO", key);
            self.plain("CF.INFO", key);
        }
    }

    fn check(&mut self, words: &[Vec<u8>]) -> Reply {
        let reply = self.memory.reply(words);
        let expected = self.model.answer(words);
        self.compare(words, &reply, &expected);
        reply
    }

    fn compare(&mut self, words: &[Vec<u8>], reply: &Reply, expected: &Answer) {
        self.commands += 1;
        for resp3 in [false, true] {
            let mut got = Vec::new();
            wire::write(reply, resp3, &mut got);
            let expected = expected.wire(resp3);
            assert!(
                got == expected,
                "sequence {}, command {}: {}\n  got      {}\n  expected {}",
                self.number,
                self.commands,
                show(words),
                got.escape_ascii(),
                expected.escape_ascii()
            );
        }
    }

    fn key(&mut self) -> String {
        // One of them is in use most of the time.
        KEYS[(self.below(6) as usize).saturating_sub(3)].to_owned()
    }

    /// Bytes of any value, of lengths around the words that are hashed.
    fn item(&mut self) -> Vec<u8> {
        let number = self.below(self.items);
        let mut state = number ^ self.number << 32;
        (0..number % 21)
            .map(|_| split_mix(&mut state).to_le_bytes()[0])
            .chain([number.to_le_bytes()[0], number.to_le_bytes()[1]])
            .collect()
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        split_mix(&mut self.random) % limit
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn show(words: &[Vec<u8>]) -> String {
    words.iter().map(|word| word.escape_ascii().to_string()).collect::<Vec<_>>().join(" ")
}
