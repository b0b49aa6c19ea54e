//! Files of kind 13, which hold other systems' filters, never change either: see `frozen.rs`.
//!
//! Each must open, say what its keys are, answer as listed here, and be rebuilt from its keys byte for byte. To add one:
//! add a line to [`FROZEN`] with zeros, run `MAYHAP_BLESS=1 cargo test --features formats --test frozen_foreign`, which
//! writes files that don't exist yet and never one that does, and copy the numbers it prints.

#![allow(clippy::unwrap_used, reason = "a check that panics has failed")]

use std::fs;
use std::path::{Path, PathBuf};

use mayhap::codec::{File, Kind, Version};
use mayhap::formats::crawler::CrawlerBloom;
use mayhap::formats::guava::{GuavaBloom, Sizing};
use mayhap::formats::leveldb::LevelDbFilter;
use mayhap::formats::parquet::SplitBlockBloom;
use mayhap::formats::redisbloom::{RdbVersion, RedisBloom, RedisCuckoo};
use mayhap::formats::spark::{SparkBloom, SparkRecipe};
use mayhap::formats::{ForeignFile, ForeignFilter, KeyForm};
use mayhap::hash::KeyHasher;

/// A file of version 1.0.
struct Frozen {
    name: &'static str,
    filter: fn() -> ForeignFilter,
    keys: KeyForm,
    /// XXH3-64 of the file.
    digest: u64,
    /// How many of the numbers from 1 000 on, 100 000 of them, it takes for members.
    false_positives: usize,
}

/// The numbers below this are in it, [written as text](Frozen::key) and encoded as the form of its keys says.
const HELD: u64 = 200;
const ABSENT: std::ops::Range<u64> = 1_000..101_000;

const FROZEN: &[Frozen] = &[
    row(
        "leveldb",
        || ForeignFilter::LevelDb(LevelDbFilter::new(200, 10).unwrap()),
        KeyForm::Text,
        0x6731_2924_dee9_2e3f,
        777,
    ),
    row("guava", || ForeignFilter::Guava(guava()), KeyForm::Int64, 0xff0f_f838_a2e6_5188, 1_001),
    row("guava-utf16", || ForeignFilter::Guava(guava()), KeyForm::Utf16, 0xecf9_8100_b1a4_8f3f, 789),
    row(
        "spark-1",
        || ForeignFilter::Spark(spark(SparkRecipe::V1)),
        KeyForm::Text,
        0xef0c_e836_df66_93c2,
        1_011,
    ),
    row(
        "spark-2",
        || ForeignFilter::Spark(spark(SparkRecipe::V2 { seed: 7 })),
        KeyForm::Int64,
        0xf918_30b4_2fc9_dd56,
        1_031,
    ),
    row("parquet-i32", || ForeignFilter::Parquet(parquet()), KeyForm::Int32, 0xcad9_0e6e_bf39_2c5a, 1_293),
    row("parquet-f32", || ForeignFilter::Parquet(parquet()), KeyForm::Float32, 0x188a_d8af_b2b7_68c6, 929),
    row("parquet-f64", || ForeignFilter::Parquet(parquet()), KeyForm::Float64, 0xb943_1bbd_4a4b_7cc0, 1_119),
    row("parquet-u32", || ForeignFilter::Parquet(parquet()), KeyForm::UInt32, 0xcd98_8689_5ad9_be47, 1_293),
    row("parquet-u64", || ForeignFilter::Parquet(parquet()), KeyForm::UInt64, 0x5bf8_1a61_881c_fbcc, 1_052),
    row("parquet-uuid", || ForeignFilter::Parquet(parquet()), KeyForm::Uuid, 0x2df4_2ec8_4b53_d432, 1_248),
    row("parquet-hex", || ForeignFilter::Parquet(parquet()), KeyForm::Hex, 0x410a_66a0_674e_b294, 1_225),
    row(
        "redis-bloom",
        || ForeignFilter::RedisBloom(RedisBloom::new().unwrap(), RdbVersion::REDIS_7_0),
        KeyForm::Text,
        0xeeb0_ff95_1639_4b01,
        396,
    ),
    row(
        "redis-cuckoo",
        || ForeignFilter::RedisCuckoo(RedisCuckoo::with_capacity(200).unwrap(), RdbVersion::REDIS_8_0),
        KeyForm::Text,
        0x8514_ff20_745d_788c,
        1_160,
    ),
    row(
        "crawler",
        || ForeignFilter::Crawler(CrawlerBloom::new(7, 2_001).unwrap()),
        KeyForm::Text,
        0x96f7_8581_1e87_4dd1,
        704,
    ),
];

const fn row(
    name: &'static str,
    filter: fn() -> ForeignFilter,
    keys: KeyForm,
    digest: u64,
    false_positives: usize,
) -> Frozen {
    Frozen { name, filter, keys, digest, false_positives }
}

fn guava() -> GuavaBloom {
    GuavaBloom::with_rate(200, 0.01, Sizing::Guava31).unwrap()
}

fn parquet() -> SplitBlockBloom {
    SplitBlockBloom::with_rate(200, 0.01).unwrap()
}

fn spark(recipe: SparkRecipe) -> SparkBloom {
    SparkBloom::with_rate(recipe, 200, 0.01).unwrap()
}

#[test]
fn files_of_version_1_0_open_and_answer_the_same() {
    let mut changed = Vec::new();
    for frozen in FROZEN {
        let (name, path, built) = (frozen.name, frozen.path(), frozen.build());
        if std::env::var_os("MAYHAP_BLESS").is_some() && !path.exists() {
            fs::write(&path, &built).unwrap();
        }
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file = File::parse(&bytes).unwrap();
        assert_eq!(
            (file.header().version, file.header().kind),
            (Version { major: 1, minor: 0 }, Kind::FOREIGN)
        );

        let opened = ForeignFile::open(&path).unwrap();
        let answers = |number: u64| opened.contains(frozen.key(number).as_bytes());
        assert!((0..HELD).all(|number| answers(number) == Some(true)), "{name}: false negatives");
        let positives = ABSENT.filter(|number| answers(*number) == Some(true)).count();
        let digest = KeyHasher::xxh3(0).digest(&bytes).get();
        if (digest, positives) != (frozen.digest, frozen.false_positives) {
            changed.push(format!("{name}: {digest:#018x}, {positives}"));
        }
        assert_eq!(opened.keys, frozen.keys, "{name}");
        assert!(opened.to_bytes().unwrap() == bytes, "{name}: written again, other bytes");
        assert!(built == bytes, "{name}: rebuilt from its keys, other bytes");
    }
    assert!(changed.is_empty(), "other files, or other answers, than those of version 1.0: {changed:#?}");
}

/// Nothing lies in the directory that no test opens.
#[test]
fn every_file_of_another_system_is_listed() {
    for entry in fs::read_dir(directory()).unwrap() {
        let path = entry.unwrap().path();
        let is_foreign = path.file_name().unwrap().to_str().unwrap().starts_with("v1.0-foreign-");
        let is_listed = FROZEN.iter().any(|frozen| frozen.path() == path);
        assert_eq!(is_foreign, is_listed, "{}", path.display());
    }
}

impl Frozen {
    fn build(&self) -> Vec<u8> {
        let mut file = ForeignFile { filter: (self.filter)(), keys: self.keys };
        for number in 0..HELD {
            file.insert(self.key(number).as_bytes()).unwrap().unwrap();
        }
        file.to_bytes().unwrap()
    }

    /// A number as a key is written: with leading zeros, where they count.
    fn key(&self, number: u64) -> String {
        match self.keys {
            KeyForm::Uuid => format!("{number:032x}"),
            KeyForm::Hex => format!("{number:010x}"),
            _ => number.to_string(),
        }
    }

    fn path(&self) -> PathBuf {
        directory().join(format!("v1.0-foreign-{}.mayhap", self.name))
    }
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/files")
}
