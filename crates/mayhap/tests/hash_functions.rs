//! Hash functions with a name: the vectors of their standards, and their service to filters. Their answers to the inputs of
//! `testdata/golden/hash_kat.jsonl` are compared in `tests/golden/hashes.rs`.

#![allow(clippy::unwrap_used, reason = "a check that panics has failed")]

use mayhap::hash::functions::murmur2;
use mayhap::hash::{KeyHasher, NamedHash};
use mayhap::{BloomFilter, CuckooFilter};

/// MurmurHash2 of 32 bits has no column there: the values that the original program, compiled from its published source, gives
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
