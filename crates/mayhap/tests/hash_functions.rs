//! Every hash function with a name against the answers of its original program.

#![allow(clippy::unwrap_used, reason = "a check that panics has failed")]

use mayhap::hash::functions::{city, fnv, jenkins, murmur2, murmur3, spooky};
use mayhap::hash::{KeyHasher, NamedHash};
use mayhap::{BloomFilter, CuckooFilter};
use serde_json::Value;

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn pair([first, second]: [u64; 2]) -> String {
    format!("{first:016x} {second:016x}")
}

/// Columns of the file, and the same computed here. Functions that aren't here: the 128 bits of XXH3, and SipHash, which
/// take a key.
fn columns(key: &[u8]) -> Vec<(&'static str, String)> {
    let lookup3 = jenkins::lookup3(key, 0, 0);
    let murmur64a = murmur2::murmur64a(key, 0xc6a4_a793_5bd1_e995);
    vec![
        ("murmur3_x64_128_seed0_h1_h2", pair(murmur3::murmur3_128(key, 0))),
        ("murmur3_x86_32_seed0", format!("{:08x}", murmur3::murmur3_32(key, 0))),
        ("murmur3_x86_32_seed2A", format!("{:08x}", murmur3::murmur3_32(key, 0x2a))),
        ("murmur64a_seed0", format!("{:016x}", murmur2::murmur64a(key, 0))),
        ("murmur64a_seedC6A4A7935BD1E995", format!("{murmur64a:016x}")),
        ("murmur64a_chained", format!("{:016x}", murmur2::murmur64a(key, murmur64a))),
        ("cityhash64", format!("{:016x}", city::city64(key))),
        ("cityhash64_seed7", format!("{:016x}", city::city64_with_seed(key, 7))),
        ("farmhash_fingerprint64", format!("{:016x}", city::farm_fingerprint64(key))),
        ("fnv1_64", format!("{:016x}", fnv::fnv1_64(key))),
        ("fnv1a_64", format!("{:016x}", fnv::fnv1a_64(key))),
        ("fnv1_32", format!("{:08x}", fnv::fnv1_32(key))),
        ("fnv1a_32", format!("{:08x}", fnv::fnv1a_32(key))),
        ("lookup3_hashlittle_initval0", format!("{:08x}", lookup3[0])),
        ("lookup3_hashlittle_initval_deadbeef", format!("{:08x}", jenkins::lookup3(key, 0xdead_beef, 0)[0])),
        ("lookup3_hashlittle2_pc_pb", format!("{:08x} {:08x}", lookup3[0], lookup3[1])),
        ("spooky_v2_128_seed0_h1_h2", pair(spooky::spooky_v2(key, [0, 0]))),
        ("jenkins_oaat_32", format!("{:08x}", jenkins::one_at_a_time(key, 0))),
        ("xxh64_seed0", format!("{:016x}", NamedHash::Xxh64.hash(key, 0))),
        ("xxh32_seed0", format!("{:08x}", NamedHash::Xxh32.hash(key, 0) >> 32)),
        #[cfg(feature = "hashes")]
        ("wyhash_final3_seed0", format!("{:016x}", NamedHash::Wyhash.hash(key, 0))),
    ]
}

#[test]
fn answers_are_those_of_the_original_programs() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/golden/hash_kat.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut inputs = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let key = bytes(case["input_hex"].as_str().unwrap());
        for (column, ours) in columns(&key) {
            assert_eq!(case[column].as_str(), Some(&*ours), "{column}, {} bytes", key.len());
        }
        inputs += 1;
    }
    assert_eq!(inputs, 54);
}

/// MurmurHash2 of 32 bits has no column: the values that the original program, compiled from its published source, gives
/// for an empty input are all that follow from the definition alone.
#[test]
fn murmur2_of_nothing_is_the_finaliser_of_its_seed() {
    let finish = |mut h: u32| {
        h ^= h >> 13;
        h = h.wrapping_mul(0x5bd1_e995);
        h ^ (h >> 15)
    };
    for seed in [0, 1, 0x9747_b28c, u32::MAX] {
        assert_eq!(murmur2::murmur2_32(b"", seed), finish(seed));
    }
}

/// The vectors of the standards, for the three letters "abc"; cut to 64 bits.
#[cfg(feature = "hashes")]
#[test]
fn digests_are_those_of_their_standards() {
    for (function, first) in [
        (NamedHash::Sha1, "a9993e364706816a"),
        (NamedHash::Sha256, "ba7816bf8f01cfea"),
        (NamedHash::Sha512, "ddaf35a193617aba"),
        (NamedHash::Md5, "900150983cd24fb0"),
        (NamedHash::Ripemd160, "8eb208f7e05d987a"),
        (NamedHash::Ripemd320, "de4c01b3054f8930"),
    ] {
        let ours = function.hash(b"abc", 0).to_le_bytes().map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(ours, first, "{}", function.name());
        assert_ne!(function.hash(b"abc", 0), function.hash(b"abc", 1), "{} has a seed", function.name());
    }
    // That of RIPEMD-256 is for no letters at all.
    assert_eq!(NamedHash::Ripemd256.hash(b"", 0).to_be_bytes(), 0x18cd_8e5f_4e4c_ba02_u64.to_be_bytes());
}

#[test]
fn every_function_serves_a_filter_and_its_file() {
    for &function in NamedHash::ALL {
        assert_eq!(NamedHash::from_name(function.name()), Some(function));
        assert_eq!(NamedHash::from_id(function.id()), Some(function));
        for seed in [0, 7, u64::MAX] {
            let hasher = KeyHasher::named(function, seed);
            let mut filter =
                BloomFilter::builder().keys(20_000).rate(0.01).hasher(hasher.clone()).build().unwrap();
            filter.extend((0..20_000u32).map(|i| format!("user:{i}")));
            let again = BloomFilter::from_bytes(&filter.to_bytes().unwrap()).unwrap();
            assert!(again == filter, "{} is told by the file", function.name());
            assert!((0..20_000u32).all(|i| again.contains(&format!("user:{i}"))), "{}", function.name());
            let wrong = (0..100_000u32).filter(|i| again.contains(&format!("absent:{i}"))).count();
            // 1 000 are promised; five standard deviations are 160.
            assert!(wrong < 1_160, "{} with seed {seed}: {wrong} of 100 000", function.name());

            let mut cuckoo =
                CuckooFilter::builder().keys(5_000).rate(0.001).hasher(hasher.clone()).build().unwrap();
            for i in 0..5_000u32 {
                cuckoo.insert(&i).unwrap();
            }
            assert!((0..5_000u32).all(|i| cuckoo.remove(&i)) && cuckoo.is_empty(), "{}", function.name());
        }
        assert_ne!(KeyHasher::named(function, 0), KeyHasher::named(function, 1));
    }
}
