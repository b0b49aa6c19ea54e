//! The file format's readers.

use mayhap::codec::{ExtraField, Header, Kind, Section, Writer};
use mayhap::hash::SecretKey;
use mayhap::{BloomFilter, ClassicBloom, Error, ReadOptions, Shape};
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
    read_blocked(data);
    read_classic(data);
}

/// The limit for readers that can't know how much there will be.
fn limited() -> ReadOptions {
    ReadOptions::new().max_bytes(1 << 20)
}

fn read_blocked(data: &[u8]) {
    let whole = BloomFilter::from_bytes_with(data, &limited());
    agree(&whole, &BloomFilter::read_from(data, &limited()));
    with_aligned(data, |aligned| {
        if let Ok(view) = BloomFilter::from_aligned_bytes(aligned, &limited()) {
            let found = view.contains("key");
            assert!(whole.as_ref().is_ok_and(|whole| whole.contains("key") == found) || whole.is_err());
            let _ = (view.estimated_len(), view.expected_rate());
        } else {
            assert!(whole.is_err(), "a filter that can be read can be borrowed");
        }
    });
    if let Ok(mut filter) = whole {
        assert!(filter.len_bytes() <= data.len() as u64);
        assert_rewritten(data, &filter.to_bytes().expect("a small filter"));
        filter.insert("key");
        assert!(filter.contains("key"));
        let _ = (filter.estimated_len(), filter.expected_rate(), filter.is_over_plan(), filter.fold(2));
        assert!(filter.contains("key"));
    }
}

fn read_classic(data: &[u8]) {
    let whole = ClassicBloom::from_bytes_with(data, &limited());
    agree(&whole, &ClassicBloom::read_from(data, &limited()));
    if let Ok(mut filter) = whole {
        assert!(filter.len_bytes() <= data.len() as u64);
        assert_rewritten(data, &filter.to_bytes().expect("a small filter"));
        filter.insert("key");
        assert!(filter.contains("key"));
        let _ = (filter.estimated_len(), filter.expected_rate(), filter.is_over_plan(), filter.fold(2));
        assert!(filter.contains("key"));
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
    if header.version.minor == 0 && header.extra.is_empty() && header.inserted.is_none() {
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
    seeds.extend(container());
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
