//! Dumps: in pieces of any size, of earlier versions, and such as no RedisBloom wrote.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::filled;
use crate::codec::FormatError;
use crate::file::ReadOptions;
use crate::formats::input::Input;
use crate::formats::redisbloom::rdb::{ModuleReader, ModuleValue, ModuleWriter, RdbVersion, to_dump};
use crate::formats::redisbloom::{Chunk, CuckooLimits, RedisCuckoo};

proptest! {
    #[test]
    fn dumps_come_back_in_pieces_of_any_size(
        bucket_size in 1u64..10,
        expansion in 1u64..5,
        keys in 1u32..600,
        most in 1u64..700,
    ) {
        let filter = filled(40, bucket_size, expansion, keys);
        let limits = filter.limits();
        let header = filter.scan_dump(0).unwrap();
        let mut copy = RedisCuckoo::from_header(&header.bytes, &limits).unwrap();
        let mut chunks = vec![header];
        while let Some(chunk) = filter.piece(chunks.last().unwrap().iterator, most) {
            copy.load_chunk(chunk.iterator, &chunk.bytes).unwrap();
            chunks.push(chunk);
        }
        prop_assert!(copy == filter);
        prop_assert!(RedisCuckoo::from_chunks(&chunks, &limits).unwrap() == filter);
        for missing in 0..chunks.len() {
            let mut holed = chunks.clone();
            holed.remove(missing);
            prop_assert!(RedisCuckoo::from_chunks(&holed, &limits).is_err());
        }
        // Backwards and byte by byte is as good.
        let mut copy = RedisCuckoo::from_header(&chunks[0].bytes, &limits).unwrap();
        for chunk in chunks[1..].iter().rev() {
            for (back, byte) in chunk.bytes.iter().rev().enumerate() {
                copy.load_chunk(chunk.iterator - back as u64, &[*byte]).unwrap();
            }
        }
        prop_assert!(copy == filter);
    }

    #[test]
    fn any_bytes_are_a_filter_or_an_error(mut header in prop::collection::vec(any::<u8>(), 30..50), zeros in 0usize..40) {
        let limits = CuckooLimits { max_bytes: 1 << 16, ..CuckooLimits::default() };
        header.iter_mut().skip(2).step_by(2).take(zeros).for_each(|byte| *byte = 0);
        if let Ok(filter) = RedisCuckoo::from_header(&header, &limits) {
            prop_assert!(filter.memory_bytes() <= limits.max_bytes);
        }
    }
}

#[test]
fn sub_filters_beyond_16_mib_come_in_pieces() {
    let mut filter = RedisCuckoo::with_capacity((1 << 24) + 2).unwrap();
    for key in 0..1000u32 {
        filter.add(&key).unwrap();
    }
    let lengths: Vec<(u64, usize)> =
        filter.chunks().map(|chunk| (chunk.iterator, chunk.bytes.len())).collect();
    let mib16 = 1 << 24;
    assert_eq!(lengths, [(1, 38), (mib16 + 1, mib16 as usize), (2 * mib16 + 1, mib16 as usize)]);
    // Inside a large one the rest is given, up to 16 MiB; at its end there is nothing.
    assert_eq!(filter.scan_dump(mib16 + 101).unwrap().iterator, 2 * mib16 + 1);
    assert!(filter.scan_dump(2 * mib16 + 1).is_none() && filter.scan_dump(u64::MAX).is_none());
    let chunks: Vec<Chunk<'_>> = filter.chunks().collect();
    assert!(RedisCuckoo::from_chunks(&chunks, &filter.limits()).unwrap() == filter);

    let mut found = [false; 1000];
    filter.contains_each(&(0..1000u32).collect::<Vec<_>>(), &mut found);
    assert_eq!(found, [true; 1000]);
}

#[test]
fn an_iterator_inside_a_small_sub_filter_gives_all_of_it() {
    let filter = filled(64, 2, 1, 100);
    let chunk = filter.scan_dump(10).unwrap();
    assert_eq!((chunk.iterator, &*chunk.bytes), (74, filter.tables[0].slots()));
    let chunk = filter.scan_dump(65).unwrap();
    assert_eq!((chunk.iterator, &*chunk.bytes), (129, filter.tables[1].slots()));
}

#[test]
fn pieces_outside_the_sub_filters_are_refused_and_change_nothing() {
    let filter = filled(64, 2, 1, 100);
    assert_eq!(filter.sub_filters(), 2);
    let mut copy = filter.clone();
    for (iterator, length) in [
        (0, 0),
        (1, 0),
        (0, 1),
        (1, 1),
        (64, 64),
        (66, 0),
        (66, 64),
        (100, 64),
        (130, 64),
        (193, 64),
        (u64::MAX, 1),
    ] {
        assert!(copy.load_chunk(iterator, &vec![7; length]).is_err(), "{iterator} {length}");
        assert!(copy == filter);
    }
    copy.load_chunk(129, &[7; 64]).unwrap();
    assert_eq!(copy.tables[1].slots(), [7; 64]);
}

#[test]
fn headers_that_no_filter_has_are_refused() {
    let filter = filled(64, 2, 1, 100);
    let header = filter.scan_dump(0).unwrap().bytes.into_owned();
    let limits = CuckooLimits { max_bytes: 1 << 20, ..CuckooLimits::default() };
    let with = |offset: usize, value: &[u8]| {
        let mut header = header.clone();
        header[offset..offset + value.len()].copy_from_slice(value);
        RedisCuckoo::from_header(&header, &limits)
    };
    let blamed = |offset, value: &[u8]| match with(offset, value) {
        Err(FormatError::BadField { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    assert_eq!(blamed(0, &129u64.to_le_bytes()), "numItems", "more than slots");
    assert_eq!(blamed(0, &u64::MAX.to_le_bytes()), "numItems");
    for buckets in [0, 3, 33, (1 << 56) + 1, 1 << 57, u64::MAX] {
        assert_eq!(blamed(8, &buckets.to_le_bytes()), "numBuckets");
    }
    for tables in [0, 33, 0x1_0002, 1 << 32, (1 << 62) + 2] {
        assert_eq!(blamed(24, &u64::to_le_bytes(tables)), "numFilters");
    }
    assert_eq!(blamed(32, &[0, 0]), "bucketSize");
    assert_eq!(blamed(32, &[0, 1]), "bucketSize");
    assert_eq!(blamed(34, &[0, 0]), "maxIterations");
    for expansion in [3u16, 0x8001, u16::MAX] {
        assert_eq!(blamed(36, &expansion.to_le_bytes()), "expansion");
    }
    assert_eq!(blamed(36, &[0, 0]), "numFilters", "two, though it doesn't grow");
    assert!(matches!(with(24, &(1 << 63 | 2u64).to_le_bytes()), Err(FormatError::Unknown { .. })));
    assert!(matches!(
        with(8, &(1u64 << 40).to_le_bytes()),
        Err(FormatError::TooLarge { limit: 0x10_0000, .. })
    ));
    assert!(matches!(with(24, &20u64.to_le_bytes()), Ok(filter) if filter.sub_filters() == 20));
    // Products: 31 doublings of 2^15 buckets each time.
    let mut huge = header.clone();
    huge[24..32].copy_from_slice(&32u64.to_le_bytes());
    huge[36..38].copy_from_slice(&0x8000u16.to_le_bytes());
    assert!(RedisCuckoo::from_header(&huge, &CuckooLimits::default()).is_err());

    for length in 0..38 {
        let cut = RedisCuckoo::from_header(&header[..length], &limits);
        assert!(matches!(cut, Err(FormatError::Truncated { .. })));
    }
    let long = [&header[..], &[0]].concat();
    assert!(matches!(
        RedisCuckoo::from_header(&long, &limits),
        Err(FormatError::TrailingBytes { file_length: 38 })
    ));
    for bit in 0..38 * 8 {
        let mut flipped = header.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Ok(filter) = RedisCuckoo::from_header(&flipped, &limits) {
            assert!(filter.memory_bytes() <= limits.max_bytes);
        }
    }
}

/// A value of RDB with numbers that can be wrong, in any version of the value.
#[derive(Clone)]
struct Crafted<const VERSION: u16> {
    numbers: Vec<u64>,
    sub_filters: Vec<(Option<u64>, Vec<u8>)>,
}

impl<const VERSION: u16> ModuleValue for Crafted<VERSION> {
    const NAME: &'static [u8; 9] = b"MBbloomCF";
    const VERSION: u16 = VERSION;

    fn read_value(_: &mut ModuleReader<'_>, _: u16, _: &ReadOptions) -> Result<Self, FormatError> {
        unreachable!("only written")
    }

    fn write_value(&self, writer: &mut ModuleWriter<'_>) -> Result<(), FormatError> {
        self.numbers.iter().for_each(|number| writer.unsigned(*number));
        for (buckets, slots) in &self.sub_filters {
            buckets.iter().for_each(|number| writer.unsigned(*number));
            writer.string(slots)?;
        }
        Ok(())
    }
}

fn read<const VERSION: u16>(value: &Crafted<VERSION>) -> Result<RedisCuckoo, FormatError> {
    RedisCuckoo::from_dump(&to_dump(value, RdbVersion::REDIS_7_0).unwrap())
}

#[test]
fn values_of_earlier_versions_are_read_and_written_as_the_present_one() {
    let filter = filled(64, 2, 1, 150);
    let sub_filters: Vec<_> = filter.tables.iter().map(|table| (None, table.slots().to_vec())).collect();
    let numbers = vec![filter.sub_filters(), 32, 150];
    assert!(
        read(&Crafted::<0> { numbers: numbers.clone(), sub_filters: sub_filters.clone() }).unwrap() == filter
    );
    assert!(
        read(&Crafted::<2> { numbers: numbers.clone(), sub_filters: sub_filters.clone() }).unwrap() == filter
    );
    let old = read(&Crafted::<3> { numbers: numbers.clone(), sub_filters: sub_filters.clone() }).unwrap();
    assert!(old == filter);
    assert_eq!(old.to_dump(RdbVersion::REDIS_8_0), filter.to_dump(RdbVersion::REDIS_8_0));
    assert!(read(&Crafted::<4> { numbers: numbers.clone(), sub_filters: sub_filters.clone() }).is_err());
    assert!(matches!(read(&Crafted::<5> { numbers, sub_filters }), Err(FormatError::Unknown { .. })));
}

#[test]
fn values_that_no_filter_has_are_refused() {
    let filter = filled(64, 2, 2, 250);
    assert_eq!(filter.sub_filters(), 3);
    let sound = Crafted::<4> {
        numbers: vec![3, 32, 250, 0, 2, 20, 2],
        sub_filters: filter
            .tables
            .iter()
            .map(|table| (Some(table.buckets()), table.slots().to_vec()))
            .collect(),
    };
    assert!(read(&sound).unwrap() == filter);
    let with = |change: &dyn Fn(&mut Crafted<4>)| {
        let mut value = sound.clone();
        change(&mut value);
        read(&value)
    };
    for (number, values) in [
        (0, &[0, 1, 2, 4, 0x1_0003, u64::MAX][..]),
        (1, &[0, 16, 31, 64, 1 << 57]),
        (2, &[449, u64::MAX]),
        (4, &[0, 1, 3, 256, 0x1_0002]),
        (5, &[0, 65_536, u64::MAX]),
        (6, &[0, 1, 3, 4, 65_536, 0x1_0002]),
    ] {
        for value in values {
            assert!(with(&|crafted| crafted.numbers[number] = *value).is_err(), "{number}: {value}");
        }
    }
    for number in 0..3 {
        for buckets in [0, 1, 31, 48, 256, u64::MAX] {
            assert!(with(&|crafted| crafted.sub_filters[number].0 = Some(buckets)).is_err());
        }
        assert!(with(&|crafted| crafted.sub_filters[number].1.push(0)).is_err());
        assert!(with(&|crafted| _ = crafted.sub_filters[number].1.pop()).is_err());
    }
    assert!(with(&|crafted| _ = crafted.sub_filters.pop()).is_err());

    // Damage that the checksum would hide from us: the value without it. The id before it has 9 bytes, after a 7.
    let dump = filter.to_dump(RdbVersion::REDIS_7_0).unwrap();
    let options = ReadOptions::new().max_bytes(1 << 16);
    let value = &dump[10..dump.len() - 10];
    let read = |bytes: &[u8]| RedisCuckoo::read_value(&mut ModuleReader::new(Input::new(bytes)), 4, &options);
    assert!(read(value).unwrap() == filter);
    for at in 0..value.len() - 1 {
        assert!(read(&value[..at]).is_err(), "{at}");
        for bit in 0..8 {
            let mut flipped = value.to_vec();
            flipped[at] ^= 1 << bit;
            assert!(
                read(&flipped).is_ok_and(|filter| filter.memory_bytes() <= 1 << 16)
                    || read(&flipped).is_err()
            );
        }
    }

    let limit = filter.memory_bytes();
    assert!(RedisCuckoo::from_dump_with(&dump, &ReadOptions::new().max_bytes(limit)).unwrap() == filter);
    let refused = RedisCuckoo::from_dump_with(&dump, &ReadOptions::new().max_bytes(limit - 1));
    assert_eq!(refused, Err(FormatError::TooLarge { bytes: limit, limit: limit - 1 }));
}
