//! The scalable Bloom filter, step by step.

use mayhap::filter::InsertError;
use mayhap::formats::redisbloom::bloom::DEFAULT_EXPANSION;
use mayhap::formats::redisbloom::{Chunk, RdbVersion, RedisBloom, RedisBloomLoader};
use serde_json::Value;

use super::{Command, check_damage, recorded_chunks, seal_dump};
use crate::case::Case;

pub(crate) fn case(case: &mut Case) {
    case.note(&["id"]);
    let keys = case.keys("keys").bytes();
    let mut filter = reserved(case);
    let answers: String = keys.iter().map(|key| answer(filter.add(key))).collect();
    assert_eq!(answers, recorded_answers(case.value("add_answers")));
    assert!(keys.iter().zip(answers.chars()).all(|(key, answer)| answer == REFUSED || filter.contains(key)));
    check_batches(case, &filter, &keys, &answers);
    check_probes(case, &filter);
    check_figures(case, &filter);
    check_chunks(case, &filter);

    let dump = case.bytes("dump_hex");
    check_dump(&dump, &filter);
    // Theirs, read and extended, is ours extended.
    let mut theirs = RedisBloom::from_dump(&dump).unwrap();
    for i in 0..300u32 {
        assert_eq!(theirs.add(&i), filter.add(&i));
    }
    assert!(theirs == filter);
}

/// The filter of a case, with all its keys.
pub(crate) fn rebuilt(case: &Case) -> RedisBloom {
    let mut filter = reserved(case);
    for key in case.keys("keys").bytes() {
        let _ = filter.add(&key);
    }
    filter
}

/// A payload is what we write, and what we read is the filter.
pub(crate) fn check_dump(dump: &[u8], filter: &RedisBloom) {
    let version = RdbVersion::of_dump(dump).unwrap();
    assert!(RedisBloom::from_dump(dump).unwrap() == *filter, "the payload read");
    assert_eq!(filter.to_dump(version).unwrap(), dump, "the payload written");
    for other in [RdbVersion::REDIS_7_0, RdbVersion::REDIS_8_0] {
        let ours = filter.to_dump(other).unwrap();
        assert_eq!(ours[..ours.len() - 10], dump[..dump.len() - 10], "versions differ only in their end");
        assert_eq!(RdbVersion::of_dump(&ours).unwrap(), other);
        assert!(RedisBloom::from_dump(&ours).unwrap() == *filter);
    }
    check_damage(dump, seal_dump, |bytes| drop(RedisBloom::from_dump(bytes)));
}

fn reserved(case: &Case) -> RedisBloom {
    let command = Command::of(case.value("reserve"), "BF.RESERVE");
    let error = command.argument(2);
    let capacity = command.argument(3);
    let expansion = command.option("EXPANSION").unwrap_or(DEFAULT_EXPANSION);
    let scaling = !command.words().any(|word| word.eq_ignore_ascii_case("NONSCALING"));
    RedisBloom::reserve(error, capacity, expansion, scaling).unwrap()
}

/// Our character for an item that a full filter refused.
const REFUSED: char = 'f';

fn answer(added: Result<bool, InsertError>) -> char {
    match added {
        Ok(true) => '1',
        Ok(false) => '0',
        Err(InsertError::Full) => REFUSED,
        Err(error) => panic!("{error}"),
    }
}

/// A character for each answer; where one of them was an error, a list, in which an error is its text.
fn recorded_answers(value: &Value) -> String {
    let one = |answer: &Value| match answer.as_str() {
        Some(text) if text.ends_with("non scaling filter is full") => REFUSED.to_string(),
        _ => answer.to_string(),
    };
    match value.as_array() {
        Some(answers) => answers.iter().map(one).collect(),
        None => value.as_str().unwrap().to_owned(),
    }
}

fn check_batches(case: &Case, filter: &RedisBloom, keys: &[Vec<u8>], answers: &str) {
    let mut batch = reserved(case);
    let mut new = vec![false; keys.len()];
    let (answered, outcome) = batch.add_each(keys, &mut new);
    let got: String = new[..answered].iter().map(|new| answer(Ok(*new))).collect();
    assert_eq!(got, answers[..answered]);
    match outcome {
        Ok(()) => assert_eq!(answered, keys.len()),
        Err(error) => {
            assert_eq!(answers.chars().nth(answered), Some(REFUSED), "{error}");
            assert!(!filter.is_scaling());
            return;
        }
    }
    assert!(batch == *filter, "items added together");
    let mut hashed = reserved(case);
    let hashes: Vec<_> = keys.iter().map(|key| hashed.hash(key)).collect();
    hashed.add_hashes(&hashes, &mut new).1.unwrap();
    assert!(hashed == *filter, "hashes added together");
}

fn check_probes(case: &Case, filter: &RedisBloom) {
    let probes = case.keys("probes").bytes();
    let expected = case.answers("probe_answers");
    let got: Vec<bool> = probes.iter().map(|probe| filter.contains(probe)).collect();
    assert_eq!(got, expected);
    assert_eq!(got.iter().filter(|answer| **answer).count() as u64, case.number("false_positives"));
    let mut found = vec![true; probes.len()];
    filter.contains_each(&probes, &mut found);
    assert_eq!(found, expected);
    let hashes: Vec<_> = probes.iter().map(|probe| filter.hash(probe)).collect();
    found.fill(true);
    filter.contains_hashes(&hashes, &mut found);
    assert_eq!(found, expected);
}

fn check_figures(case: &Case, filter: &RedisBloom) {
    assert_eq!(filter.card(), case.number("card"));
    let info = case.part("info");
    let ours = filter.info();
    assert_eq!(ours.capacity, info.number("Capacity"));
    assert_eq!(ours.size, info.number("Size"));
    assert_eq!(ours.filters, info.number("Number of filters"));
    assert_eq!(ours.items, info.number("Number of items inserted"));
    assert_eq!(ours.expansion.map(u64::from), info.value("Expansion rate").as_u64());
    info.finish();
    let debug: Vec<&str> =
        case.value("debug").as_array().unwrap().iter().map(|l| l.as_str().unwrap()).collect();
    assert_eq!(filter.debug_lines(), debug);
}

fn check_chunks(case: &Case, filter: &RedisBloom) {
    let recorded = recorded_chunks(case.value("scandump"));
    let ours: Vec<Chunk<'_>> = filter.chunks().map(Result::unwrap).collect();
    assert!(
        ours == recorded,
        "SCANDUMP: {:?}",
        ours.iter().map(|c| (c.iterator, c.bytes.len())).collect::<Vec<_>>()
    );
    let (header, pieces) = recorded.split_first().expect("a dump has a header");
    // In order, backwards, and in crumbs.
    let mut loader = RedisBloomLoader::new(&header.bytes).unwrap();
    let mut backwards = loader.clone();
    let mut crumbs = loader.clone();
    let mut data = Vec::new();
    for (chunk, last) in pieces.iter().zip(pieces.iter().rev()) {
        loader.load(chunk.iterator, &chunk.bytes).unwrap();
        assert!(backwards.missing_bytes() > 0);
        backwards.load(last.iterator, &last.bytes).unwrap();
        let start = chunk.iterator - chunk.bytes.len() as u64;
        for (i, crumb) in chunk.bytes.chunks(13).enumerate() {
            let end = start + 13 * i as u64 + crumb.len() as u64;
            crumbs.load(end, crumb).unwrap();
        }
        data.extend_from_slice(&chunk.bytes);
    }
    for loader in [loader, backwards, crumbs] {
        assert_eq!(loader.missing_bytes(), 0);
        assert!(loader.finish().unwrap() == *filter, "LOADCHUNK");
    }
    let view = RedisBloom::view(&header.bytes, &data).unwrap();
    assert!(view == *filter);
    for key in case.keys("keys").bytes().iter().chain(&case.keys("probes").bytes()) {
        assert_eq!(view.contains(key), filter.contains(key));
    }
    check_damage(&header.bytes, |_| (), |bytes| drop(RedisBloomLoader::new(bytes)));
    check_damage(&header.bytes, |_| (), |bytes| drop(RedisBloom::view(bytes, &data)));
}
