//! RedisBloom's chunks, and Redis's RDB.

use mayhap::formats::redisbloom::rdb::RdbFile;
use mayhap::formats::redisbloom::{
    CuckooLimits, RdbVersion, RedisBloom, RedisBloomLoader, RedisCuckoo, RedisValue,
};

use super::{LIMIT, limited};
use crate::Target;

/// `LOADCHUNK`.
pub const CHUNKS: Target = Target {
    name: "redis-chunks",
    about: "damaged headers and chunks of BF.LOADCHUNK and CF.LOADCHUNK",
    run: run_chunks,
    seeds: chunk_seeds,
    largest_allocation: 4 << 20,
};

/// `RESTORE`, and whole files.
pub const RDB: Target = Target {
    name: "redis-rdb",
    about: "damaged DUMP payloads and RDB files",
    run: run_rdb,
    seeds: rdb_seeds,
    largest_allocation: 4 << 20,
};

/// The first two bytes are the length of the header; what follows it comes in pieces whose lengths and iterators are
/// taken from the bytes too.
fn run_chunks(data: &[u8]) {
    let Some((length, rest)) = data.split_first_chunk::<2>() else { return };
    let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
    let (header, body) = rest.split_at(length);
    if let Ok(mut loader) = RedisBloomLoader::with_options(header, &limited()) {
        for (iterator, piece) in pieces(body) {
            let _ = loader.load(iterator, piece);
        }
        let mut filter = loader.finish_incomplete();
        use_bloom(&mut filter);
    }
    let limits = CuckooLimits { max_bytes: LIMIT, ..CuckooLimits::default() };
    if let Ok(mut filter) = RedisCuckoo::from_header(header, &limits) {
        for (iterator, piece) in pieces(body) {
            let _ = filter.load_chunk(iterator, piece);
        }
        use_cuckoo(&mut filter);
    }
}

/// All of it at the place where it belongs, then odd pieces at odd places.
fn pieces(body: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let odd = body.split_first_chunk::<8>().map(|(iterator, rest)| (u64::from_le_bytes(*iterator), rest));
    [(1 + body.len() as u64, body)].into_iter().chain(odd)
}

fn use_bloom(filter: &mut RedisBloom) {
    let _ = (filter.info(), filter.debug_lines(), filter.expected_rate());
    let had = filter.contains("item");
    // A header may promise a next link of any size: what is allocated for it is the user's decision.
    if filter.room() > 0 && filter.add("item").is_ok() {
        assert!(filter.contains("item"));
    }
    assert!(!had || filter.contains("item"));
    for chunk in filter.chunks() {
        assert!(chunk.is_ok());
    }
}

fn use_cuckoo(filter: &mut RedisCuckoo) {
    let _ = (filter.info(), filter.expected_rate(), filter.contains("item"), filter.count("item"));
    let had = filter.contains("item");
    if filter.slots() < LIMIT / 16 {
        if filter.add("item").is_ok() {
            assert!(filter.contains("item") && filter.remove("item"));
        }
        filter.compact();
        assert!(!had || filter.contains("item"), "compaction loses nothing");
    }
    // A header may count other items than the slots hold; whatever it says, the dump is all of the slots.
    assert!(
        filter.is_empty()
            || filter.chunks().map(|chunk| chunk.bytes.len() as u64).sum::<u64>() >= filter.slots()
    );
}

fn chunk_seeds() -> Vec<Vec<u8>> {
    let mut bloom = RedisBloom::reserve(0.01, 20, 2, true).expect("a small filter");
    let mut cuckoo = RedisCuckoo::with_capacity(64).expect("a small filter");
    for item in 0..50u32 {
        bloom.add(&item).expect("it grows");
        cuckoo.add(&item).expect("it has room");
    }
    let joined = |chunks: Vec<Vec<u8>>| {
        let (header, body) = chunks.split_first().expect("a dump has a header");
        let length = u16::try_from(header.len()).expect("a short header");
        [&length.to_le_bytes()[..], header, &body.concat()].concat()
    };
    vec![
        joined(bloom.chunks().map(|chunk| chunk.expect("a small filter").bytes.into_owned()).collect()),
        joined(cuckoo.chunks().map(|chunk| chunk.bytes.into_owned()).collect()),
    ]
}

/// A file whose checksum is 0 is not checked, as in Redis: that leads to what stands behind the checksum.
fn run_rdb(data: &[u8]) {
    let _ = RedisValue::from_dump_with(data, &limited()).map(use_value);
    read_file(data);
    if let Some((file, _)) = data.split_last_chunk::<8>() {
        read_file(&[file, &[0; 8]].concat());
    }
}

fn read_file(data: &[u8]) {
    let Ok(file) = RdbFile::new(data) else { return };
    for entry in file.map_while(Result::ok) {
        let _ = (entry.key_text(), entry.type_name(), entry.expires_ms());
        if let Ok(Some(value)) = entry.read_with(&limited()) {
            use_value(value);
        }
    }
}

fn use_value(value: RedisValue) {
    let payload = value.to_dump(RdbVersion::REDIS_7_0).expect("a small filter");
    assert!(RedisValue::from_dump(&payload).is_ok_and(|again| again == value), "written and read again");
    match value {
        RedisValue::Bloom(mut filter) => use_bloom(&mut filter),
        RedisValue::Cuckoo(mut filter) => use_cuckoo(&mut filter),
    }
}

fn rdb_seeds() -> Vec<Vec<u8>> {
    let mut bloom = RedisBloom::reserve(0.01, 20, 2, true).expect("a small filter");
    let mut cuckoo = RedisCuckoo::with_capacity(64).expect("a small filter");
    for item in 0..50u32 {
        bloom.add(&item).expect("it grows");
        cuckoo.add(&item).expect("it has room");
    }
    let mut small = b"REDIS0010".to_vec();
    for (key, value) in [("b", RedisValue::Bloom(bloom.clone())), ("c", RedisValue::Cuckoo(cuckoo.clone()))] {
        // A module's value, version 2; then the key, then the value.
        small.extend([7, 1]);
        small.extend(key.bytes());
        small.extend(value.to_rdb_value().expect("a small filter"));
    }
    small.push(0xff);
    small.extend([0; 8]);
    vec![
        bloom.to_dump(RdbVersion::REDIS_7_0).expect("a small filter"),
        cuckoo.to_dump(RdbVersion::REDIS_7_0).expect("a small filter"),
        small,
        include_bytes!("../../../../testdata/golden/redisbloom_redis70.rdb").to_vec(),
    ]
}
