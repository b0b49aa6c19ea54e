//! RedisBloom's filters: commands, chunks, `DUMP` payloads and RDB files.

mod bloom;
mod cuckoo;

use std::borrow::Cow;
use std::path::Path;
use std::str::FromStr;

use mayhap::formats::redisbloom::rdb::RdbFile;
use mayhap::formats::redisbloom::{Chunk, RdbVersion, RedisBloom, RedisCuckoo, RedisValue};
use serde_json::Value;

use crate::case::{Case, hex};

pub(crate) const FILES: &[(&str, crate::Check)] =
    &[("redisbloom_bf", bloom::case), ("redisbloom_cf", cuckoo::case), ("redisbloom_dump", dump)];

/// A payload of the filter that has the same id among those of the commands, if they stand beside it.
fn dump(case: &mut Case) {
    let payload = case.bytes("dump_hex");
    let id = case.text("id");
    let value = RedisValue::from_dump(&payload).unwrap();
    assert_eq!(value.to_dump(RdbVersion::of_dump(&payload).unwrap()).unwrap(), payload, "written back");
    match (case.text("family"), value) {
        ("BF", RedisValue::Bloom(filter)) => {
            let rebuilt = same_id(case, "redisbloom_bf", id).map(|case| bloom::rebuilt(&case));
            bloom::check_dump(&payload, rebuilt.as_ref().unwrap_or(&filter));
        }
        ("CF", RedisValue::Cuckoo(filter)) => {
            if let Some(case) = same_id(case, "redisbloom_cf", id) {
                assert!(filter == cuckoo::rebuilt(&case), "the payload read");
            }
            check_damage(&payload, seal_dump, |bytes| drop(RedisValue::from_dump(bytes)));
        }
        (family, value) => panic!("{family}, but {value:?}"),
    }
}

/// The case of the same id in the files whose names start so.
fn same_id(case: &Case, start: &str, id: &str) -> Option<Case> {
    let entries = std::fs::read_dir(case.directory()).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(start) && name.ends_with(".jsonl")
    });
    files.into_iter().find_map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut cases = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| Case::parse(line, case.directory()));
        cases.find(|case| case.text("id") == id)
    })
}

/// Every filter in an RDB file is read and written back as it was; of the file whose keys are known, they are found.
pub(crate) fn rdb_file(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    let mut keys = Vec::new();
    for entry in RdbFile::new(&bytes).unwrap() {
        let entry = entry.unwrap();
        let value = entry.read().unwrap();
        if let Some(value) = &value {
            assert_eq!(value.to_rdb_value().unwrap(), entry.encoded(), "{} written back", entry.key_text());
        }
        keys.push((entry.key_text().into_owned(), entry.type_name().into_owned(), value));
    }
    if path.file_name().is_some_and(|name| name == "redisbloom_redis70.rdb") {
        check_keys(keys);
    }
    check_damage(&bytes, unseal_file, |bytes| {
        let Ok(file) = RdbFile::new(bytes) else { return };
        file.map_while(Result::ok).for_each(|entry| drop(entry.read()));
    });
}

/// What `README.md` tells about the file.
fn check_keys(keys: Vec<(String, String, Option<RedisValue>)>) {
    let mut names: Vec<(&str, &str)> =
        keys.iter().map(|(key, kind, _)| (key.as_str(), kind.as_str())).collect();
    names.sort_unstable();
    let expected =
        [("coupons", "MBbloomCF"), ("phones", "MBbloom--"), ("plain", "string"), ("urls", "MBbloom--")];
    assert_eq!(names, expected);
    for (key, _, value) in keys {
        match (key.as_str(), value) {
            ("urls", Some(RedisValue::Bloom(filter))) => {
                let mut urls = RedisBloom::reserve(0.001, 500, 2, true).unwrap();
                for i in 0..2000 {
                    let _ = urls.add(&format!("https://example.org/page/{i}")).unwrap();
                }
                assert!(urls == filter);
            }
            ("phones", Some(RedisValue::Bloom(filter))) => {
                let mut phones = RedisBloom::reserve(0.01, 1000, 2, false).unwrap();
                for i in 0..800u64 {
                    let _ = phones.add(&(13_800_000_000 + 37 * i).to_string()).unwrap();
                }
                assert!(phones == filter);
            }
            ("coupons", Some(RedisValue::Cuckoo(filter))) => {
                let mut coupons = RedisCuckoo::reserve(1024, 4, 20, 2).unwrap();
                let coupon = |i: u32| format!("COUPON-{i:06}");
                for i in 0..1500 {
                    coupons.add(&coupon(i)).unwrap();
                }
                for i in (0..600).step_by(3) {
                    assert!(coupons.remove(&coupon(i)));
                }
                assert!(coupons == filter);
            }
            ("plain", None) => {}
            (key, value) => panic!("{key}: {value:?}"),
        }
    }
}

/// The pieces that `SCANDUMP` gave.
fn recorded_chunks(value: &Value) -> Vec<Chunk<'static>> {
    let chunk = |chunk: &Value| Chunk {
        iterator: chunk["iterator"].as_u64().unwrap(),
        bytes: Cow::Owned(hex(chunk["hex"].as_str().unwrap())),
    };
    value.as_array().unwrap().iter().map(chunk).collect()
}

/// A recorded command.
struct Command<'a>(Vec<&'a str>);

impl<'a> Command<'a> {
    fn of(value: &'a Value, name: &str) -> Self {
        let words: Vec<&str> = value.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        assert!(words[0].eq_ignore_ascii_case(name), "{words:?} is no {name}");
        Self(words)
    }

    fn words(&self) -> impl Iterator<Item = &'a str> {
        self.0.iter().copied()
    }

    fn argument<T: FromStr>(&self, index: usize) -> T {
        parse(self.0[index])
    }

    /// The word after this one.
    fn option<T: FromStr>(&self, name: &str) -> Option<T> {
        let place = self.0.iter().position(|word| word.eq_ignore_ascii_case(name))?;
        Some(parse(self.0[place + 1]))
    }
}

fn parse<T: FromStr>(word: &str) -> T {
    word.parse().unwrap_or_else(|_| panic!("{word} is no number"))
}

/// Reads truncations and changes of the bytes: every one of short ones, a sample of others. `seal` makes a checksum right
/// again, so that what is behind it is reached.
fn check_damage(bytes: &[u8], seal: impl Fn(&mut [u8]), read: impl Fn(&[u8])) {
    let step = (bytes.len() / 300).max(1);
    for end in (0..bytes.len()).step_by(step) {
        let mut cut = bytes[..end].to_vec();
        read(&cut);
        seal(&mut cut);
        read(&cut);
    }
    for place in (0..bytes.len()).step_by(step) {
        for mask in [0x01, 0x80, 0xff] {
            let mut changed = bytes.to_vec();
            changed[place] ^= mask;
            read(&changed);
            seal(&mut changed);
            read(&changed);
        }
    }
}

/// Ends a payload with its checksum.
fn seal_dump(payload: &mut [u8]) {
    let Some(end) = payload.len().checked_sub(8) else { return };
    let checksum = payload[..end].iter().fold(0u64, |crc, byte| {
        (0..8).fold(crc ^ u64::from(*byte), |crc, _| {
            crc >> 1 ^ (crc & 1).wrapping_neg() & 0x95ac_9329_ac4b_c9b5
        })
    });
    payload[end..].copy_from_slice(&checksum.to_le_bytes());
}

/// Ends a file with the checksum of none.
fn unseal_file(file: &mut [u8]) {
    let start = file.len().saturating_sub(8);
    file[start..].fill(0);
}
