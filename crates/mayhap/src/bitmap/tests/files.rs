//! Files: there and back, and every kind of damage.

use std::format;
use std::fs;
use std::vec::Vec;

use roaring::RoaringTreemap;

use super::super::{Bitmap, Form, MappedBitmap, portable};
use super::{EDGES, both, random};
use crate::codec::{Existing, Kind};
use crate::error::Error;
use crate::file::ReadOptions;
use crate::filter::InsertError;

/// Sets of every shape: empty, edges, arrays, full bitmaps, runs, a mix of them.
fn samples() -> Vec<Bitmap> {
    let mut mixed: Bitmap = random(20_000, 7).into_iter().map(|number| number % 300_000).collect();
    mixed.extend(EDGES);
    mixed.insert_range(400_000..700_000).unwrap();
    let mut runs = Bitmap::sparse();
    for start in (0..3_000_000_000u64).step_by(50_000_000) {
        runs.insert_range(start..start + 100_000).unwrap();
    }
    let few = [3, 17, 999];
    let [dense, sparse] = both(1000, &few);
    let [full, full_sparse] = both(70_000, &(0..70_000).collect::<Vec<_>>());
    let array: Bitmap = (0..4096).map(|i| i * 16).collect();
    let bits: Bitmap = (0..4097).map(|i| i * 15).collect();
    std::vec![
        Bitmap::sparse(),
        Bitmap::dense(1).unwrap(),
        EDGES.into_iter().collect(),
        dense,
        sparse,
        full,
        full_sparse,
        array,
        bits,
        mixed,
        runs,
    ]
}

#[test]
fn round_trips() {
    let directory = std::env::temp_dir().join(format!("mayhap-bitmap-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    for (i, bitmap) in samples().into_iter().enumerate() {
        let bytes = bitmap.to_bytes().unwrap();
        let path = directory.join(format!("{i}.mayhap"));
        bitmap.save(&path, Existing::Refuse).unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes);
        let mut stream = Vec::new();
        bitmap.write_to(&mut stream).unwrap();
        assert_eq!(stream, bytes);

        let check = |loaded: &Bitmap| {
            assert!(*loaded == bitmap, "{i}");
            assert_eq!((loaded.len(), loaded.universe()), (bitmap.len(), bitmap.universe()));
            assert_eq!(loaded.is_dense(), bitmap.is_dense());
            assert_eq!(loaded.to_bytes().unwrap(), bytes, "{i}: other bytes the second time");
        };
        check(&Bitmap::from_bytes(&bytes).unwrap());
        check(&Bitmap::open(&path).unwrap());
        check(&Bitmap::read_from(&bytes[..], &ReadOptions::new()).unwrap());

        let mapped = MappedBitmap::map(&path).unwrap();
        assert!(mapped == bitmap);
        assert!(bitmap == mapped);
        assert!(mapped.iter().eq(bitmap.iter()));
        assert!(mapped.missing(..1000).eq(bitmap.missing(..1000)));
        assert_eq!(mapped.to_bytes().unwrap(), bytes);
        let mut merged = bitmap.empty_like().unwrap();
        merged.merge(&mapped).unwrap();
        check(&merged);

        let limit = ReadOptions::new().max_bytes(bytes.len() as u64 - 1);
        assert!(Bitmap::from_bytes_with(&bytes, &limit).is_err());
        assert!(Bitmap::open_with(&path, &limit).is_err());
        assert!(Bitmap::read_from(&bytes[..], &limit).is_err());
        assert!(MappedBitmap::map_with(&path, &limit).is_err());
    }
    let error = Bitmap::open(directory.join("none")).unwrap_err();
    assert!(matches!(error, Error::File(_)), "{error}");
    assert!(matches!(MappedBitmap::map(directory.join("none")), Err(Error::File(_))));
    fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn every_flipped_byte_and_every_cut_is_noticed() {
    let [dense, sparse] = both(1000, &[3, 17, 500, 501, 502, 503, 999]);
    for bitmap in [dense, sparse, EDGES.into_iter().collect()] {
        let bytes = bitmap.to_bytes().unwrap();
        for at in 0..bytes.len() {
            for flip in [1, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                assert!(Bitmap::from_bytes(&damaged).is_err(), "byte {at}");
                assert!(Bitmap::read_from(&damaged[..], &ReadOptions::new()).is_err(), "byte {at}");
            }
            assert!(Bitmap::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
            assert!(Bitmap::read_from(&bytes[..at], &ReadOptions::new()).is_err(), "cut at {at}");
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(Bitmap::from_bytes(&longer).is_err());
    }
}

#[test]
fn a_mapped_file_that_is_cut_or_longer_is_refused() {
    let directory = std::env::temp_dir().join(format!("mayhap-bitmap-cut-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join("cut.mayhap");
    for bitmap in both(100_000, &[3, 17]) {
        let mut bytes = bitmap.to_bytes().unwrap();
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert!(matches!(MappedBitmap::map(&path), Err(Error::File(_))));
        bytes.push(0);
        fs::write(&path, &bytes).unwrap();
        assert!(matches!(MappedBitmap::map(&path), Err(Error::File(_))));
    }
    fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn another_kind_is_refused() {
    let bytes = crate::BloomFilter::with_rate(100, 0.01).unwrap().to_bytes().unwrap();
    let error = Bitmap::from_bytes(&bytes).unwrap_err();
    let expected = format!("the file holds a {} and a {} was asked for", Kind::BLOCKED_BLOOM, Kind::BITMAP);
    assert!(format!("{error}").starts_with(&expected), "{error}");
    assert!(crate::BloomFilter::from_bytes(&Bitmap::sparse().to_bytes().unwrap()).is_err());
}

/// The crate's own reader and writer, which stand for those of other languages: what it writes is read here, what is
/// written here is read there, and after its `optimize` the bytes are the same.
#[test]
fn the_sparse_body_is_what_roaring_writes() {
    for bitmap in samples() {
        let mut map: RoaringTreemap = match bitmap.to_sparse().form {
            Form::Sparse(map) => map,
            Form::Dense(_) => unreachable!(),
        };
        let mut ours = Vec::new();
        portable::write(&map, |bytes| -> Result<(), InsertError> {
            ours.extend_from_slice(bytes);
            Ok(())
        })
        .unwrap();
        assert_eq!(ours.len() as u64, portable::length(&map));
        assert_eq!(RoaringTreemap::deserialize_from(&ours[..]).unwrap(), map);

        for optimized in [false, true] {
            if optimized {
                map.optimize();
            }
            let mut theirs = Vec::new();
            map.serialize_into(&mut theirs).unwrap();
            let (read, len) = portable::read(&theirs).unwrap();
            assert!(read == map && len == map.len());
            if optimized {
                assert_eq!(ours, theirs);
            }
        }
    }
}

#[test]
fn a_bitmap_has_no_key_not_even_number_zero() {
    let mut bytes = Bitmap::dense(1_000).unwrap().to_bytes().unwrap();
    bytes[30] |= 1; // There is a key id. It is zero.
    let end = bytes.len();
    let header_length = usize::try_from(u32::from_le_bytes(bytes[12..16].try_into().unwrap())).unwrap();
    let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[..header_length - 8]).to_le_bytes();
    bytes[header_length - 8..header_length].copy_from_slice(&checksum);
    assert_eq!(bytes.len(), end);
    let error = Bitmap::from_bytes(&bytes).unwrap_err().to_string();
    assert!(error.contains("flag of a key id"), "{error}");
}
