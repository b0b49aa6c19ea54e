//! Files that somebody made to do harm: their checksums are right.

use std::vec::Vec;

use roaring::RoaringTreemap;

use super::super::{Bitmap, MappedBitmap, portable};
use super::{both, random};
use crate::codec::{ExtraField, HashRecord, Header, Kind, Section, Writer};
use crate::hash::HashId;

/// A file of this header and body, with all its checksums.
fn file(header: &Header, body: &[u8]) -> Vec<u8> {
    let mut writer = Writer::to_vec(header).unwrap();
    let mut body = body;
    for section in &header.sections {
        let (start, rest) = body.split_at(section.length as usize);
        writer.write_body(start).unwrap();
        body = rest;
    }
    writer.finish().unwrap()
}

fn header(recipe: u16, largest: u64, len: u64, body: usize) -> Header {
    Header {
        recipe,
        parameters: [largest, 0, 0, 0],
        inserted: Some(len),
        sections: std::vec![Section::new(recipe, body as u64)],
        ..Header::new(Kind::BITMAP)
    }
}

/// A map isn't counted, because that would read it; what is made of one is.
#[test]
fn a_mapped_bitmap_whose_header_miscounts_makes_sparse_ones_that_count() {
    let mut body = [0; 128];
    body[0] = 0b1010_0000; // 5 and 7
    let path = std::env::temp_dir().join(std::format!("mayhap-miscounted-{}", std::process::id()));
    for len in [0, 1, 3, 1000] {
        std::fs::write(&path, file(&header(1, 999, len, 128), &body)).unwrap();
        assert!(Bitmap::open(&path).is_err(), "{len}: a bitmap that is read is counted");
        let mapped = MappedBitmap::map(&path).unwrap();
        let mut sparse = mapped.to_sparse();
        assert_eq!(sparse.len(), 2, "{len}");
        assert!(Bitmap::from_bytes(&sparse.to_bytes().unwrap()).unwrap() == sparse, "{len}");
        assert!(sparse.remove(5) && sparse.remove(7) && sparse.is_empty(), "{len}");
        assert_eq!(mapped.to_dense(1000).unwrap().len(), 2, "{len}");
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn headers_that_contradict_themselves() {
    let dense = header(1, 999, 0, 128);
    assert!(Bitmap::from_bytes(&file(&dense, &[0; 128])).is_ok(), "this one is right");
    let change = |change: fn(&mut Header)| {
        let mut header = dense.clone();
        change(&mut header);
        let body = header.sections.iter().map(|section| section.length as usize).sum();
        file(&header, &std::vec![0; body])
    };
    type Wrong = (&'static str, fn(&mut Header));
    let wrong: [Wrong; 17] = [
        ("recipe", |header| header.recipe = 3),
        ("recipe of the other form", |header| header.recipe = 2),
        ("parameter", |header| header.parameters[1] = 1),
        ("last parameter", |header| header.parameters[3] = 1),
        ("one number more than blocks", |header| header.parameters[0] = 1024),
        ("one block too many", |header| header.parameters[0] = 511),
        ("as many numbers as there can be", |header| header.parameters[0] = u64::MAX),
        ("hash", |header| header.hash = HashRecord { id: HashId::XXH3, seed: 0, key_id: None }),
        ("seed", |header| header.hash.seed = 5),
        ("planned keys", |header| header.planned_keys = 5),
        ("planned rate", |header| header.planned_rate = 0.5),
        ("no count", |header| header.inserted = None),
        ("count too high for the universe", |header| header.inserted = Some(1001)),
        ("count that the body hasn't", |header| header.inserted = Some(1)),
        ("two sections", |header| header.sections.push(Section::new(1, 64))),
        ("section parameter", |header| header.sections[0].parameters[0] = 1),
        ("no section", |header| header.sections.clear()),
    ];
    for (what, wrong) in wrong {
        assert!(Bitmap::from_bytes(&change(wrong)).is_err(), "{what}");
    }
    let mut extra = dense.clone();
    extra.extra.push(ExtraField::new(ExtraField::CRITICAL | 0x100, [1]));
    assert!(extra.to_bytes().is_err() || Bitmap::from_bytes(&file(&extra, &[0; 128])).is_err());
}

#[test]
fn bodies_that_contradict_the_header() {
    // A bit behind the largest number.
    for stray in [999 / 8, 1000 / 8, 127] {
        let mut body = [0; 128];
        body[stray] = 0x80;
        let result = Bitmap::from_bytes(&file(&header(1, 999, 1, 128), &body));
        assert_eq!(result.is_ok(), stray == 999 / 8, "byte {stray}");
    }
    // A number above the largest, and a wrong count, in the sparse form.
    let body = portable_bytes(&[5, 1000].into_iter().collect());
    assert!(Bitmap::from_bytes(&file(&header(2, 1000, 2, body.len()), &body)).is_ok());
    assert!(Bitmap::from_bytes(&file(&header(2, 999, 2, body.len()), &body)).is_err());
    assert!(Bitmap::from_bytes(&file(&header(2, 1000, 1, body.len()), &body)).is_err());
    assert!(Bitmap::from_bytes(&file(&header(2, 1000, 3, body.len()), &body)).is_err());
    assert!(Bitmap::from_bytes(&file(&header(2, 1000, 0, 0), &[])).is_err(), "not even a count of maps");
}

fn portable_bytes(map: &RoaringTreemap) -> Vec<u8> {
    let mut bytes = Vec::new();
    map.serialize_into(&mut bytes).unwrap();
    bytes
}

/// Each breaks one rule of the format, and is what `roaring` itself may take or not.
#[test]
fn sparse_bodies_that_break_a_rule() {
    let words = |words: &[&[u8]]| words.concat();
    let count = |maps: u64| maps.to_le_bytes();
    let array = |key: u32, containers: &[(u16, &[u16])]| {
        let mut bytes =
            [key.to_le_bytes(), 12346u32.to_le_bytes(), (containers.len() as u32).to_le_bytes()].concat();
        for (key, values) in containers {
            bytes.extend(key.to_le_bytes());
            bytes.extend((values.len() as u16).wrapping_sub(1).to_le_bytes());
        }
        let mut offset = 8 + 8 * containers.len() as u32;
        for (_, values) in containers {
            bytes.extend(offset.to_le_bytes());
            offset += 2 * values.len() as u32;
        }
        bytes.extend(
            containers.iter().flat_map(|(_, values)| values.iter().flat_map(|value| value.to_le_bytes())),
        );
        bytes
    };
    let runs = |numbers: u16, marks: u8, runs: &[(u16, u16)]| {
        let mut bytes = [0u32.to_le_bytes(), 12347u32.to_le_bytes()].concat();
        bytes.push(marks);
        bytes.extend([0, 0]);
        bytes.extend(numbers.wrapping_sub(1).to_le_bytes());
        bytes.extend((runs.len() as u16).to_le_bytes());
        bytes
            .extend(runs.iter().flat_map(|(first, more)| [first.to_le_bytes(), more.to_le_bytes()].concat()));
        bytes
    };
    let read = |bytes: &[u8]| portable::read(bytes).map(|(_, len)| len).ok();

    // What is right is read.
    assert_eq!(read(&count(0)), Some(0));
    let right = array(0, &[(1, &[1, 2, 9]), (2, &[0])]);
    assert_eq!(read(&words(&[&count(1), &right])), Some(4));
    assert_eq!(read(&words(&[&count(2), &right, &array(7, &[(0, &[65_535])])])), Some(5));
    assert_eq!(read(&words(&[&count(1), &runs(5, 1, &[(0, 1), (9, 2)])])), Some(5));

    let wrong: Vec<(&str, Vec<u8>)> = std::vec![
        ("nothing", Vec::new()),
        ("maps that aren't there", words(&[&count(u64::MAX), &right])),
        ("bytes behind", words(&[&count(1), &right, &[0]])),
        ("a key twice", words(&[&count(2), &right, &right])),
        ("keys that descend", words(&[&count(2), &array(7, &[(0, &[1])]), &array(3, &[(0, &[1])])])),
        ("another cookie", words(&[&count(1), &[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]])),
        ("no containers", words(&[&count(1), &array(0, &[])])),
        (
            "containers that aren't there",
            words(&[&count(1), &[0; 4], &12346u32.to_le_bytes(), &[0xff; 4], &[0; 99]])
        ),
        (
            "65537 containers",
            words(&[
                &count(1),
                &[0; 4],
                &12346u32.to_le_bytes(),
                &65_537u32.to_le_bytes(),
                &std::vec![0; 1 << 20]
            ])
        ),
        ("a container twice", words(&[&count(1), &array(0, &[(1, &[1]), (1, &[2])])])),
        ("containers that descend", words(&[&count(1), &array(0, &[(2, &[1]), (1, &[2])])])),
        ("an array that descends", words(&[&count(1), &array(0, &[(0, &[5, 4])])])),
        ("an array with a number twice", words(&[&count(1), &array(0, &[(0, &[5, 5])])])),
        ("an array too long", words(&[&count(1), &array(0, &[(0, &[]), (1, &[1])])])),
        ("no runs", words(&[&count(1), &runs(1, 1, &[])])),
        ("runs that overlap", words(&[&count(1), &runs(6, 1, &[(0, 2), (2, 2)])])),
        ("runs that touch", words(&[&count(1), &runs(6, 1, &[(0, 2), (3, 2)])])),
        ("runs that descend", words(&[&count(1), &runs(2, 1, &[(9, 0), (5, 0)])])),
        ("a run that leaves its container", words(&[&count(1), &runs(9, 1, &[(65_530, 8)])])),
        ("runs of more numbers than said", words(&[&count(1), &runs(4, 1, &[(0, 1), (9, 2)])])),
        ("runs of fewer numbers than said", words(&[&count(1), &runs(6, 1, &[(0, 1), (9, 2)])])),
        ("runs marked that aren't there", words(&[&count(1), &runs(5, 3, &[(0, 1), (9, 2)])])),
        ("an offset that points elsewhere", {
            let mut bytes = words(&[&count(1), &right]);
            bytes[8 + 4 + 8 + 8] += 2;
            bytes
        }),
        ("a bitmap with fewer numbers than said", {
            let mut bytes = portable_bytes(&(0..65_536).step_by(2).collect());
            let last = bytes.len() - 1;
            assert_eq!(read(&bytes), Some(32_768));
            bytes[last] = 0;
            bytes
        }),
    ];
    for (what, bytes) in wrong {
        assert_eq!(read(&bytes), None, "{what}");
    }
}

/// Changed at random, a body is refused or is the body of the set that was read from it: nothing else, no panic, and
/// no more memory than the bytes are worth.
#[test]
fn bodies_changed_at_random_are_refused_or_mean_what_they_say() {
    let mut mixed: RoaringTreemap = random(3000, 3).into_iter().map(|number| number % 1_000_000).collect();
    mixed.insert_range(200_000..300_000);
    mixed.insert(1 << 40);
    let mut optimized = mixed.clone();
    optimized.optimize();
    let seeds = [
        mixed,
        optimized,
        [1, 2, 3, 1 << 33, u64::MAX].into_iter().collect(),
        (0..5000).map(|i| i * 13).collect(),
    ];
    let (mut accepted, mut refused) = (0, 0);
    for (i, seed) in seeds.iter().enumerate() {
        let bytes = portable_bytes(seed);
        for round in 0..3000 {
            let mut changed = bytes.clone();
            let random = random(12, (i * 100_000 + round) as u64);
            for change in random.chunks(3).take(1 + round % 4) {
                // The start, where lengths are, more often than the rest.
                let span = if change[0] % 2 == 0 { changed.len().min(64) } else { changed.len() };
                let at = change[1] as usize % span;
                match change[0] / 2 % 4 {
                    0 => changed[at] = change[2] as u8,
                    1 => changed[at] ^= 1 << (change[2] % 8),
                    2 => changed.truncate(at.max(1)),
                    _ => changed.insert(at, change[2] as u8),
                }
            }
            match portable::read(&changed) {
                Ok((map, len)) => {
                    accepted += 1;
                    assert_eq!(map.len(), len);
                    assert!(map.iter().is_sorted_by(|a, b| a < b));
                    let theirs = RoaringTreemap::deserialize_from(&changed[..]).unwrap();
                    assert!(map == theirs, "read otherwise than by others");
                    map.bitmaps().for_each(|(_, map)| map.internal_validate().unwrap());
                    let again = portable::read(&portable_bytes(&map)).unwrap();
                    assert!(again.0 == map);
                }
                Err(_) => refused += 1,
            }
        }
    }
    std::println!("{accepted} accepted, {refused} refused");
    assert!(accepted > 100 && refused > 5000, "{accepted} accepted, {refused} refused");
}

/// Random changes of whole files, with the checksums made right again.
#[test]
fn sparse_files_changed_at_random_never_panic() {
    for bitmap in both(100_000, &random(2000, 5).iter().map(|number| number % 100_000).collect::<Vec<_>>()) {
        let bytes = bitmap.to_bytes().unwrap();
        let parsed = crate::codec::File::parse(&bytes).unwrap();
        let (header, body) = (parsed.header().clone(), parsed.section(0).unwrap());
        for round in 0..2000 {
            let random = random(4, round);
            let mut body = body.to_vec();
            let at = random[0] as usize % body.len();
            body[at] ^= 1 << (random[1] % 8);
            let mut header = header.clone();
            if random[2].is_multiple_of(2) {
                header.parameters[0] = header.parameters[0].wrapping_add(random[3] % 1000);
            } else {
                header.inserted = Some(random[3] % 4000);
            }
            if let Ok(read) = Bitmap::from_bytes(&file(&header, &body)) {
                assert_eq!(read.len(), read.iter().count() as u64);
                assert_eq!(read.to_bytes().unwrap(), file(&header, &body));
            }
        }
    }
}
