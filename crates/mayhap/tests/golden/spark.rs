//! Spark's filters.

use mayhap::Key;
use mayhap::codec::FormatError;
use mayhap::formats::spark::{JavaText, SparkBloom, SparkRecipe, murmur3_32};

use crate::Check;
use crate::case::{Case, to_hex};
use crate::keys::Keys;

pub(crate) const FILES: &[(&str, Check)] = &[
    ("spark_v", filter),
    ("spark_merge", merge),
    ("spark_sizing", sizing),
    ("spark_read", read),
    ("spark_murmur3_x86_32", murmur),
];

/// A key as the case says that Spark was given it.
enum SparkKey {
    Long(i64),
    Binary(Vec<u8>),
    Text(Vec<u16>),
}

impl Key for SparkKey {
    type Bytes<'a> = Vec<u8>;

    fn key_bytes(&self) -> Vec<u8> {
        match self {
            Self::Long(key) => key.key_bytes().to_vec(),
            Self::Binary(key) => key.key_bytes().to_vec(),
            Self::Text(key) => JavaText(key).key_bytes(),
        }
    }
}

fn keys(case: &Case, name: &str) -> Vec<SparkKey> {
    match (case.text("key_type"), case.keys(name)) {
        ("long", Keys::Integers(keys)) => keys.into_iter().map(SparkKey::Long).collect(),
        ("binary", Keys::Bytes(keys)) => keys.into_iter().map(SparkKey::Binary).collect(),
        ("string", Keys::Text(keys)) => keys.into_iter().map(SparkKey::Text).collect(),
        (key_type, keys) => panic!("{key_type} keys can't be {keys:?}"),
    }
}

fn recipe(case: &Case) -> SparkRecipe {
    let seed = i32::try_from(case.integer("seed")).unwrap();
    match case.text("version") {
        "V1" => {
            assert_eq!(seed, 0, "version 1 has no seed");
            SparkRecipe::V1
        }
        "V2" => SparkRecipe::V2 { seed },
        unknown => panic!("{unknown} is no version that is known here"),
    }
}

fn empty(case: &Case) -> SparkBloom {
    let items = case.number("expected_items");
    match case.text("sizing").split_once(':') {
        Some(("fpp", rate)) => SparkBloom::with_rate(recipe(case), items, rate.parse().unwrap()).unwrap(),
        Some(("bits", bits)) => SparkBloom::with_bits(recipe(case), items, bits.parse().unwrap()).unwrap(),
        _ => panic!("{} is no sizing that is known here", case.text("sizing")),
    }
}

fn check_statistics<S: mayhap::bits::Words>(case: &Case, filter: &SparkBloom<S>) {
    assert_eq!(filter.bits(), case.number("bit_size"));
    assert_eq!(filter.cardinality(), case.number("cardinality"));
    let expected = case.double("expected_fpp");
    assert_eq!(filter.expected_fpp().to_bits(), expected.to_bits(), "{} {expected}", filter.expected_fpp());
}

fn check_class<S: mayhap::bits::Words>(case: &Case, filter: &SparkBloom<S>) {
    let class = match filter.recipe() {
        SparkRecipe::V1 => "BloomFilterImpl",
        SparkRecipe::V2 { .. } => "BloomFilterImplV2",
    };
    assert_eq!(class, case.text("impl_class"));
}

fn filter(case: &mut Case) {
    case.note(&["id"]);
    let (keys, probes) = (keys(case, "keys"), keys(case, "probes"));
    let mut built = empty(case);
    let changed: Vec<bool> = keys.iter().map(|key| built.insert(key)).collect();
    assert_eq!(changed, case.answers("put_changed"));
    let bytes = case.bytes("serialized_hex");
    assert_eq!(bytes.len() as u64, case.number("serialized_len"));
    assert_eq!(to_hex(&built.to_bytes().unwrap()), to_hex(&bytes));

    let mut batched = empty(case);
    let mut new = vec![false; keys.len()];
    batched.insert_each(&keys, &mut new);
    assert!(new == changed && batched == built);

    let read = SparkBloom::from_bytes(&bytes).unwrap();
    let view = SparkBloom::view(&bytes).unwrap();
    assert!(case.flag("roundtrip_equal") && read == built && view == built);
    assert_eq!(view.to_bytes().unwrap(), bytes);
    check_statistics(case, &read);
    check_statistics(case, &view);
    check_class(case, &read);

    let answers = case.answers("probe_answers");
    let one_by_one: Vec<bool> = probes.iter().map(|probe| read.contains(probe)).collect();
    assert_eq!(one_by_one, answers);
    assert!(probes.iter().zip(&answers).all(|(probe, answer)| view.contains(probe) == *answer));
    for filter in [&read, &built] {
        let mut found = vec![false; probes.len()];
        filter.contains_each(&probes, &mut found);
        assert_eq!(found, answers);
    }
    let mut found = vec![false; probes.len()];
    view.contains_each(&probes, &mut found);
    assert_eq!(found, answers);
    assert_eq!(answers.iter().filter(|answer| **answer).count() as u64, case.number("false_positives"));
    assert_eq!(
        case.flag("all_keys_present"),
        keys.iter().all(|key| read.contains(key) && view.contains(key))
    );

    // What was read can be extended: it becomes what was built with all of them.
    let mut extended = read;
    extended.extend(probes.iter().map(Key::key_bytes));
    built.extend(probes.iter().map(Key::key_bytes));
    assert!(extended == built && probes.iter().all(|probe| extended.contains(probe)));
    if bytes.len() < 200 {
        damage(&bytes);
    }
}

/// Every truncation is refused; every byte that is changed gives an error, or a filter that is written back as it came.
fn damage(bytes: &[u8]) {
    for length in 0..bytes.len() {
        assert!(matches!(SparkBloom::from_bytes(&bytes[..length]), Err(FormatError::Truncated { .. })));
        assert!(SparkBloom::view(&bytes[..length]).is_err());
    }
    let mut damaged = bytes.to_vec();
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff, bytes[at] ^ 1, bytes[at].wrapping_add(1)] {
            damaged[at] = value;
            if let Ok((filter, rest)) = SparkBloom::from_prefix(&damaged) {
                assert_eq!([&filter.to_bytes().unwrap(), rest].concat(), damaged);
            }
            let owned = SparkBloom::from_bytes(&damaged);
            let view = SparkBloom::view(&damaged);
            assert_eq!(owned.is_ok(), view.is_ok());
            if let (Ok(owned), Ok(view)) = (owned, view) {
                // With a billion hashes, a question to a full filter takes seconds.
                assert!(owned.hashes() > 10_000 || owned.contains("apple") == view.contains("apple"));
                assert_eq!(owned.expected_fpp().to_bits(), view.expected_fpp().to_bits());
            }
        }
        damaged[at] = bytes[at];
    }
}

fn merge(case: &mut Case) {
    case.note(&["id"]);
    let built = |name| {
        let mut filter = empty(case);
        filter.extend(keys(case, name));
        filter
    };
    let (a, b) = (built("keys_a"), built("keys_b"));
    for (filter, name) in [(&a, "a_hex"), (&b, "b_hex")] {
        assert_eq!(to_hex(&filter.to_bytes().unwrap()), case.text(name));
        assert!(SparkBloom::from_bytes(&case.bytes(name)).unwrap() == *filter);
    }
    assert!(a.is_compatible(&b));
    let check = |combined: &SparkBloom, bytes, statistics| {
        assert_eq!(to_hex(&combined.to_bytes().unwrap()), case.text(bytes));
        let statistics = case.part(statistics);
        check_statistics(&statistics, combined);
        statistics.finish();
    };
    let mut merged = a.clone();
    merged.merge(&b).unwrap();
    check(&merged, "merge_hex", "merge_stats");
    let mut intersected = SparkBloom::from_bytes(&case.bytes("a_hex")).unwrap();
    intersected.intersect(&SparkBloom::from_bytes(&case.bytes("b_hex")).unwrap()).unwrap();
    check(&intersected, "intersect_hex", "intersect_stats");
}

fn sizing(case: &mut Case) {
    case.note(&["id"]);
    let (items, rate) = (case.number("expected_items"), case.double("fpp"));
    assert_eq!(rate, case.value("fpp")["value"].as_str().unwrap().parse::<f64>().unwrap());
    let bits = SparkBloom::optimal_num_of_bits(items, rate);
    assert_eq!(bits, case.number("optimal_num_bits"));
    let hashes = SparkBloom::optimal_num_of_hash_functions(items, bits);
    assert_eq!(u64::from(hashes), case.number("optimal_num_hash_functions"));
    if (1..1 << 25).contains(&bits) {
        let filter = SparkBloom::with_rate(SparkRecipe::V1, items, rate).unwrap();
        assert_eq!((filter.bits(), filter.hashes()), (bits.next_multiple_of(64), hashes.cast_signed()));
    }
}

fn read(case: &mut Case) {
    case.note(&["id"]);
    let bytes = case.bytes("input_hex");
    let read = SparkBloom::from_prefix(&bytes);
    if !case.flag("accepted") {
        let error = read.expect_err("Spark refuses this");
        assert!(SparkBloom::from_bytes(&bytes).is_err() && SparkBloom::view(&bytes).is_err());
        match case.text("exception") {
            "java.nio.BufferUnderflowException" | "java.io.EOFException" => {
                assert!(matches!(error, FormatError::Truncated { .. }), "{error}");
            }
            "java.lang.IllegalArgumentException" => {
                assert!(matches!(error, FormatError::Unknown { .. }), "{error}");
            }
            "java.lang.NegativeArraySizeException" => {
                assert!(matches!(error, FormatError::BadField { .. }), "{error}");
            }
            // Out of memory, say, which here is a stream that is too short for its words.
            _ => {}
        }
        return;
    }
    assert!(case.value("exception").is_null());
    let (filter, rest) = read.unwrap();
    check_class(case, &filter);
    check_statistics(case, &filter);
    let rewritten = filter.to_bytes().unwrap();
    assert_eq!(to_hex(&rewritten), case.text("rewritten_hex"));
    assert_eq!(rewritten, bytes[..bytes.len() - rest.len()]);

    // Spark 4 reads through a buffer of 8 KiB, so that what follows is gone from the caller's stream.
    let buffered = bytes.len() - rewritten.len().next_multiple_of(8192).min(bytes.len());
    let left = case.number("bytes_left_in_stream");
    assert!(left == rest.len() as u64 || left == buffered as u64, "{left} bytes left");

    let view = SparkBloom::view(&rewritten).unwrap();
    check_statistics(case, &view);
    assert!(view == filter && SparkBloom::from_bytes(&rewritten).unwrap() == filter);
    assert_eq!(SparkBloom::from_bytes(&bytes).is_ok(), rest.is_empty());
}

fn murmur(case: &mut Case) {
    case.note(&["id"]);
    let seed = i32::try_from(case.integer("seed")).unwrap().cast_unsigned();
    let (hash, name) = match case.text("type") {
        "long" => (murmur3_32(&case.text("input").parse::<i64>().unwrap().key_bytes(), seed), "hashLong"),
        "int" => (murmur3_32(&case.text("input").parse::<i32>().unwrap().key_bytes(), seed), "hashInt"),
        "bytes" => (murmur3_32(&case.bytes("input_hex"), seed), "hashUnsafeBytes"),
        unknown => panic!("{unknown} is no type that is known here"),
    };
    assert_eq!(format!("{hash:08x}"), case.text(name));
}
