//! Parquet's split-block filters, and files that hold them.

use std::io::Cursor;
use std::path::Path;

use mayhap::formats::parquet::{ColumnChunk, ParquetFooter, PhysicalType, SplitBlockBloom};
use mayhap::{Key, ReadOptions};
use sha2::{Digest as _, Sha256};

use crate::Check;
use crate::case::{Case, to_hex};
use crate::keys::Keys;

pub(crate) const FILES: &[(&str, Check)] =
    &[("sbbf", filter), ("sbbf_sizing", sizing), ("sbbf_fold", fold), ("parquet_files", files)];

/// A key as the case says that the filter was given it.
#[derive(Clone)]
enum ParquetKey {
    Bytes(Vec<u8>),
    I32(i32),
    I64(i64),
    F64(f64),
}

impl Key for ParquetKey {
    type Bytes<'a> = Vec<u8>;

    fn key_bytes(&self) -> Vec<u8> {
        match self {
            Self::Bytes(key) => key.key_bytes().to_vec(),
            Self::I32(key) => key.key_bytes().to_vec(),
            Self::I64(key) => key.key_bytes().to_vec(),
            Self::F64(key) => key.to_le_bytes().key_bytes().to_vec(),
        }
    }
}

fn keys(case: &Case, key_type: &str, name: &str) -> Vec<ParquetKey> {
    match (key_type, case.keys(name)) {
        ("bytes" | "BYTE_ARRAY" | "FIXED_LEN_BYTE_ARRAY", Keys::Bytes(keys)) => {
            keys.into_iter().map(ParquetKey::Bytes).collect()
        }
        ("bytes" | "BYTE_ARRAY", Keys::Text(keys)) => {
            keys.iter().map(|key| ParquetKey::Bytes(String::from_utf16(key).unwrap().into_bytes())).collect()
        }
        ("i32" | "INT32", Keys::Integers(keys)) => {
            keys.into_iter().map(|key| ParquetKey::I32(key.try_into().unwrap())).collect()
        }
        ("i64" | "INT64", Keys::Integers(keys)) => keys.into_iter().map(ParquetKey::I64).collect(),
        ("f64bits" | "f64" | "DOUBLE", Keys::Doubles(keys)) => {
            keys.into_iter().map(ParquetKey::F64).collect()
        }
        (key_type, keys) => panic!("{key_type} keys can't be {keys:?}"),
    }
}

fn empty(case: &Case) -> SplitBlockBloom {
    let sizing: Vec<&str> = case.text("sizing").split(':').collect();
    match sizing[..] {
        ["ndv", keys, rate] => {
            SplitBlockBloom::with_rate(keys.parse().unwrap(), rate.parse().unwrap()).unwrap()
        }
        ["bytes", bytes] => SplitBlockBloom::with_bytes(bytes.parse().unwrap()).unwrap(),
        _ => panic!("{sizing:?} is no sizing that is known here"),
    }
}

fn filter(case: &mut Case) {
    case.note(&["id"]);
    let key_type = case.text("key_type");
    let (keys, probes) = (keys(case, key_type, "keys"), keys(case, key_type, "probes"));
    let mut built = empty(case);
    let new: Vec<bool> = keys.iter().map(|key| built.insert(key)).collect();
    let mut batched = empty(case);
    let mut new_in_batch = vec![false; keys.len()];
    batched.insert_each(&keys, &mut new_in_batch);
    assert!(batched == built && new_in_batch == new);

    let bitset = case.bytes("bitset_hex");
    assert_eq!(to_hex(&built.to_bitset().unwrap()), to_hex(&bitset));
    assert_eq!(built.blocks(), case.number("num_blocks"));
    assert_eq!(built.len_bytes(), case.number("bitset_len"));
    let bytes = [case.bytes("header_hex"), bitset.clone()].concat();
    assert_eq!(to_hex(&built.to_bytes().unwrap()), to_hex(&bytes));

    let read = SplitBlockBloom::from_bytes(&bytes).unwrap();
    let view = SplitBlockBloom::view(&bytes).unwrap();
    assert!(case.flag("roundtrip_ok") && read == built && view == built);
    assert_eq!(view.to_bytes().unwrap(), bytes);
    assert!(SplitBlockBloom::from_bitset(&bitset).unwrap() == built);
    assert!(SplitBlockBloom::view_bitset(&bitset).unwrap() == built);
    for estimate in [read.estimated_fpp(), view.estimated_fpp()] {
        assert_eq!(estimate.to_bits(), case.double("estimated_fpp").to_bits());
    }

    let answers = case.answers("probe_answers");
    let mut found = vec![false; probes.len()];
    read.contains_each(&probes, &mut found);
    assert_eq!(found, answers);
    view.contains_each(&probes, &mut found);
    assert_eq!(found, answers);
    for (probe, answer) in probes.iter().zip(&answers) {
        assert!(read.contains(probe) == *answer && view.contains(probe) == *answer);
    }
    assert_eq!(answers.iter().filter(|answer| **answer).count() as u64, case.number("false_positives"));
    assert_eq!(
        case.flag("all_keys_present"),
        keys.iter().all(|key| read.contains(key) && view.contains(key))
    );

    // What was read can be extended: it becomes what was built with all of them.
    let mut extended = read;
    extended.extend(probes.clone());
    built.extend(probes.clone());
    assert!(extended == built && probes.iter().all(|probe| extended.contains(probe)));
    if bytes.len() < 400 {
        damage(&bytes);
    }
}

/// Every truncation is refused; every byte that is changed gives an error, or a filter.
fn damage(bytes: &[u8]) {
    for length in 0..bytes.len() {
        assert!(SplitBlockBloom::from_bytes(&bytes[..length]).is_err());
        assert!(SplitBlockBloom::view(&bytes[..length]).is_err());
    }
    let mut damaged = bytes.to_vec();
    for at in 0..bytes.len() {
        for value in 0..=255 {
            damaged[at] = value;
            let owned = SplitBlockBloom::from_bytes(&damaged);
            let view = SplitBlockBloom::view(&damaged);
            assert_eq!(owned.is_ok(), view.is_ok());
            if let (Ok(owned), Ok(view)) = (owned, view) {
                assert_eq!(owned.contains("apple"), view.contains("apple"));
                assert_eq!(owned.to_bitset(), view.to_bitset());
            }
        }
        damaged[at] = bytes[at];
    }
}

fn sizing(case: &mut Case) {
    case.note(&["id"]);
    let (keys, rate) = (case.number("ndv"), case.decimal("fpp"));
    assert_eq!(SplitBlockBloom::optimal_bytes(keys, rate), case.number("num_bytes"));
    assert_eq!(SplitBlockBloom::with_rate(keys, rate).unwrap().len_bytes(), case.number("num_bytes"));
}

fn fold(case: &mut Case) {
    case.note(&["id"]);
    let keys = keys(case, case.text("key_type"), "keys");
    let mut folded = empty(case);
    folded.extend(keys.clone());
    assert_eq!(folded.blocks(), case.number("blocks_before"));
    let factor = folded.fold_to_rate(case.decimal("target_fpp")).unwrap();
    assert_eq!(folded.blocks(), case.number("blocks_after"));
    assert_eq!(factor * folded.blocks(), case.number("blocks_before"));
    assert_eq!(to_hex(&folded.to_bitset().unwrap()), case.text("bitset_hex"));
    let mut made_small = SplitBlockBloom::with_blocks(folded.blocks()).unwrap();
    made_small.extend(keys);
    assert!(folded == made_small);
}

fn files(case: &mut Case) {
    case.note(&["id", "writer"]);
    let bytes = std::fs::read(case.beside("file")).unwrap();
    assert_eq!(bytes.len() as u64, case.number("file_len"));
    assert_eq!(to_hex(&Sha256::digest(&bytes)), case.text("file_sha256"));
    let footer = ParquetFooter::from_file(&bytes).unwrap();
    let (keys, rate) = (case.number("requested_ndv"), case.value("requested_fpp").as_f64().unwrap());
    let most = SplitBlockBloom::optimal_bytes(keys, rate);

    let columns = case.part("columns");
    let names: Vec<String> = case.value("columns").as_object().unwrap().keys().cloned().collect();
    let mut in_file: Vec<&str> =
        footer.columns().iter().filter(|chunk| chunk.has_filter()).map(ColumnChunk::path).collect();
    in_file.sort_unstable();
    in_file.dedup();
    let mut expected: Vec<&str> = names.iter().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!(in_file, expected);
    for name in &names {
        let column = columns.part(name);
        column_of_file(&column, &footer, name, &bytes, (most, rate));
        column.finish();
    }
    columns.finish();
}

fn column_of_file(case: &Case, footer: &ParquetFooter, name: &str, bytes: &[u8], (most, rate): (u64, f64)) {
    let physical = case.text("physical");
    let (keys, probes) = (keys(case, physical, "keys"), keys(case, physical, "probes"));
    let mut filters: Vec<SplitBlockBloom> = Vec::new();
    for chunk in footer.column(name) {
        assert_eq!(chunk.physical_type().map(PhysicalType::name), Some(physical));
        let width = chunk.physical_type().and_then(PhysicalType::key_bytes);
        assert!(keys.iter().all(|key| width.is_none_or(|width| key.key_bytes().len() == width)));
        let filter =
            chunk.view_filter(bytes).unwrap().expect("every row group has a filter").copied().unwrap();
        // As large as was asked for; or folded, which the writer does when fewer values came.
        assert!(filter.len_bytes() <= most && filter.estimated_fpp() <= rate, "{filter:?}");
        filters.push(filter);
    }
    // Which key is in which row group isn't recorded; so one filter is made of them all.
    let smallest = filters.iter().map(SplitBlockBloom::blocks).min().unwrap();
    let mut all = SplitBlockBloom::with_blocks(smallest).unwrap();
    let mut built = all.clone();
    for filter in &mut filters {
        filter.fold(filter.blocks() / smallest).unwrap();
        all.merge(filter).unwrap();
    }
    built.extend(keys.clone());
    assert!(all == built, "other bits");
    assert!(keys.iter().all(|key| filters.iter().any(|filter| filter.contains(key))));
    let false_positives = probes.iter().filter(|probe| all.contains(*probe)).count();
    assert!(false_positives * 4 <= probes.len(), "{false_positives} false positives");
}

/// Every filter of any file: read in place and from a stream, written back as it was; and the file, damaged.
pub(crate) fn file(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    let options = ReadOptions::new();
    let footer = ParquetFooter::from_file(&bytes).unwrap();
    let mut stream = std::fs::File::open(path).unwrap();
    assert_eq!(ParquetFooter::read(&mut stream, &options).unwrap(), footer);
    for chunk in footer.columns() {
        assert!(chunk.row_group() < footer.row_groups());
        let view = chunk.view_filter(&bytes).unwrap();
        let read = chunk.read_filter(&mut stream, &options).unwrap();
        assert_eq!(view.is_some(), chunk.has_filter());
        assert_eq!(view.is_some(), read.is_some());
        let (Some(view), Some(read)) = (view, read) else { continue };
        assert!(view == read);
        let start = chunk.filter_offset().unwrap() as usize;
        let written = read.to_bytes().unwrap();
        assert!(written == view.to_bytes().unwrap() && bytes[start..].starts_with(&written));
    }
    damage_file(&bytes, &footer);
}

fn damage_file(bytes: &[u8], sound: &ParquetFooter) {
    let tail = bytes.len().saturating_sub(4096);
    for length in (0..bytes.len().min(64)).chain(tail..bytes.len()) {
        assert!(ParquetFooter::from_file(&bytes[..length]).is_err());
    }
    let offsets = sound.columns().iter().filter_map(ColumnChunk::filter_offset);
    let headers = offsets.flat_map(|start| start as usize..start as usize + 20);
    let mut damaged = bytes.to_vec();
    for at in headers.chain(tail..bytes.len()) {
        for value in [0, 1, 0x0c, 0x19, 0x7f, 0x80, 0xff, bytes[at] ^ 1, bytes[at].wrapping_add(16)] {
            damaged[at] = value;
            if let Ok(footer) = ParquetFooter::from_file(&damaged) {
                for chunk in footer.columns() {
                    let view = chunk.view_filter(&damaged);
                    let read = chunk.read_filter(&mut Cursor::new(&damaged), &ReadOptions::new());
                    assert_eq!(view.is_ok(), read.is_ok(), "{at} {value}");
                }
            }
        }
        damaged[at] = bytes[at];
    }
}
