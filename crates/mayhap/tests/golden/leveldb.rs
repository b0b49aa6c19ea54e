//! LevelDB's and badger's filters, filter blocks and table files.

use std::collections::BTreeSet;
use std::path::Path;

use mayhap::ReadOptions;
use mayhap::formats::leveldb::{
    BlockHandle, BloomPolicy, FilterBlock, FilterBlockBuilder, LevelDbFilter, SEED, Table, badger, hash,
    hash_key,
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::case::{Case, hex, to_hex};

pub(crate) const FILES: &[(&str, crate::Check)] = &[
    ("badger_bits_per_key", bits_per_key),
    ("badger_extreme", badger_filter),
    ("badger_filters", badger_filter),
    ("leveldb_filter_block", filter_block),
    ("leveldb_filters", leveldb_filter),
    ("leveldb_hash", hashes),
    ("leveldb_match_edge", odd_filter),
    ("leveldb_tables", table_case),
];

fn leveldb_filter(case: &mut Case) {
    let policy = BloomPolicy::new(case.number("bits_per_key") as u32);
    assert_eq!(case.text("policy_name"), BloomPolicy::NAME);
    filter(case, policy);
}

fn badger_filter(case: &mut Case) {
    let bits_per_key = case.integer("bits_per_key");
    let bytes = filter(case, BloomPolicy::badger(bits_per_key));
    if case.get("identical_to_leveldb").is_some() {
        let mut theirs = Vec::new();
        let policy = BloomPolicy::new(bits_per_key as u32);
        policy.create_filter(&case.keys("keys").bytes(), &mut theirs).unwrap();
        assert_eq!(case.flag("identical_to_leveldb"), theirs == bytes);
    }
}

/// A filter in all the ways it can be made and asked.
fn filter(case: &Case, policy: BloomPolicy) -> Vec<u8> {
    case.note(&["id"]);
    let keys = case.keys("keys").bytes();
    let expected = case.bytes("filter_hex");

    let mut out = b"before".to_vec();
    policy.create_filter(&keys, &mut out).unwrap();
    assert_eq!(to_hex(&out), to_hex(b"before") + &to_hex(&expected), "appended");
    let hashes: Vec<u32> = keys.iter().map(hash_key).collect();
    let mut by_hash = Vec::new();
    policy.create_filter_from_hashes(&hashes, &mut by_hash).unwrap();
    assert_eq!(by_hash, expected, "made of hashes");
    assert_eq!(policy.filter_bytes(keys.len() as u64), case.number("filter_len"));
    assert_eq!(expected.len() as u64, case.number("filter_len"));
    assert_eq!(u64::from(policy.hashes()), case.number("k"));

    let mut one_by_one = policy.empty_filter(keys.len() as u64).unwrap();
    let mut by_ready_hash = one_by_one.clone();
    for key in &keys {
        let new = !one_by_one.contains(key);
        assert_eq!(one_by_one.insert(key), new);
        by_ready_hash.insert_hash(hash_key(key));
    }
    assert_eq!(one_by_one.to_bytes().unwrap(), expected, "made one by one");
    assert_eq!(by_ready_hash, one_by_one);

    // Theirs: half of the keys could have been in it before.
    let mut read = LevelDbFilter::from_bytes(&expected).unwrap();
    assert_eq!(read.to_bytes().unwrap(), expected, "written back");
    let mut new = vec![true; keys.len()];
    read.insert_each(&keys, &mut new);
    assert!(!new.contains(&true), "its keys are in it");
    let mut half = policy.empty_filter(keys.len() as u64).unwrap();
    half.extend(&keys[..keys.len() / 2]);
    let mut extended = LevelDbFilter::from_badger(&half.to_bytes().unwrap(), &ReadOptions::new()).unwrap();
    extended.insert_hashes(&hashes[keys.len() / 2..], &mut new[keys.len() / 2..]);
    assert_eq!(extended.to_bytes().unwrap(), expected, "extended");

    let probes = case.keys("probes").bytes();
    let answers = case.answers("probe_answers");
    assert_eq!(probes.len(), answers.len());
    for (probe, answer) in probes.iter().zip(&answers) {
        assert_eq!(policy.key_may_match(probe, &expected), *answer, "{}", to_hex(probe));
    }
    let mut found = vec![false; probes.len()];
    LevelDbFilter::view(&expected).unwrap().contains_each(&probes, &mut found);
    assert_eq!(found, answers, "asked in place");
    let hashes: Vec<u32> = probes.iter().map(hash_key).collect();
    LevelDbFilter::view_badger(&expected).unwrap().contains_hashes(&hashes, &mut found);
    assert_eq!(found, answers, "asked in place, by hash");
    read.contains_each(&probes, &mut found);
    assert_eq!(found, answers, "asked in memory");
    assert_eq!(answers.iter().filter(|answer| **answer).count() as u64, case.number("false_positives"));
    assert_eq!(keys.iter().all(|key| policy.key_may_match(key, &expected)), case.flag("all_keys_present"));

    damaged(&expected, policy, &probes);
    expected
}

/// Cut and changed filters answer, or are refused, in place as in memory.
fn damaged(filter: &[u8], policy: BloomPolicy, probes: &[Vec<u8>]) {
    let ends = (0..filter.len()).step_by(1 + filter.len() / 100);
    let cut = ends.map(|end| filter[..end].to_vec());
    let places = (0..filter.len()).rev().step_by(1 + filter.len() / 100);
    let flipped = places.map(|at| {
        let mut changed = filter.to_vec();
        changed[at] ^= 0xff;
        changed
    });
    for bytes in cut.chain(flipped) {
        let view = LevelDbFilter::view(&bytes);
        let read = LevelDbFilter::from_bytes(&bytes);
        assert_eq!(view.is_ok(), read.is_ok());
        let answers = probes.iter().take(5).map(|probe| policy.key_may_match(probe, &bytes));
        match (view, read) {
            (Ok(view), Ok(read)) => {
                assert_eq!(read.to_bytes().unwrap(), bytes);
                assert!(answers.zip(probes).all(|(answer, probe)| {
                    answer == view.contains(probe) && answer == read.contains(probe)
                }));
            }
            // Too short for any key, or an encoding that isn't known.
            _ => assert!(answers.into_iter().all(|answer| answer == (bytes.len() >= 2))),
        }
    }
}

fn hashes(case: &mut Case) {
    case.note(&["id"]);
    let input = case.bytes("input_hex");
    let seed = case.number("seed") as u32;
    let answer = hash(&input, seed);
    assert_eq!(format!("{answer:08x}"), case.text("hash"));
    if case.get("badger_hash").is_some() {
        assert_eq!((seed, format!("{answer:08x}").as_str()), (SEED, case.text("badger_hash")));
        assert_eq!(hash_key(&input), answer);
    }
}

fn odd_filter(case: &mut Case) {
    case.note(&["id"]);
    let filter = case.bytes("filter_hex");
    let probes: Vec<Vec<u8>> =
        list(case.value("probes_hex")).iter().map(|probe| hex(probe.as_str().unwrap())).collect();
    for (policy, answers) in
        [(BloomPolicy::new(10), "probe_answers"), (BloomPolicy::badger(10), "badger_answers")]
    {
        let answers = case.answers(answers);
        assert_eq!(probes.len(), answers.len());
        for (probe, answer) in probes.iter().zip(answers) {
            assert_eq!(policy.key_may_match(probe, &filter), answer);
            if let Ok(view) = LevelDbFilter::view(&filter) {
                assert_eq!(view.contains(probe), answer);
            }
        }
    }
    damaged(&filter, BloomPolicy::new(10), &probes);
}

fn bits_per_key(case: &mut Case) {
    case.note(&["id"]);
    let keys = case.number("num_entries");
    let rate = case.value("fp").as_f64().unwrap();
    assert_eq!(badger::badger_bits_per_key(keys, rate), case.integer("bloom_bits_per_key"));
}

fn filter_block(case: &mut Case) {
    case.note(&["id"]);
    let mut builder = FilterBlockBuilder::new(BloomPolicy::new(case.number("bits_per_key") as u32));
    for op in list(case.value("ops")) {
        let op = op.as_object().unwrap();
        assert_eq!(op.len(), 1, "one step at a time: {op:?}");
        if let Some(offset) = op.get("start_block") {
            builder.start_block(offset.as_u64().unwrap()).unwrap();
        } else if let Some(key) = op.get("add_key_hex") {
            builder.add_key(&hex(key.as_str().unwrap()));
        } else {
            panic!("no such step: {op:?}");
        }
    }
    let expected = case.bytes("block_hex");
    assert_eq!(to_hex(&builder.finish().unwrap()), to_hex(&expected));
    assert_eq!(expected.len() as u64, case.number("block_len"));

    let block = FilterBlock::new(&expected);
    block.check().unwrap();
    let answers = case.answers("query_answers");
    let queries = list(case.value("queries"));
    assert_eq!(queries.len(), answers.len());
    for (query, answer) in queries.iter().zip(answers) {
        assert_eq!(query.as_object().unwrap().len(), 2, "an offset and a key: {query}");
        let key = hex(query["key_hex"].as_str().unwrap());
        let offset = query["block_offset"].as_u64().unwrap();
        assert_eq!(block.key_may_match(offset, &key), answer, "{query}");
        assert_eq!(block.hash_may_match(offset, hash_key(&key)), answer, "{query}");
    }
    for end in 0..expected.len() {
        let mut changed = expected.clone();
        changed[end] ^= 0xff;
        for bytes in [&expected[..end], &changed] {
            let block = FilterBlock::new(bytes);
            let _ = block.check();
            for offset in [0, 2_048, 100_000, u64::MAX] {
                block.key_may_match(offset, "anything");
            }
        }
    }
}

fn table_case(case: &mut Case) {
    case.note(&["id"]);
    let file = std::fs::read(case.beside("file")).unwrap();
    assert_eq!(file.len() as u64, case.number("file_len"));
    assert_eq!(to_hex(&Sha256::digest(&file)), case.text("file_sha256"));
    assert_eq!(
        case.text("values_rule"),
        "value = ASCII 'v:' + lowercase hex of the key",
        "another rule for values"
    );
    let table = Table::view(&file).unwrap();
    let handles = table.data_blocks().unwrap();

    // The data blocks, and from them the filter block.
    let mut builder = FilterBlockBuilder::new(BloomPolicy::new(case.number("bits_per_key") as u32));
    let mut keys = BTreeSet::new();
    for (i, handle) in handles.iter().enumerate() {
        builder.start_block(handle.offset).unwrap();
        let block = table.block(*handle).unwrap();
        let mut entries = block.entries();
        while let Some((key, value)) = entries.next_entry().unwrap() {
            let key = &key[..key.len() - 8];
            assert_eq!(String::from_utf8_lossy(value), format!("v:{}", to_hex(key)));
            builder.add_key(key);
            keys.insert(key.to_vec());
        }
        let is_last = i + 1 == handles.len();
        assert!(
            is_last || block.bytes().len() as u64 >= case.number("block_size"),
            "a block ends when it is full"
        );
    }
    let filter_block = table.filter_block().unwrap().unwrap();
    assert_eq!(to_hex(&builder.finish().unwrap()), to_hex(filter_block.bytes()));
    assert!(keys.iter().eq(&case.keys("keys").bytes().into_iter().collect::<BTreeSet<_>>()));

    // What one byte after each block says.
    let kinds: BTreeSet<u8> =
        handles.iter().map(|handle| file[(handle.offset + handle.size) as usize]).collect();
    match case.text("compression") {
        "none" => assert_eq!(kinds, BTreeSet::from([0])),
        "snappy" => assert!(kinds.contains(&1)),
        other => panic!("no compression that is known here: {other}"),
    }
}

/// A table file by itself: all its keys are found, most others aren't, and nothing that happens to it is fatal.
pub(crate) fn table_file(path: &Path) {
    let file = std::fs::read(path).unwrap();
    let table = Table::view(&file).unwrap();
    let filter = table.filter().unwrap();
    filter.filter_block().unwrap().check().unwrap();
    assert!(table.filter_block_of("another policy").unwrap().is_none());
    let mut keys = BTreeSet::new();
    for handle in table.data_blocks().unwrap() {
        let block = table.block(handle).unwrap();
        let mut entries = block.entries();
        while let Some((key, _)) = entries.next_entry().unwrap() {
            let key = &key[..key.len() - 8];
            assert!(filter.key_may_match(key), "{}", to_hex(key));
            if keys.insert(key.to_vec()) {
                assert_eq!(filter.block_of(key), Ok(Some(handle)), "the newest version of {}", to_hex(key));
            }
        }
    }
    let strangers = keys.iter().flat_map(|key| (0..10u8).map(|more| [key, &[more][..]].concat()));
    let strangers: Vec<Vec<u8>> = strangers.filter(|key| !keys.contains(key)).collect();
    let found = strangers.iter().filter(|key| filter.key_may_match(*key)).count();
    assert!(found * 20 < strangers.len(), "{found} of {} strangers", strangers.len());
    assert!(!filter.key_may_match(&[0xff; 40]), "beyond the last key");

    damaged_table(&file, keys.first().unwrap());
}

fn damaged_table(file: &[u8], key: &Vec<u8>) {
    let ask = |file: &[u8]| {
        let table = Table::view(file)?;
        let answer = table.filter()?.key_may_match(key);
        table.data_blocks()?;
        Ok::<bool, mayhap::codec::FormatError>(answer)
    };
    for end in (0..file.len()).rev().step_by(7) {
        assert!(ask(&file[..end]).is_err(), "a file of which {end} bytes are left has no footer at its end");
    }
    // Every byte from the filter block on: what isn't in a checked block is the footer.
    let first = Table::view(file)
        .unwrap()
        .data_blocks()
        .unwrap()
        .last()
        .map_or(0, |last| last.offset + last.size + 5);
    let footer = file.len() - 48;
    for at in first as usize..file.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut changed = file.to_vec();
            changed[at] ^= flip;
            let answer = ask(&changed);
            // Only the padding between the handles and the magic number is looked at by nobody.
            assert!(answer.is_err() || (at >= footer && answer == Ok(true)), "byte {at}: {answer:?}");
        }
    }
    let beyond = BlockHandle { offset: u64::MAX, size: u64::MAX };
    assert!(Table::view(file).unwrap().block(beyond).is_err());
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}
