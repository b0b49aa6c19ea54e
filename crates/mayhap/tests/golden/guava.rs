//! Guava's filters.

use mayhap::ReadOptions;
use mayhap::codec::FormatError;
use mayhap::formats::guava::{
    Funnel, GuavaBloom, GuavaPlan, Sink, Sizing, Strategy, UnencodedChars, Utf8Chars,
};
use sha2::{Digest as _, Sha256};

use crate::Check;
use crate::case::{Case, to_hex};
use crate::keys::{Keys, java_utf8};

pub(crate) const FILES: &[(&str, Check)] = &[
    ("guava_mitz", filter),
    ("guava_edge", filter),
    ("guava_large_digest", filter),
    ("guava_union", union),
    ("guava_sizing", sizing),
    ("guava_read", read),
];

/// The arithmetic of 31.1, which all cases come from.
const SIZING: Sizing = Sizing::Guava31;

/// One filter, filled and asked, by its bytes or by their digest.
fn filter(case: &mut Case) {
    case.note(&["id"]);
    let funnel = FunnelKind::of(case);
    let keys = funnel.keys(case.keys("keys"));
    let (mut filter, plan) = empty(case);
    assert_eq!(u64::from(filter.strategy().ordinal()), case.number("strategy_ordinal"));
    assert_eq!(u64::from(filter.hashes()), case.number("num_hash_functions"));

    let new: Vec<bool> = keys.iter().map(|key| filter.insert(key)).collect();
    let new_keys = new.iter().filter(|new| **new).count() as u64;
    assert!(new_keys <= filter.bits_set());
    let present = keys.iter().all(|key| filter.contains(key));
    assert_eq!(present, case.flag("all_keys_present"));
    statistics(case, &filter);

    let bytes = filter.to_bytes().unwrap();
    assert_eq!(bytes.len() as u64, case.number("serialized_len"));
    assert_eq!(bytes.len() as u64, plan.stream_bytes());
    let probes = funnel.keys(case.keys("probes"));
    let answers: Vec<bool> = probes.iter().map(|probe| filter.contains(probe)).collect();
    assert_eq!(answers.iter().filter(|yes| **yes).count() as u64, case.number("false_positives"));
    if case.get("serialized_sha256").is_some() {
        assert_eq!(to_hex(&Sha256::digest(&bytes)), case.text("serialized_sha256"));
        assert_eq!(bytes[..bytes.len().min(70)], case.bytes("serialized_first_70_hex"));
        assert_eq!(bytes[bytes.len().saturating_sub(64)..], case.bytes("serialized_last_64_hex"));
        assert_eq!(new_keys, case.number("put_changed_true"));
        assert_eq!(probes.len() as u64, case.number("probes_total"));
    } else {
        assert_eq!(to_hex(&bytes), case.text("serialized_hex"));
        assert_eq!(new, case.answers("put_changed"));
        assert_eq!(answers, case.answers("probe_answers"));
    }
    assert_eq!(round_trip(&filter, &bytes, &keys, &probes), case.flag("roundtrip_equal"));
    batches(&filter, &new, &keys, &probes);
    if bytes.len() < 100 {
        damage(&bytes);
    }
}

/// A and B, and A after `A.putAll(B)`.
fn union(case: &mut Case) {
    case.note(&["id"]);
    let funnel = FunnelKind::of(case);
    let (mut a, _) = empty(case);
    let mut b = a.clone();
    a.extend(funnel.keys(case.keys("keys_a")));
    b.extend(funnel.keys(case.keys("keys_b")));
    for (filter, bytes, part) in [(&a, "a_hex", "a_stats"), (&b, "b_hex", "b_stats")] {
        assert_eq!(to_hex(&filter.to_bytes().unwrap()), case.text(bytes));
        let part = case.part(part);
        statistics(&part, filter);
        part.finish();
    }
    a.put_all(&b).unwrap();
    let union = case.bytes("union_hex");
    assert_eq!(a.to_bytes().unwrap(), union);
    let part = case.part("union_stats");
    statistics(&part, &a);
    part.finish();

    // The same from their bytes.
    let mut read = GuavaBloom::from_bytes(&case.bytes("a_hex")).unwrap();
    read.put_all(&GuavaBloom::from_bytes(&case.bytes("b_hex")).unwrap()).unwrap();
    assert_eq!(read.to_bytes().unwrap(), union);

    let view = GuavaBloom::view(&union).unwrap();
    let probes = funnel.keys(case.keys("probes"));
    let answers: Vec<bool> = probes.iter().map(|probe| view.contains(probe)).collect();
    assert_eq!(answers, case.answers("probe_answers"));
    assert_eq!(answers.iter().filter(|yes| **yes).count() as u64, case.number("false_positives"));

    let other = match a.strategy() {
        Strategy::Mitz32 => Strategy::Mitz64,
        Strategy::Mitz64 => Strategy::Mitz32,
    };
    let others = GuavaBloom::with_plan(a.plan(), other).unwrap();
    assert!(a.put_all(&others).is_err(), "bits of two strategies mean different keys");
}

fn sizing(case: &mut Case) {
    case.note(&["id"]);
    let (keys, rate) = (case.number("expected_insertions"), case.double("fpp"));
    let bits = SIZING.optimal_num_of_bits(keys, rate);
    assert_eq!(bits, case.number("optimal_num_bits"));
    let hashes = SIZING.optimal_num_of_hash_functions(keys, bits, rate);
    assert_eq!(u64::from(hashes), case.number("optimal_num_hash_functions"));

    let plan = GuavaPlan::for_rate(keys, rate, SIZING);
    match (case.value("bit_size_of_created_filter").as_u64(), case.value("create_error").as_str()) {
        (Some(bits), None) => {
            let filter = GuavaBloom::with_rate(keys, rate, SIZING).unwrap();
            assert_eq!((filter.bits(), filter.hashes()), (bits, hashes));
            assert_eq!(plan.unwrap().bits(), bits);
        }
        (None, Some(_)) => assert!(plan.is_err(), "{plan:?}"),
        // Too large to be created where the case was recorded. What would have been, is known all the same.
        (None, None) => assert_eq!(plan.is_ok(), hashes <= 255 && bits.div_ceil(64) <= 0x7fff_ffff),
        other => panic!("created, and refused: {other:?}"),
    }
}

/// Bytes that were made by hand.
fn read(case: &mut Case) {
    case.note(&["id", "cause"]);
    let bytes = case.bytes("input_hex");
    let read = GuavaBloom::from_prefix(&bytes);
    assert_eq!(read.is_ok(), case.flag("accepted"), "{read:?}");
    assert_eq!(GuavaBloom::view_prefix(&bytes).is_ok(), read.is_ok());
    let exception = case.value("exception").as_str();
    match read {
        Ok((filter, rest)) => {
            assert_eq!(exception, None);
            assert_eq!(rest.len() as u64, case.number("bytes_left_in_stream"));
            assert_eq!(GuavaBloom::from_bytes(&bytes).is_ok(), rest.is_empty());
            statistics(case, &filter);
            assert_eq!(filter.to_bytes().unwrap(), case.bytes("rewritten_hex"));
        }
        Err(error) => {
            // Memory is asked for only when the words are there, so that too many of them are just missing.
            let missing =
                ["java.io.EOFException", "java.lang.OutOfMemoryError"].contains(&exception.unwrap());
            assert_eq!(matches!(error, FormatError::Truncated { .. }), missing, "{error}");
            assert_eq!(GuavaBloom::from_bytes(&bytes).err(), Some(error));
        }
    }
    damage(&bytes);
}

/// The filter that a case describes, before any key.
fn empty(case: &Case) -> (GuavaBloom, GuavaPlan) {
    let rate = if case.text("fpp") == "default" { 0.03 } else { case.decimal("fpp") };
    let keys = case.number("expected_insertions");
    let plan = GuavaPlan::for_rate(keys, rate, SIZING).unwrap();
    let filter = match case.text("strategy") {
        "MURMUR128_MITZ_32" => GuavaBloom::with_plan(plan, Strategy::Mitz32),
        "MURMUR128_MITZ_64" => GuavaBloom::with_plan(plan, Strategy::Mitz64),
        // `BloomFilter.create` as users call it.
        "public" => GuavaBloom::with_rate(keys, rate, SIZING),
        unknown => panic!("{unknown} is no strategy that is known here"),
    };
    (filter.unwrap(), plan)
}

fn statistics(case: &Case, filter: &GuavaBloom) {
    assert_eq!(filter.bits(), case.number("bit_size"));
    let count = case.value("approximate_element_count");
    match count.as_str() {
        Some("ArithmeticException") => assert_eq!(filter.approximate_element_count(), None),
        Some(unknown) => panic!("{unknown} is no count"),
        None => assert_eq!(filter.approximate_element_count(), count.as_u64()),
    }
    // Java's `pow` is not always the nearest double: of 60 000 random powers 29 were one unit off.
    let (ours, theirs) = (filter.expected_fpp(), case.double("expected_fpp"));
    assert!(ours.to_bits().abs_diff(theirs.to_bits()) <= 1, "{ours:e}, not {theirs:e}");
}

/// Reads the bytes in every way, asks, and writes them back.
fn round_trip(filter: &GuavaBloom, bytes: &[u8], keys: &[AnyKey], probes: &[AnyKey]) -> bool {
    let mut owned = GuavaBloom::from_bytes(bytes).unwrap();
    let view = GuavaBloom::view(bytes).unwrap();
    assert!(owned == *filter && view == *filter);
    assert!(keys.iter().all(|key| owned.contains(key) && view.contains(key)));
    assert!(probes.iter().all(|key| owned.contains(key) == filter.contains(key)));
    assert!(probes.iter().all(|key| view.contains(key) == filter.contains(key)));
    assert_eq!(view.to_bytes().unwrap(), bytes);
    // Nothing that was added before is new, and adding it changes nothing.
    assert!(keys.iter().all(|key| !owned.insert(key)));
    let limit = ReadOptions::new().max_bytes(bytes.len() as u64 - 1);
    assert!(matches!(GuavaBloom::from_bytes_with(bytes, &limit), Err(FormatError::TooLarge { .. })));
    owned.to_bytes().unwrap() == bytes
}

fn batches(filter: &GuavaBloom, new: &[bool], keys: &[AnyKey], probes: &[AnyKey]) {
    let mut batch = GuavaBloom::with_plan(filter.plan(), filter.strategy()).unwrap();
    let mut answers = vec![false; keys.len()];
    batch.insert_each(keys, &mut answers);
    assert!(batch == *filter);
    assert_eq!(answers, new);
    let mut found = vec![false; probes.len()];
    batch.contains_each(probes, &mut found);
    assert!(probes.iter().zip(&found).all(|(probe, found)| filter.contains(probe) == *found));
    batch.clear();
    assert_eq!((batch.bits_set(), batch.approximate_element_count()), (0, Some(0)));
}

/// Every truncation is refused, and every change of one byte gives an error or a filter that is written as it was read.
fn damage(bytes: &[u8]) {
    for end in 0..bytes.len() {
        if let Ok((filter, rest)) = GuavaBloom::from_prefix(&bytes[..end]) {
            assert_eq!(filter.to_bytes().unwrap(), bytes[..end - rest.len()]);
        }
    }
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = bytes.to_vec();
            bytes[at] ^= flip;
            let read = GuavaBloom::from_prefix(&bytes);
            let view = GuavaBloom::view_prefix(&bytes);
            assert_eq!(read.as_ref().err(), view.as_ref().err());
            if let Ok((filter, rest)) = read {
                assert_eq!(filter.to_bytes().unwrap(), bytes[..bytes.len() - rest.len()]);
                let _ = (
                    filter.contains("asked all the same"),
                    filter.expected_fpp(),
                    filter.approximate_element_count(),
                );
            }
        }
    }
}

/// The funnel that a case names.
#[derive(Clone, Copy)]
enum FunnelKind {
    ByteArray,
    Integer,
    Long,
    UnencodedChars,
    StringUtf8,
}

impl FunnelKind {
    fn of(case: &Case) -> Self {
        let (funnel, key_type) = match case.text("funnel") {
            "byteArray" => (Self::ByteArray, "bytes"),
            "integer" => (Self::Integer, "int32"),
            "long" => (Self::Long, "int64"),
            "unencodedChars" => (Self::UnencodedChars, "string"),
            "stringUtf8" => (Self::StringUtf8, "string"),
            unknown => panic!("{unknown} is no funnel that is known here"),
        };
        assert_eq!(case.text("key_type"), key_type);
        funnel
    }

    fn keys(self, keys: Keys) -> Vec<AnyKey> {
        match (self, keys) {
            (Self::ByteArray, Keys::Bytes(keys)) => keys.into_iter().map(AnyKey::Bytes).collect(),
            (Self::Integer, Keys::Integers(keys)) => {
                keys.into_iter().map(|key| AnyKey::Integer(key.try_into().expect("a Java int"))).collect()
            }
            (Self::Long, Keys::Integers(keys)) => keys.into_iter().map(AnyKey::Long).collect(),
            (Self::UnencodedChars, Keys::Text(keys)) => keys.into_iter().map(AnyKey::Unencoded).collect(),
            (Self::StringUtf8, Keys::Text(keys)) => keys.into_iter().map(AnyKey::Utf8).collect(),
            (_, keys) => panic!("the funnel doesn't fit its keys: {keys:?}"),
        }
    }
}

/// A key with the funnel that it goes through: every way that a caller has of saying it must give one hash.
enum AnyKey {
    Bytes(Vec<u8>),
    Integer(i32),
    Long(i64),
    Unencoded(Vec<u16>),
    Utf8(Vec<u16>),
}

impl Funnel for AnyKey {
    fn funnel(&self, into: &mut Sink) {
        match self {
            Self::Bytes(bytes) => {
                // In two pieces, so that bytes wait.
                let (first, second) = bytes.split_at(bytes.len() / 3);
                into.put_bytes(first);
                into.put_bytes(second);
            }
            Self::Integer(integer) => into.put_int(*integer),
            Self::Long(long) => into.put_long(*long),
            Self::Unencoded(units) => units.iter().for_each(|unit| into.put_char(*unit)),
            Self::Utf8(units) => into.put_utf8(units),
        }
        assert_eq!(into.finish(), self.directly());
    }
}

impl AnyKey {
    fn directly(&self) -> [u64; 2] {
        match self {
            Self::Bytes(bytes) => bytes.murmur3_128(),
            Self::Integer(integer) => integer.murmur3_128(),
            Self::Long(long) => long.murmur3_128(),
            Self::Unencoded(units) => {
                let hash = UnencodedChars(units).murmur3_128();
                if let Ok(text) = String::from_utf16(units) {
                    assert_eq!(UnencodedChars(&*text).murmur3_128(), hash);
                }
                hash
            }
            Self::Utf8(units) => {
                let hash = java_utf8(units).murmur3_128();
                assert_eq!(Utf8Chars(units).murmur3_128(), hash);
                if let Ok(text) = String::from_utf16(units) {
                    assert_eq!(text.murmur3_128(), hash);
                }
                hash
            }
        }
    }
}
