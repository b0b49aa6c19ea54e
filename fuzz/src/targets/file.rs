//! The file format's readers.

use mayhap::codec::{ExtraField, Header, Kind, Section, Writer};
use mayhap::formats::crawler::CrawlerBloom;
use mayhap::formats::guava::{GuavaBloom, Sizing};
use mayhap::formats::leveldb::LevelDbFilter;
use mayhap::formats::redisbloom::{RdbVersion, RedisBloom};
use mayhap::formats::{ForeignFile, ForeignFilter, KeyForm};
use mayhap::hash::SecretKey;
use mayhap::{
    Bitmap, BloomFilter, ClassicBloom, CountingBloom, CuckooFilter, DLeftCounting, DualBloom, Error,
    ReadOptions, ScalableBloom, ScalableCuckoo, Shape, WindowBloom,
};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::Target;

/// See [`run`].
pub const TARGET: Target = Target {
    name: "file",
    about: "damaged filter files: refused or understood, by all readers alike",
    run,
    seeds,
    largest_allocation: 4 << 20,
};

/// Reads the bytes as they are, and once more with their checksums made right, so that what stands behind the checksums is
/// reached too.
pub fn run(data: &[u8]) {
    read(data);
    if let Some(repaired) = repaired(data) {
        read(&repaired);
    }
}

fn read(data: &[u8]) {
    let header = Header::parse(data);
    match Header::needed(data) {
        Ok(needed) => assert!(header.is_err() || needed <= data.len()),
        Err(error) => assert_eq!(header.as_ref().err(), Some(&error)),
    }
    if let Ok(header) = &header {
        let bytes = header.to_bytes().expect("what was read can be written");
        let same = bytes == data[..bytes.len()];
        assert!(same || header.version.minor > 0, "a header has one spelling");
    }
    read_every_kind(data);
    read_blocked(data);
    read_foreign(data);
}

/// Another system's filter in a file of ours. What its own bytes may hold is the matter of its own target.
fn read_foreign(data: &[u8]) {
    if let Ok(file) = ForeignFile::from_bytes_with(data, &limited()) {
        let bytes = file.to_bytes().expect("what was read can be written");
        let again = ForeignFile::from_bytes(&bytes).expect("what was written can be read");
        assert!(again.keys == file.keys && again.filter.format() == file.filter.format());
        assert_eq!(again.to_bytes().ok(), Some(bytes), "a filter has one file");
        let _ = file.filter.len_bytes();
    }
}

/// The limit for readers that can't know how much there will be.
fn limited() -> ReadOptions {
    ReadOptions::new().max_bytes(1 << 20)
}

fn read_blocked(data: &[u8]) {
    let whole = BloomFilter::from_bytes_with(data, &limited());
    with_aligned(data, |aligned| {
        if let Ok(view) = BloomFilter::from_aligned_bytes(aligned, &limited()) {
            let found = view.contains("key");
            assert!(whole.as_ref().is_ok_and(|whole| whole.contains("key") == found) || whole.is_err());
            let _ = (view.estimated_len(), view.expected_rate());
        } else {
            assert!(whole.is_err(), "a filter that can be read can be borrowed");
        }
    });
}

/// Reads a file as a filter of one kind, in both ways there are; if it is one, `use_it` does what a user would, and what it
/// is then can be written and read again.
macro_rules! read_as {
    ($data:expr, $($filter:ident: $use_it:expr;)*) => {$(
        let whole = $filter::from_bytes_with($data, &limited());
        agree(&whole, &$filter::read_from($data, &limited()));
        if let Ok(mut filter) = whole {
            assert!(filter.len_bytes() <= $data.len() as u64 + SLACK);
            assert_rewritten($data, &filter.to_bytes().expect("a small filter"));
            let use_it: fn(&mut $filter) = $use_it;
            use_it(&mut filter);
            let bytes = filter.to_bytes().expect("a filter that was used can be written");
            let again = $filter::from_bytes(&bytes).expect("a filter that was used can be read again");
            assert!(again == filter, "a filter that was used is another when it is read again");
        }
    )*};
}

/// What a sparse bitmap holds beside its numbers.
const SLACK: u64 = 1 << 12;

fn read_every_kind(data: &[u8]) {
    read_as! { data,
        BloomFilter: |filter| {
            filter.insert("key");
            filter.merge(&filter.clone()).expect("its like");
            let _ = (filter.estimated_len(), filter.expected_rate(), filter.is_over_plan(), filter.fold(2));
            assert!(filter.contains("key"));
        };
        ClassicBloom: |filter| {
            filter.insert("key");
            filter.merge(&filter.clone()).expect("its like");
            let _ = (filter.estimated_len(), filter.expected_rate(), filter.is_over_plan(), filter.fold(2));
            assert!(filter.contains("key"));
        };
        ScalableBloom: |filter| {
            let _ = (filter.expected_rate(), filter.is_over_plan(), filter.capacity());
            // A file may promise a next layer of any size: what is allocated for it is the user's decision.
            let grows = filter.len() >= filter.capacity();
            if !grows && filter.insert("key").is_ok() {
                assert!(filter.contains("key"));
            }
        };
        DualBloom: |filter| {
            let _ = (filter.expected_rates(), filter.is_over_plan());
            filter.merge(&filter.clone()).expect("its like");
            if filter.insert("key").is_ok() {
                assert!(filter.contains("key") && filter.remove("key") && !filter.contains("key"));
            }
        };
        WindowBloom: |filter| {
            let _ = (filter.expected_rate(), filter.is_over_plan());
            filter.insert("key");
            assert!(filter.contains("key"));
            // Once, and once more: nothing of it may keep the next from fitting.
            assert!(filter.is_by_count() || filter.merge(&filter.clone()).is_ok());
            assert!(filter.is_by_count() || filter.merge(&filter.clone()).is_ok());
            let before = filter.to_bytes().expect("a small filter");
            assert!(WindowBloom::from_bytes(&before).is_ok_and(|again| again == *filter));
            filter.insert_at("key", u64::MAX);
            assert!(filter.contains_at("key", u64::MAX));
        };
        CountingBloom: |filter| {
            let _ = (filter.expected_rate(), filter.is_over_plan(), filter.stuck_counters());
            let before = filter.count("key");
            filter.insert("key");
            assert!(filter.count("key") >= before && filter.remove("key"));
            filter.merge(&filter.clone()).expect("its like");
        };
        DLeftCounting: |filter| {
            let _ = (filter.expected_rate(), filter.is_over_plan());
            if filter.insert("key").is_ok() {
                assert!(filter.count("key") > 0 && filter.remove("key"));
            }
        };
        CuckooFilter: |filter| {
            let _ = (filter.expected_rate(), filter.is_over_plan());
            if filter.insert("key").is_ok() {
                assert!(filter.count("key") > 0 && filter.remove("key"));
            }
        };
        ScalableCuckoo: |filter| {
            let _ = (filter.expected_rate(), filter.count("key"));
            filter.compact_step(100);
            filter.remove("key");
            filter.set_max_bytes(Some(1 << 20));
            if filter.insert("key").is_ok() {
                assert!(filter.contains("key"));
            }
            filter.compact();
        };
        Bitmap: |bitmap| {
            let _ = (bitmap.len(), bitmap.iter().take(10).count(), bitmap.missing(0..100).count());
            if bitmap.insert(7).is_ok() {
                assert!(bitmap.contains(7) && bitmap.remove(7));
            }
            bitmap.merge(&bitmap.to_sparse()).expect("its own numbers");
        };
    }
}

/// Two readers accept the same files, and make the same filter of them.
fn agree<F: PartialEq>(one: &Result<F, Error>, other: &Result<F, Error>) {
    match (one, other) {
        (Ok(one), Ok(other)) => assert!(one == other, "two readers, two filters"),
        (Err(_), Err(_)) => {}
        (Ok(_), Err(error)) => panic!("the stream reader refuses what the other accepts: {error}"),
        (Err(error), Ok(_)) => panic!("the stream reader accepts what the other refuses: {error}"),
    }
}

/// An accepted file is written again byte for byte, unless it says things that a filter of this version doesn't keep.
fn assert_rewritten(data: &[u8], again: &[u8]) {
    let header = Header::parse(data).expect("an accepted file has a header");
    let keeps_count = !matches!(header.kind, Kind::BLOCKED_BLOOM | Kind::CLASSIC_BLOOM);
    if header.version.minor == 0 && header.extra.is_empty() && (keeps_count || header.inserted.is_none()) {
        assert!(data == again, "an accepted file is written differently: {header:?}");
    }
}

/// Calls `read` with a copy that starts at a multiple of 64.
fn with_aligned(data: &[u8], read: impl FnOnce(&[u8])) {
    let mut copy = vec![0u8; data.len() + 64];
    let start = copy.as_ptr().align_offset(64);
    if let Some(place) = copy.get_mut(start..start + data.len()) {
        place.copy_from_slice(data);
        read(place);
    }
}

/// The same bytes with right checksums, as far as the lengths in them allow. Written from docs/formats.md alone.
fn repaired(data: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = data.to_vec();
    let header_length = usize::try_from(u32::from_le_bytes(bytes.get(12..16)?.try_into().ok()?)).ok()?;
    let checksum_at = header_length.checked_sub(8)?;
    let checksum = xxh3_64(bytes.get(..checksum_at)?);
    bytes.get_mut(checksum_at..header_length)?.copy_from_slice(&checksum.to_le_bytes());

    let Ok(header) = Header::parse(&bytes) else { return Some(bytes) };
    let Ok(layout) = header.layout() else { return Some(bytes) };
    let mut sums = Vec::new();
    let mut end = header_length;
    for place in layout.sections() {
        let place = usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?;
        end = place.end;
        let Some(body) = bytes.get(place) else { return Some(bytes) };
        sums.extend(body.chunks(1 << 20).flat_map(|piece| xxh3_64(piece).to_le_bytes()));
    }
    let last = xxh3_64_with_seed(&sums, checksum);
    sums.extend(last.to_le_bytes());
    let table = end.next_multiple_of(8);
    if let Some(place) = bytes.get_mut(table..table + sums.len()) {
        place.copy_from_slice(&sums);
    }
    Some(bytes)
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![Vec::new(), b"\x8bmayhap\n".to_vec()];
    for shape in Shape::ALL {
        for blocks in [2, 12] {
            let filter =
                BloomFilter::builder().shape(shape).bytes(64 * blocks).rate(0.1).seed(blocks).build();
            if let Ok(mut filter) = filter {
                filter.extend(0..20u64);
                seeds.extend(filter.to_bytes());
            }
        }
    }
    for (bits, hashes) in [(1, 1), (100, 3), (4096, 7), (10_000, 20)] {
        if let Ok(mut filter) = ClassicBloom::with_bits(bits, hashes) {
            filter.insert("apple");
            seeds.extend(filter.to_bytes());
        }
    }
    let secret = BloomFilter::builder().keys(10).rate(0.01).secret_key(SecretKey::new([7; 16])).build();
    seeds.extend(secret.ok().and_then(|filter| filter.to_bytes().ok()));
    seeds.extend(other_kinds());
    seeds.extend(foreign());
    seeds.extend(container());
    seeds
}

/// Filters of other systems, small ones.
fn foreign() -> Vec<Vec<u8>> {
    let filters = [
        LevelDbFilter::new(10, 10).map(ForeignFilter::LevelDb),
        GuavaBloom::with_rate(10, 0.1, Sizing::Guava31).map(ForeignFilter::Guava),
        RedisBloom::reserve(0.1, 10, 2, true)
            .map(|filter| ForeignFilter::RedisBloom(filter, RdbVersion::REDIS_7_0)),
        CrawlerBloom::new(3, 100).map(ForeignFilter::Crawler),
    ];
    let files = filters.into_iter().flatten().map(|filter| ForeignFile { filter, keys: KeyForm::Int64 });
    files.filter_map(|file| file.to_bytes().ok()).collect()
}

/// A small filter of every other kind, with keys in it.
fn other_kinds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    if let Ok(mut filter) = ScalableBloom::with_rate(10, 0.1) {
        let _ = (0..50u64).map(|key| filter.insert(&key)).filter(Result::is_ok).count();
        seeds.extend(filter.to_bytes());
    }
    if let Ok(mut filter) = DualBloom::with_rate(20, 0.1) {
        let _ = (0..20u64).map(|key| filter.insert(&key)).filter(Result::is_ok).count();
        filter.remove(&1u64);
        seeds.extend(filter.to_bytes());
    }
    if let Ok(mut filter) = WindowBloom::with_rate(20, 0.1) {
        filter.extend(0..30u64);
        seeds.extend(filter.to_bytes());
    }
    if let Ok(mut filter) = WindowBloom::by_time(100, 4, 20, 0.1) {
        for key in 0..20u64 {
            filter.insert_at(&key, 10 * key);
        }
        seeds.extend(filter.to_bytes());
    }
    if let Ok(mut filter) = CountingBloom::with_rate(20, 0.1) {
        filter.extend([1u64, 2, 2, 3, 3, 3]);
        seeds.extend(filter.to_bytes());
    }
    if let Ok(mut filter) = DLeftCounting::with_rate(20, 0.1) {
        let _ = (0..20u64).map(|key| filter.insert(&(key % 13))).filter(Result::is_ok).count();
        seeds.extend(filter.to_bytes());
    }
    for rate in [0.1, 0.01, 1e-4] {
        if let Ok(mut filter) = CuckooFilter::with_rate(20, rate) {
            let _ = (0..20u64).map(|key| filter.insert(&(key % 13))).filter(Result::is_ok).count();
            seeds.extend(filter.to_bytes());
        }
    }
    if let Ok(mut filter) = ScalableCuckoo::with_rate(10, 0.1) {
        let _ = (0..60u64).map(|key| filter.insert(&key)).filter(Result::is_ok).count();
        seeds.extend(filter.to_bytes());
    }
    if let Ok(mut bitmap) = Bitmap::dense(1000) {
        let _ = bitmap.insert_range(100..200);
        seeds.extend(bitmap.to_bytes());
    }
    let sparse: Bitmap = [1, 5, 70_000, 1 << 40].into_iter().chain(1000..6000).collect();
    seeds.extend(sparse.to_bytes());
    seeds
}

/// A file with everything in it that no filter uses yet.
fn container() -> Option<Vec<u8>> {
    let mut header = Header::new(Kind::new(0x8000));
    header.inserted = Some(3);
    header.sections = vec![Section::new(1, 100), Section::new(2, 0), Section::new(3, 200)];
    header.sections[2].skippable = true;
    header.extra = vec![ExtraField::new(0x0100, *b"note"), ExtraField::new(0x4101, [9; 17])];
    let mut writer = Writer::to_vec(&header).ok()?;
    writer.write_body(&[5; 300]).ok()?;
    writer.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_good_files_and_repairing_leaves_them_as_they_are() {
        let seeds = seeds();
        assert!(seeds.len() > 12);
        for seed in seeds.iter().filter(|seed| seed.len() > 8) {
            assert!(Header::parse(seed).is_ok());
            assert_eq!(repaired(seed).as_ref(), Some(seed));
        }
    }

    #[test]
    fn repairing_reaches_what_stands_behind_the_checksum() {
        let filter = BloomFilter::with_rate(100, 0.01).unwrap();
        let mut bytes = filter.to_bytes().unwrap();
        bytes[80] ^= 1; // The planned keys.
        bytes[300] ^= 1; // A bit of the body.
        assert!(BloomFilter::from_bytes(&bytes).is_err());
        assert!(BloomFilter::from_bytes(&repaired(&bytes).unwrap()).is_ok());
    }
}
