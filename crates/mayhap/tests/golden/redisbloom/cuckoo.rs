//! The cuckoo filter, against what `CF.*` commands answered and left behind.

use mayhap::InsertError;
use mayhap::formats::redisbloom::{Added, CuckooLimits, RdbVersion, RedisCuckoo};
use serde_json::{Value, json};

use super::{Command, check_damage, recorded_chunks, seal_dump};
use crate::case::{Case, to_hex};

/// A line of `redisbloom_cf*.jsonl`: a filter is reserved, keys are added, others removed, and it is compacted or not.
pub(super) fn case(case: &mut Case) {
    case.note(&["id"]);
    let keys = case.keys("keys").bytes();
    let probes = case.keys("probes").bytes();

    let mut filter = reserved(case);
    let empty = filter.clone();
    assert_eq!(add(case, &mut filter), answers(case.value("add_answers")), "add_answers");
    check_batch(case, empty, &filter, &keys);
    check_chunks(case, "scandump_after_add", &filter);
    assert_eq!(delete(case, &mut filter), answers(case.value("delete_answers")), "delete_answers");
    if case.flag("compact") {
        filter.compact();
    }

    let found: Vec<Value> = probes.iter().map(|key| u8::from(filter.contains(key)).into()).collect();
    assert_eq!(found, answers(case.value("probe_answers")), "probe_answers");
    let mut many = vec![false; probes.len()];
    filter.contains_each(&probes, &mut many);
    assert!(many.iter().zip(&probes).all(|(found, key)| *found == filter.contains(key)));

    let asked = keys.iter().take(20).chain(probes.iter().take(20));
    let counts: Vec<Value> = asked.map(|key| filter.count(key).into()).collect();
    assert_eq!(Value::from(counts), *case.value("count_first20_keys_then_first20_probes"), "counts");

    assert_eq!(info(&filter), *case.value("info"), "info");
    assert_eq!(filter.info().to_string(), case.text("debug"), "debug");
    let theirs = check_chunks(case, "scandump", &filter);
    let dumped = check_dump(&case.bytes("dump_hex"), &filter);
    for theirs in theirs.into_iter().chain([dumped]) {
        check_goes_on(&filter, theirs);
    }
}

/// The filter that a line of `redisbloom_cf*.jsonl` describes, after all of its commands.
pub(super) fn rebuilt(case: &Case) -> RedisCuckoo {
    let mut filter = reserved(case);
    add(case, &mut filter);
    delete(case, &mut filter);
    if case.flag("compact") {
        filter.compact();
    }
    filter
}

/// `CF.RESERVE key capacity`, then options by name. RedisBloom passes over names that it doesn't know.
fn reserved(case: &Case) -> RedisCuckoo {
    let reserve = case.value("reserve");
    if reserve.is_null() {
        return RedisCuckoo::with_capacity(RedisCuckoo::DEFAULT_CAPACITY).unwrap();
    }
    let command = Command::of(reserve, "CF.RESERVE");
    RedisCuckoo::reserve(
        command.argument(2),
        command.option("BUCKETSIZE").unwrap_or(RedisCuckoo::DEFAULT_BUCKET_SIZE),
        command.option("MAXITERATIONS").unwrap_or(RedisCuckoo::DEFAULT_MAX_ITERATIONS),
        command.option("EXPANSION").unwrap_or(RedisCuckoo::DEFAULT_EXPANSION),
    )
    .unwrap()
}

/// Adds the keys, one command each, and gives the answers.
fn add(case: &Case, filter: &mut RedisCuckoo) -> Vec<Value> {
    let unique = is_unique(case);
    let keys = case.keys("keys").bytes();
    let adding = keys.iter().map(|key| {
        let before = filter.info();
        let new = if unique { filter.add_unique(key) } else { filter.add(key).map(|()| true) };
        new.map_or_else(
            |error| {
                assert_eq!(filter.info(), before, "a key that is refused changes nothing");
                reply(&error).into()
            },
            |new| u8::from(new).into(),
        )
    });
    adding.collect()
}

fn is_unique(case: &Case) -> bool {
    match case.text("add").to_ascii_uppercase().as_str() {
        "CF.ADD" | "CF.INSERT" => false,
        "CF.ADDNX" | "CF.INSERTNX" => true,
        other => panic!("{other} adds no keys that is known here"),
    }
}

/// The error that a client sees.
fn reply(error: &InsertError) -> &'static str {
    match error {
        InsertError::Full => "Filter is full",
        InsertError::TooManyLayers { .. } => "Maximum expansions reached",
        other => panic!("{other}"),
    }
}

fn delete(case: &Case, filter: &mut RedisCuckoo) -> Vec<Value> {
    if case.value("deletes").is_null() {
        return Vec::new();
    }
    case.keys("deletes").bytes().iter().map(|key| u8::from(filter.remove(key)).into()).collect()
}

/// All keys in one command must make the same filter, if none is refused for the number of sub-filters.
fn check_batch(case: &Case, mut filter: RedisCuckoo, expected: &RedisCuckoo, keys: &[Vec<u8>]) {
    let mut answers = vec![Added::Full; keys.len()];
    if is_unique(case) {
        filter.add_unique_each(keys, &mut answers).unwrap();
    } else {
        filter.add_each(keys, &mut answers).unwrap();
    }
    if expected.sub_filters() < u64::from(expected.limits().max_expansions) {
        assert!(filter == *expected, "one command of many keys");
        let added = answers.iter().filter(|answer| **answer == Added::Added).count();
        assert_eq!(added as u64, filter.len());
    }
}

/// One digit each, or a list of numbers and error texts.
fn answers(recorded: &Value) -> Vec<Value> {
    match recorded {
        Value::String(digits) => digits.chars().map(|digit| digit.to_digit(10).unwrap().into()).collect(),
        Value::Array(list) => list.clone(),
        other => panic!("{other} are no answers"),
    }
}

fn info(filter: &RedisCuckoo) -> Value {
    let info = filter.info();
    json!({
        "Size": info.size,
        "Number of buckets": info.buckets,
        "Number of filters": info.filters,
        "Number of items inserted": info.items,
        "Number of items deleted": info.deletes,
        "Bucket size": info.bucket_size,
        "Expansion rate": info.expansion,
        "Max iterations": info.max_iterations,
    })
}

/// Our chunks are theirs, and theirs make the same filter: all at once, and one by one.
fn check_chunks(case: &Case, name: &str, filter: &RedisCuckoo) -> Vec<RedisCuckoo> {
    let mut theirs = recorded_chunks(case.value(name));
    // The end, where it was recorded.
    theirs.retain(|chunk| chunk.iterator != 0);
    let mut iterator = 0;
    let ours = std::iter::from_fn(|| {
        let chunk = filter.scan_dump(iterator)?;
        iterator = chunk.iterator;
        Some(chunk)
    });
    assert_eq!(ours.collect::<Vec<_>>(), theirs, "{name}");
    let Some((header, pieces)) = theirs.split_first() else { return Vec::new() };

    let limits = CuckooLimits { max_bytes: filter.memory_bytes(), ..filter.limits() };
    let whole = RedisCuckoo::from_chunks(&theirs, &limits).unwrap();
    assert!(whole == *filter, "{name}, all at once");
    let mut loaded = RedisCuckoo::from_header(&header.bytes, &limits).unwrap();
    for chunk in pieces {
        loaded.load_chunk(chunk.iterator, &chunk.bytes).unwrap();
    }
    assert!(loaded == *filter, "{name}, one by one");
    check_header_damage(&header.bytes, &limits);
    vec![whole, loaded]
}

/// Every truncation and every flipped bit of a header is an error or a filter within the limit.
fn check_header_damage(header: &[u8], limits: &CuckooLimits) {
    for length in 0..header.len() {
        assert!(RedisCuckoo::from_header(&header[..length], limits).is_err());
    }
    for bit in 0..header.len() * 8 {
        let mut flipped = header.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Ok(filter) = RedisCuckoo::from_header(&flipped, limits) {
            assert!(filter.memory_bytes() <= limits.max_bytes);
        }
    }
}

/// The payload is read, is the filter, and is written again with the same bytes.
fn check_dump(payload: &[u8], filter: &RedisCuckoo) -> RedisCuckoo {
    let read = RedisCuckoo::from_dump(payload).unwrap();
    assert!(read == *filter, "dump_hex");
    let version = RdbVersion::of_dump(payload).unwrap();
    assert_eq!(to_hex(&filter.to_dump(version).unwrap()), to_hex(payload), "dump_hex, written");
    check_damage(payload, seal_dump, |bytes| drop(RedisCuckoo::from_dump(bytes)));
    read
}

/// A filter of theirs, read here, can be changed further as ours can.
fn check_goes_on(ours: &RedisCuckoo, mut theirs: RedisCuckoo) {
    let mut ours = ours.clone();
    theirs.set_limits(ours.limits());
    for key in 0..200u32 {
        assert_eq!(ours.add(&key), theirs.add(&key));
    }
    for key in 0..100u32 {
        assert_eq!(ours.remove(&key), theirs.remove(&key));
    }
    assert!(ours == theirs);
}
