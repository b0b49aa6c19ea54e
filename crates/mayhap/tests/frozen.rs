//! What never changes: digests of keys, bytes of files, which absent keys are false positives.
//!
//! A filter saved today is opened by every later version, so these numbers are promises. When one of these
//! tests fails, the change that made it fail is wrong, or it needs a new recipe number (`docs/formats.md`)
//! and leaves these as they are.
//!
//! The files in `testdata/files` were written by version 1.0 of the format. Each must open, answer as listed
//! here, and be rebuilt from its keys byte for byte. To add one: add a line to [`FROZEN`] with zeros, run
//! `MAYHAP_BLESS=1 cargo test --test frozen`, which writes files that don't exist yet and never one that
//! does, and copy the numbers it prints. Seeds are part of the names.

#![allow(clippy::unwrap_used, reason = "a check that panics has failed")]

use std::path::PathBuf;

use mayhap::bits::Mapped;
use mayhap::bloom::Shape;
use mayhap::codec::{Existing, File, Version};
use mayhap::counting::{CounterLayout, CounterShape, CounterWidth};
use mayhap::cuckoo::CuckooLayout;
use mayhap::hash::{HashFunction, HashId, KeyHasher, SecretKey};
use mayhap::sizing::ClassicPlan;
use mayhap::{
    Bitmap, BloomFilter, ClassicBloom, CountingBloom, CuckooFilter, DLeftCounting, DualBloom, MappedBitmap,
    MappedBloomFilter, MappedClassicBloom, ReadOptions, ScalableBloom, ScalableCuckoo, WindowBloom,
};

use Hashing::{Fnv, Sip13, Xxh3};
use Recipe::{
    Blocked, Classic, ClassicOf, Counting, Cuckoo, DLeft, Dual, GrowingCuckoo, Scalable, WindowByCount,
    WindowByTime,
};

/// A file of version 1.0.
struct Frozen {
    name: &'static str,
    recipe: Recipe,
    hashing: Hashing,
    /// Keys "key 0", "key 1" … that it holds.
    keys: u64,
    rate: f64,
    /// XXH3-64 of the file.
    digest: u64,
    /// How many of "absent 0" to "absent 99999" it takes for members.
    false_positives: usize,
}

#[derive(Clone, Copy)]
enum Recipe {
    Blocked(Shape),
    Classic,
    /// Bits and hashes, whatever sizing would choose; by XXH3 with seed 0.
    ClassicOf(u64, u32),
    /// And 200 keys "gone 0" … that were added and removed again, and one, "often", that was added 20 times.
    Counting(CounterLayout),
    /// Half full, with room for each key at once: 1 000 buckets, from which keys "gone 0" … "gone 199" were removed.
    Cuckoo(Option<CuckooLayout>),
    /// Reserved for 100; keys "gone 0" … "gone 199" were removed.
    GrowingCuckoo,
    /// Made for 200 more, which were added first and removed again, and 20 copies of "often".
    DLeft,
    /// And 200 keys "gone 0" … that were added and removed again.
    Dual,
    /// Reserved for 100.
    Scalable,
    /// Three slots; a key at each instant from 2 001 on, after keys "old 0" … that are forgotten by the end.
    WindowByTime,
    /// Three slots, after 900 keys "old 0" ….
    WindowByCount,
}

#[derive(Clone, Copy)]
enum Hashing {
    Xxh3(u64),
    Sip13,
    Fnv,
}

/// The key of the keyed ones.
const SECRET: [u8; 16] = *b"frozen in amber!";
const ABSENT: u64 = 100_000;

const FROZEN: &[Frozen] = &[
    row("blocked-four-xxh3-42", Blocked(FOUR), Xxh3(42), 2_000, 0.1, 0x8f13_2681_834a_37a3, 8_806),
    row("blocked-eight-xxh3-42", Blocked(EIGHT), Xxh3(42), 2_000, 0.01, 0x7590_8ac8_ffb2_441d, 846),
    row("blocked-sixteen-xxh3-42", Blocked(SIXTEEN), Xxh3(42), 2_000, 0.001, 0x48c7_e513_cf32_8374, 79),
    row("blocked-two-lines-xxh3-42", Blocked(TWO_LINES), Xxh3(42), 2_000, 1e-4, 0x3055_a6fb_f012_93c7, 8),
    row("blocked-one-key-xxh3-0", Blocked(EIGHT), Xxh3(0), 1, 0.01, 0x164c_239c_26bc_392c, 0),
    row("blocked-eight-sip13", Blocked(EIGHT), Sip13, 2_000, 0.01, 0x0b66_6c70_8a30_6af8, 988),
    row("blocked-eight-fnv1a", Blocked(EIGHT), Fnv, 2_000, 0.01, 0x3c89_1032_7bb9_210e, 992),
    row("classic-xxh3-42", Classic, Xxh3(42), 2_000, 0.01, 0xf21c_1def_70ab_64d7, 1_023),
    row("classic-low-xxh3-42", Classic, Xxh3(42), 500, 1e-4, 0x4888_ad10_b1a6_8242, 12),
    row("classic-sip13", Classic, Sip13, 2_000, 0.1, 0x4341_d926_9352_1881, 9_975),
    row("classic-fnv1a", Classic, Fnv, 2_000, 0.01, 0x7939_e014_92aa_bda4, 984),
    row("classic-10007-bits-xxh3-0", ClassicOf(10_007, 5), Xxh3(0), 1_500, 0.0, 0x81ad_5461_9d90_1261, 4_120),
    row("counting-four-8-xxh3-42", Counting(FOUR_8), Xxh3(42), 200, 0.03, 0x8ac4_a1d8_0999_63d2, 2_607),
    row("counting-eight-4-xxh3-42", Counting(EIGHT_4), Xxh3(42), 200, 0.01, 0x2a70_565d_f10b_7a9d, 889),
    row("counting-two-lines-4-sip13", Counting(TWO_4), Sip13, 200, 0.01, 0x41ed_f6d3_cc5d_7767, 771),
    row("counting-sixteen-16-xxh3-0", Counting(SIXTEEN_16), Xxh3(0), 100, 1e-4, 0xb1de_c966_1024_7d3f, 9),
    row("cuckoo-4x16-xxh3-42", Cuckoo(FOUR_OF_16), Xxh3(42), 1_800, 0.01, 0xf215_6879_7965_19c7, 9),
    row("cuckoo-4x12-sip13", Cuckoo(FOUR_OF_12), Sip13, 1_800, 0.01, 0x89da_3679_ec99_427f, 87),
    row("cuckoo-sorted-9-xxh3-42", Cuckoo(SEMI_SORTED_9), Xxh3(42), 1_800, 0.03, 0x0506_7afa_3cfb_40b6, 701),
    row("cuckoo-8x20-xxh3-0", Cuckoo(EIGHT_OF_20), Xxh3(0), 1_800, 0.01, 0x338f_95a2_0ab4_9b5c, 1),
    row("scalable-cuckoo-xxh3-42", GrowingCuckoo, Xxh3(42), 2_000, 0.01, 0x3831_0eb0_33ed_f5fd, 212),
    row("d-left-xxh3-42", DLeft, Xxh3(42), 2_000, 0.01, 0x99db_6c2e_a7c5_5375, 670),
    row("dual-xxh3-42", Dual, Xxh3(42), 2_000, 0.01, 0x5cc0_7bb0_1f99_7e86, 936),
    row("scalable-xxh3-42", Scalable, Xxh3(42), 2_000, 0.01, 0x1c06_8476_adcb_28c8, 333),
    row("window-by-time-xxh3-42", WindowByTime, Xxh3(42), 2_000, 0.01, 0xcb7f_53a0_70d2_f342, 90),
    row("window-by-count-sip13", WindowByCount, Sip13, 2_000, 0.01, 0xb155_3f40_0877_2983, 607),
];

/// Filters too large to be kept: of more than a MiB, where the layout of the file is another and there are
/// several checksums. Only their digests are.
const FROZEN_LARGE: [Frozen; 2] = [
    row("blocked, 1.3 MB", Blocked(EIGHT), Xxh3(42), 1_000_000, 0.01, 0x1262_7e84_daad_8913, 1_048),
    row("classic, 1.2 MB", Classic, Xxh3(42), 1_000_000, 0.01, 0x4843_6b95_9b5e_d032, 988),
];

const FOUR_OF_12: Option<CuckooLayout> = CuckooLayout::new(4, 12);
const FOUR_OF_16: Option<CuckooLayout> = CuckooLayout::new(4, 16);
const EIGHT_OF_20: Option<CuckooLayout> = CuckooLayout::new(8, 20);
const SEMI_SORTED_9: Option<CuckooLayout> = CuckooLayout::semi_sorted(9);
const FOUR: Shape = Shape::Four;
const EIGHT: Shape = Shape::Eight;
const SIXTEEN: Shape = Shape::Sixteen;
const TWO_LINES: Shape = Shape::SixteenTwoLines;
const FOUR_8: CounterLayout = CounterLayout { shape: CounterShape::Four, width: CounterWidth::Eight };
const EIGHT_4: CounterLayout = CounterLayout { shape: CounterShape::Eight, width: CounterWidth::Four };
const TWO_4: CounterLayout = CounterLayout { shape: CounterShape::EightTwoLines, width: CounterWidth::Four };
const SIXTEEN_16: CounterLayout =
    CounterLayout { shape: CounterShape::SixteenTwoLines, width: CounterWidth::Sixteen };

const fn row(
    name: &'static str,
    recipe: Recipe,
    hashing: Hashing,
    keys: u64,
    rate: f64,
    digest: u64,
    false_positives: usize,
) -> Frozen {
    Frozen { name, recipe, hashing, keys, rate, digest, false_positives }
}

#[test]
fn files_are_rebuilt_byte_for_byte() {
    for frozen in FROZEN.iter().chain(&FROZEN_LARGE) {
        let bytes = frozen.build();
        let digest = KeyHasher::xxh3(0).digest(&bytes).get();
        let positives = frozen.answers_of_bytes(&bytes);
        println!("{}: {digest:#018x}, {positives}", frozen.name);
        assert_eq!(
            (digest, positives),
            (frozen.digest, frozen.false_positives),
            "{}: {digest:#018x}, {positives}: another file, or other answers, than those of version 1.0",
            frozen.name
        );
    }
}

#[test]
fn files_of_version_1_0_open_and_answer_the_same() {
    for frozen in FROZEN {
        let path = frozen.path();
        if std::env::var_os("MAYHAP_BLESS").is_some() && !path.exists() {
            std::fs::write(&path, frozen.build()).unwrap();
        }
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(
            KeyHasher::xxh3(0).digest(&bytes).get(),
            frozen.digest,
            "{}: the file was changed",
            frozen.name
        );
        let file = File::parse(&bytes).unwrap();
        file.verify().unwrap();
        assert_eq!(file.header().version, Version { major: 1, minor: 0 }, "{}", frozen.name);
        assert!(bytes == frozen.build(), "{}: rebuilt from its keys, other bytes", frozen.name);

        let options = frozen.options();
        let (name, expected) = (frozen.name, frozen.false_positives);
        match frozen.recipe {
            Blocked(_) => {
                let opened = <BloomFilter>::open_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| opened.contains(key)), expected, "{name}, read");
                let mapped = MappedBloomFilter::map_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| mapped.contains(key)), expected, "{name}, mapped");
                assert_eq!(opened.to_bytes().unwrap(), bytes, "{name}: written again, other bytes");
            }
            Classic | ClassicOf(..) => {
                let opened = <ClassicBloom>::open_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| opened.contains(key)), expected, "{name}, read");
                let mapped = MappedClassicBloom::map_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| mapped.contains(key)), expected, "{name}, mapped");
                assert_eq!(opened.to_bytes().unwrap(), bytes, "{name}: written again, other bytes");
            }
            Counting(_) => {
                let opened = CountingBloom::open_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| opened.contains(key)), expected, "{name}, read");
                let mapped = CountingBloom::<Mapped>::map_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| mapped.contains(key)), expected, "{name}, mapped");
                assert_eq!(opened.to_bytes().unwrap(), bytes, "{name}: written again, other bytes");
                assert_eq!(opened.count("often"), opened.max_count().min(20), "{name}");
                assert_eq!(opened.len(), frozen.keys + 20, "{name}");
            }
            Cuckoo(_) => {
                let opened = CuckooFilter::open_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| opened.contains(key)), expected, "{name}, read");
                let mapped = CuckooFilter::<Mapped>::map_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| mapped.contains(key)), expected, "{name}, mapped");
                assert_eq!(opened.to_bytes().unwrap(), bytes, "{name}: written again, other bytes");
                assert_eq!((opened.len(), mapped.len()), (frozen.keys, frozen.keys), "{name}");
            }
            GrowingCuckoo => {
                let opened = ScalableCuckoo::open_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| opened.contains(key)), expected, "{name}, read");
                let mapped = ScalableCuckoo::<Mapped>::map_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| mapped.contains(key)), expected, "{name}, mapped");
                assert_eq!(opened.to_bytes().unwrap(), bytes, "{name}: written again, other bytes");
                assert_eq!((opened.len(), mapped.len()), (frozen.keys, frozen.keys), "{name}");
            }
            DLeft => {
                let opened = DLeftCounting::open_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| opened.contains(key)), expected, "{name}, read");
                let mapped = DLeftCounting::<Mapped>::map_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| mapped.contains(key)), expected, "{name}, mapped");
                assert_eq!(opened.to_bytes().unwrap(), bytes, "{name}: written again, other bytes");
                assert_eq!((opened.len(), opened.count("often")), (frozen.keys + 20, 20), "{name}");
            }
            Dual => {
                let opened = DualBloom::open_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| opened.contains(key)), expected, "{name}, read");
                let mapped = DualBloom::<Mapped>::map_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| mapped.contains(key)), expected, "{name}, mapped");
                assert_eq!(opened.to_bytes().unwrap(), bytes, "{name}: written again, other bytes");
                assert!((0..200).all(|i| !opened.contains(&format!("gone {i}"))), "{name}");
            }
            Scalable => {
                let opened = ScalableBloom::open_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| opened.contains(key)), expected, "{name}, read");
                let mapped = ScalableBloom::<Mapped>::map_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| mapped.contains(key)), expected, "{name}, mapped");
                assert_eq!(opened.to_bytes().unwrap(), bytes, "{name}: written again, other bytes");
            }
            WindowByTime | WindowByCount => {
                let opened = WindowBloom::open_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| opened.contains(key)), expected, "{name}, read");
                let mapped = WindowBloom::<Mapped>::map_with(&path, &options).unwrap();
                assert_eq!(frozen.answers(|key| mapped.contains(key)), expected, "{name}, mapped");
                assert_eq!(opened.to_bytes().unwrap(), bytes, "{name}: written again, other bytes");
            }
        }
    }
}

/// The name, the XXH3-64 of the file, and the bitmap in it.
type FrozenBitmap = (&'static str, u64, fn() -> Bitmap);

/// Squares below a thousand, and in the sparse form containers of each shape: arrays, bits, runs.
const BITMAPS: [FrozenBitmap; 2] = [
    ("bitmap-dense", 0x501b_12f3_03f0_1b74, || {
        let mut squares = Bitmap::dense(1000).unwrap();
        squares.extend((0..32).map(|i| i * i));
        squares
    }),
    ("bitmap-sparse", 0x28e3_c9c0_b247_0e10, || {
        let mut numbers: Bitmap = (0..3000).map(|i| i * i).collect();
        numbers.insert_range(20_000_000..20_100_000).unwrap();
        numbers.extend((30_000_000..30_020_000).step_by(2));
        numbers.extend([(1 << 33) + 1, u64::MAX]);
        numbers
    }),
];

#[test]
fn bitmaps_of_version_1_0_open_and_are_the_same() {
    for (name, digest, build) in BITMAPS {
        let (path, bitmap) = (directory().join(format!("v1.0-{name}.mayhap")), build());
        if std::env::var_os("MAYHAP_BLESS").is_some() && !path.exists() {
            std::fs::write(&path, bitmap.to_bytes().unwrap()).unwrap();
        }
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let found = KeyHasher::xxh3(0).digest(&bytes).get();
        println!("{name}: {found:#018x}");
        assert_eq!(found, digest, "{name}: the file was changed");
        assert!(bytes == bitmap.to_bytes().unwrap(), "{name}: rebuilt from its numbers, other bytes");
        let opened = Bitmap::open(&path).unwrap();
        assert!(opened == bitmap, "{name}, read");
        assert!(MappedBitmap::map(&path).unwrap() == bitmap, "{name}, mapped");
        assert!(opened.to_bytes().unwrap() == bytes, "{name}: written again, other bytes");
    }
}

/// Nothing lies in the directory that no test opens, and saving writes what is there. Other systems' filters are listed
/// in `frozen_foreign.rs`.
#[test]
fn every_file_in_the_directory_is_listed() {
    for entry in std::fs::read_dir(directory()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let listed = FROZEN.iter().any(|frozen| frozen.path().ends_with(&name))
            || name.starts_with("v1.0-foreign-")
            || BITMAPS.iter().any(|(bitmap, ..)| name == format!("v1.0-{bitmap}.mayhap"));
        assert!(listed, "testdata/files/{name} is not listed in this test");
    }
    let path = std::env::temp_dir().join(format!("mayhap-frozen-{}.mayhap", std::process::id()));
    let filter = BloomFilter::from_bytes(&FROZEN[1].build()).unwrap();
    filter.save(&path, Existing::Replace).unwrap();
    let saved = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(saved == FROZEN[1].build());
}

/// Digests are on disk in every filter, so the functions never change. The lengths are those at which they
/// work differently.
#[test]
fn digests_of_keys() {
    let sip13 = KeyHasher::sip13(SecretKey::new(SECRET));
    for (length, xxh3, seeded, keyed) in DIGESTS {
        let key: Vec<u8> = (0..length).map(|i| (i * 7 + 1).to_le_bytes()[0]).collect();
        let got = [
            KeyHasher::xxh3(0).digest(&key).get(),
            KeyHasher::xxh3(0x0123_4567_89ab_cdef).digest(&key).get(),
            sip13.digest(&key).get(),
        ];
        assert_eq!(got, [xxh3, seeded, keyed], "a key of {length} bytes: {got:#018x?}");
        let xxh3 = xxhash_rust::xxh3::xxh3_64(&key);
        assert_eq!(got[0], xxh3, "a key of {length} bytes: not what the reference says");
    }
    // Integers are their little-endian bytes; the key's id is public and stands in files.
    assert_eq!(KeyHasher::xxh3(0).digest(&1u64), KeyHasher::xxh3(0).digest(&[1u8, 0, 0, 0, 0, 0, 0, 0]));
    assert_eq!(SecretKey::new(SECRET).id(), SECRET_ID, "{:#018x}", SecretKey::new(SECRET).id());
    assert_eq!(KeyHasher::custom(Fnv1a).digest("mayhap").get(), FNV1A_OF_MAYHAP);
}

/// Length of the key, XXH3 with seed 0, XXH3 with seed 0x0123456789abcdef, SipHash-1-3.
const DIGESTS: [(usize, u64, u64, u64); 12] = [
    (0, 0x2d06_8005_38d3_94c2, 0xcc1c_a35a_1b08_9c5c, 0xe9ee_c3ff_5daf_839c),
    (1, 0xe12e_f9d2_eb86_ceeb, 0xd273_6045_b9a2_490d, 0xb79c_d342_037f_eb42),
    (3, 0x5c83_885a_0fb5_d516, 0x1136_5ce6_48dc_7635, 0x8ef5_e13e_1962_a173),
    (4, 0x244f_36de_481e_7522, 0x28d9_9f64_fc66_e532, 0x91f5_da16_65a7_f0ed),
    (8, 0x96cc_97a6_768f_d7a9, 0xcb86_ef9e_9367_0a9c, 0xf69e_9943_2171_c8aa),
    (9, 0x4781_d83b_8e99_d495, 0x5ac5_58fc_8114_3731, 0x898e_dddd_90b8_3845),
    (16, 0x913b_d4a8_0380_27a7, 0x1585_8679_e82e_b84b, 0x01a8_8a57_2cf5_f5ca),
    (17, 0x2bf6_f669_73a6_179d, 0x389c_a397_5c0b_4bd0, 0x5fcc_0ce7_d023_3969),
    (32, 0x5d50_3b89_ae6f_56c6, 0xe995_eb61_991f_6724, 0xe5b0_2148_6f31_10cc),
    (64, 0x1388_6553_e7dc_3fa3, 0x03ef_f44f_c6a2_ec2d, 0xd40b_57ae_d543_074d),
    (65, 0x1c65_16cc_715d_0a0e, 0xde67_2831_c241_f178, 0xf3d0_31c8_19e6_fe01),
    (1_000, 0xb8b4_06a9_8622_d913, 0xfc3c_e233_f52a_3a2f, 0xd577_f84c_7f02_a98f),
];
const SECRET_ID: u64 = 0xcae3_4325_8b6b_3530;
const FNV1A_OF_MAYHAP: u64 = 0xa824_0474_c480_a8ac;

impl Frozen {
    fn hasher(&self) -> KeyHasher {
        match self.hashing {
            Xxh3(seed) => KeyHasher::xxh3(seed),
            Sip13 => KeyHasher::sip13(SecretKey::new(SECRET)),
            Fnv => KeyHasher::custom(Fnv1a),
        }
    }

    fn options(&self) -> ReadOptions {
        ReadOptions::new().hasher(self.hasher())
    }

    fn build(&self) -> Vec<u8> {
        let keys = (0..self.keys).map(|i| format!("key {i}"));
        match self.recipe {
            Blocked(shape) => {
                let builder = BloomFilter::builder().keys(self.keys).rate(self.rate).shape(shape);
                let mut filter = builder.hasher(self.hasher()).build().unwrap();
                filter.extend(keys);
                filter.to_bytes().unwrap()
            }
            Classic => {
                let plan = ClassicPlan::for_rate(self.keys, self.rate).unwrap();
                let mut filter = ClassicBloom::with_plan(plan, self.hasher()).unwrap();
                filter.extend(keys);
                filter.to_bytes().unwrap()
            }
            ClassicOf(bits, hashes) => {
                let mut filter = ClassicBloom::with_bits(bits, hashes).unwrap();
                filter.extend(keys);
                filter.to_bytes().unwrap()
            }
            Counting(CounterLayout { shape, width }) => {
                let builder =
                    CountingBloom::builder().keys(self.keys).rate(self.rate).shape(shape).width(width);
                let mut filter = builder.hasher(self.hasher()).build().unwrap();
                filter.extend((0..200).map(|i| format!("gone {i}")));
                filter.extend(keys);
                for i in 0..200 {
                    assert!(filter.remove(&format!("gone {i}")));
                }
                filter.extend(["often"; 20]);
                filter.to_bytes().unwrap()
            }
            Cuckoo(layout) => {
                let builder = CuckooFilter::builder().layout(layout.unwrap()).buckets(1_000).keys(self.keys);
                let mut filter = builder.hasher(self.hasher()).build().unwrap();
                let gone = (0..200).map(|i| format!("gone {i}"));
                for key in gone.clone().chain(keys) {
                    filter.insert(&key).unwrap();
                }
                assert!(gone.into_iter().all(|key| filter.remove(&key)));
                filter.to_bytes().unwrap()
            }
            GrowingCuckoo => {
                let builder = ScalableCuckoo::builder().keys(100).rate(self.rate);
                let mut filter = builder.hasher(self.hasher()).build().unwrap();
                let gone = (0..200).map(|i| format!("gone {i}"));
                for key in gone.clone().chain(keys) {
                    filter.insert(&key).unwrap();
                }
                assert!(gone.into_iter().all(|key| filter.remove(&key)));
                filter.to_bytes().unwrap()
            }
            DLeft => {
                let builder = DLeftCounting::builder().keys(self.keys + 200).rate(self.rate);
                let mut filter = builder.hasher(self.hasher()).build().unwrap();
                let gone = (0..200).map(|i| format!("gone {i}"));
                for key in gone.clone().chain(keys) {
                    filter.insert(&key).unwrap();
                }
                assert!(gone.into_iter().all(|key| filter.remove(&key)));
                for _ in 0..20 {
                    filter.insert("often").unwrap();
                }
                filter.to_bytes().unwrap()
            }
            Dual => {
                let builder = DualBloom::builder().keys(self.keys + 200).rate(self.rate).hidden_rate(1e-6);
                let mut filter = builder.removals(200).hasher(self.hasher()).build().unwrap();
                for i in 0..200 {
                    filter.insert(&format!("gone {i}")).unwrap();
                    filter.remove(&format!("gone {i}"));
                }
                for key in keys {
                    filter.insert(&key).unwrap();
                }
                filter.to_bytes().unwrap()
            }
            Scalable => {
                let builder = ScalableBloom::builder().keys(100).rate(self.rate);
                let mut filter = builder.hasher(self.hasher()).build().unwrap();
                for key in keys {
                    filter.insert(&key).unwrap();
                }
                assert_eq!(filter.layer_count(), 5);
                filter.to_bytes().unwrap()
            }
            WindowByTime => {
                let builder = WindowBloom::builder().window(self.keys).generations(3).keys(self.keys);
                let mut filter = builder.rate(self.rate).burst(1.5).hasher(self.hasher()).build().unwrap();
                for now in 0..=self.keys {
                    filter.insert_at(&format!("old {now}"), now);
                }
                for (key, now) in keys.zip(self.keys + 1..) {
                    filter.insert_at(&key, now);
                }
                filter.to_bytes().unwrap()
            }
            WindowByCount => {
                let builder = WindowBloom::builder().generations(3).keys(self.keys).rate(self.rate);
                let mut filter = builder.hasher(self.hasher()).build().unwrap();
                filter.extend((0..900).map(|i| format!("old {i}")));
                filter.extend(keys);
                filter.to_bytes().unwrap()
            }
        }
    }

    fn answers_of_bytes(&self, bytes: &[u8]) -> usize {
        match self.recipe {
            Blocked(_) => {
                let filter = BloomFilter::from_bytes_with(bytes, &self.options()).unwrap();
                self.answers(|key| filter.contains(key))
            }
            Classic | ClassicOf(..) => {
                let filter = ClassicBloom::from_bytes_with(bytes, &self.options()).unwrap();
                self.answers(|key| filter.contains(key))
            }
            Counting(_) => {
                let filter = CountingBloom::from_bytes_with(bytes, &self.options()).unwrap();
                self.answers(|key| filter.contains(key))
            }
            Cuckoo(_) => {
                let filter = CuckooFilter::from_bytes_with(bytes, &self.options()).unwrap();
                self.answers(|key| filter.contains(key))
            }
            GrowingCuckoo => {
                let filter = ScalableCuckoo::from_bytes_with(bytes, &self.options()).unwrap();
                self.answers(|key| filter.contains(key))
            }
            DLeft => {
                let filter = DLeftCounting::from_bytes_with(bytes, &self.options()).unwrap();
                self.answers(|key| filter.contains(key))
            }
            Dual => {
                let filter = DualBloom::from_bytes_with(bytes, &self.options()).unwrap();
                self.answers(|key| filter.contains(key))
            }
            Scalable => {
                let filter = ScalableBloom::from_bytes_with(bytes, &self.options()).unwrap();
                self.answers(|key| filter.contains(key))
            }
            WindowByTime | WindowByCount => {
                let filter = WindowBloom::from_bytes_with(bytes, &self.options()).unwrap();
                self.answers(|key| filter.contains(key))
            }
        }
    }

    /// Asks for every key, which must be found, and for absent ones; how many of those are.
    fn answers(&self, contains: impl Fn(&str) -> bool) -> usize {
        let missing = (0..self.keys).filter(|i| !contains(&format!("key {i}"))).count();
        assert_eq!(missing, 0, "{}: false negatives", self.name);
        (0..ABSENT).filter(|i| contains(&format!("absent {i}"))).count()
    }

    fn path(&self) -> PathBuf {
        directory().join(format!("v1.0-{}.mayhap", self.name))
    }
}

fn directory() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/files"))
}

/// A function from outside.
#[derive(Debug)]
struct Fnv1a;

impl HashFunction for Fnv1a {
    fn id(&self) -> HashId {
        HashId::new(300)
    }
    fn hash(&self, key: &[u8]) -> u64 {
        key.iter().fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
    }
}
