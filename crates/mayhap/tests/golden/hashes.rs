//! Hash functions against the answers of their original programs.

use mayhap::hash::functions::{city, fnv, jenkins, murmur2, murmur3, spooky};
use mayhap::hash::{KeyHasher, NamedHash, SecretKey};
use xxhash_rust::xxh3;

use crate::Check;
use crate::case::{Case, to_hex};

pub(crate) const FILES: &[(&str, Check)] =
    &[("hash_kat", known_answers), ("fnv_go", fnv_of_go), ("murmur3_guava", murmur3_of_guava)];

/// The seed in the names of some columns, and that of MurmurHash64A in others.
const XXH_SEED: u64 = 0x9e37_79b1_85eb_ca87;
const MURMUR_SEED: u64 = 0xc6a4_a793_5bd1_e995;

fn known_answers(case: &mut Case) {
    let key = case.bytes("input_hex");
    assert_eq!(key.len() as u64, case.number("len"));
    let mut compared = 0;
    for (column, ours) in columns(&key) {
        if let Some(theirs) = case.get(column) {
            assert_eq!(theirs.as_str(), Some(&*ours), "{column}, {} bytes", key.len());
            compared += 1;
        }
    }
    assert!(compared > 0, "no column is known");
}

/// The columns of `hash_kat`, as they are computed here.
fn columns(key: &[u8]) -> Vec<(&'static str, String)> {
    let lookup3 = jenkins::lookup3(key, 0, 0);
    let murmur64a = murmur2::murmur64a(key, MURMUR_SEED);
    vec![
        ("xxh32_seed0", half(NamedHash::Xxh32.hash(key, 0) >> 32)),
        ("xxh64_seed0", whole(NamedHash::Xxh64.hash(key, 0))),
        ("xxh64_seed9E3779B185EBCA87", whole(NamedHash::Xxh64.hash(key, XXH_SEED))),
        ("xxh3_64_seed0", whole(KeyHasher::xxh3(0).digest(key).get())),
        ("xxh3_64_seed9E3779B185EBCA87", whole(KeyHasher::xxh3(XXH_SEED).digest(key).get())),
        // The 128 bits of XXH3 serve no filter here; the crate that the 64 come from is the one that is checked.
        ("xxh3_128_seed0", format!("{:032x}", xxh3::xxh3_128_with_seed(key, 0))),
        ("xxh3_128_seed9E3779B185EBCA87", format!("{:032x}", xxh3::xxh3_128_with_seed(key, XXH_SEED))),
        ("murmur3_x64_128_seed0_h1_h2", pair(murmur3::murmur3_128(key, 0))),
        ("murmur3_x86_32_seed0", half(murmur3::murmur3_32(key, 0))),
        ("murmur3_x86_32_seed2A", half(murmur3::murmur3_32(key, 0x2a))),
        ("murmur64a_seed0", whole(murmur2::murmur64a(key, 0))),
        ("murmur64a_seedC6A4A7935BD1E995", whole(murmur64a)),
        ("murmur64a_chained", whole(murmur2::murmur64a(key, murmur64a))),
        ("cityhash64", whole(city::city64(key))),
        ("cityhash64_seed7", whole(city::city64_with_seed(key, 7))),
        ("farmhash_fingerprint64", whole(city::farm_fingerprint64(key))),
        ("fnv1_64", whole(fnv::fnv1_64(key))),
        ("fnv1a_64", whole(fnv::fnv1a_64(key))),
        ("fnv1_32", half(fnv::fnv1_32(key))),
        ("fnv1a_32", half(fnv::fnv1a_32(key))),
        ("lookup3_hashlittle_initval0", half(lookup3[0])),
        ("lookup3_hashlittle_initval_deadbeef", half(jenkins::lookup3(key, 0xdead_beef, 0)[0])),
        ("lookup3_hashlittle2_pc_pb", format!("{:08x} {:08x}", lookup3[0], lookup3[1])),
        ("jenkins_oaat_32", half(jenkins::one_at_a_time(key, 0))),
        ("spooky_v2_128_seed0_h1_h2", pair(spooky::spooky_v2(key, [0, 0]))),
        ("siphash13_key0_15", whole(KeyHasher::sip13(numbered_key()).digest(key).get())),
        ("siphash13_key_zero", whole(KeyHasher::sip13(SecretKey::new([0; 16])).digest(key).get())),
        ("siphash24_key0_15", whole(KeyHasher::sip24(numbered_key()).digest(key).get())),
        ("siphash24_key_zero", whole(KeyHasher::sip24(SecretKey::new([0; 16])).digest(key).get())),
        ("wyhash_final3_seed0", whole(NamedHash::Wyhash.hash(key, 0))),
        // The oldest wyhash serves no filter here, either.
        ("wyhash_v1_seed0", whole(wyhash::v1::wyhash(key, 0))),
    ]
}

fn fnv_of_go(case: &mut Case) {
    case.note(&["id"]);
    let key = case.bytes("input_hex");
    let hash = fnv::fnv1_64(&key);
    assert_eq!(whole(hash), case.text("fnv1_64"));
    assert_eq!(whole(fnv::fnv1a_64(&key)), case.text("fnv1a_64"));
    assert_eq!(half(fnv::fnv1_32(&key)), case.text("fnv1_32"));
    assert_eq!(half(fnv::fnv1a_32(&key)), case.text("fnv1a_32"));
    assert_eq!(hash & 0xffff_ffff, case.number("h1"));
    assert_eq!(hash >> 32, case.number("h2"));
}

fn murmur3_of_guava(case: &mut Case) {
    case.note(&["id"]);
    let key = case.bytes("input_hex");
    // Written as the bits of Java's `int`, or as the `int` itself.
    let seed = case.integer("seed") as u32;
    // Guava extends a negative seed with ones, to 64 bits.
    let extended = i64::from(seed.cast_signed()).cast_unsigned();
    let [h1, h2] = murmur3::murmur3_128(&key, extended);
    let bytes: Vec<u8> = [h1.to_le_bytes(), h2.to_le_bytes()].concat();
    assert_eq!(to_hex(&bytes), case.text("murmur3_x64_128_bytes"));
    assert_eq!(whole(h1), case.text("h1"));
    assert_eq!(whole(h2), case.text("h2"));
    assert_eq!(half(murmur3::murmur3_32(&key, seed)), case.text("murmur3_x86_32"));
    let siphash = KeyHasher::sip24(numbered_key()).digest(&key).get();
    assert_eq!(whole(siphash), case.text("siphash24_default_key"));
    assert_eq!(whole(city::farm_fingerprint64(&key)), case.text("farmhash_fingerprint64"));
}

/// The bytes 0 to 15.
fn numbered_key() -> SecretKey {
    SecretKey::new(std::array::from_fn(|i| i as u8))
}

fn whole(hash: u64) -> String {
    format!("{hash:016x}")
}

fn half(hash: impl std::fmt::LowerHex) -> String {
    format!("{hash:08x}")
}

fn pair([first, second]: [u64; 2]) -> String {
    format!("{first:016x} {second:016x}")
}
