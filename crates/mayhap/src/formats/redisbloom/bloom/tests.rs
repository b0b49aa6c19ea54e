//! The old layouts, the limits, and what the recorded cases don't have.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::codec::FormatError;
use crate::file::ReadOptions;
use crate::filter::InsertError;
use crate::formats::input::Input;
use crate::formats::redisbloom::rdb::{ModuleId, ModuleValue as _, ModuleWriter, RdbVersion, read_module};
use crate::hash::functions::murmur2::{murmur2_32, murmur64a};

/// One link as the facts describe it, with a byte for each bit and a division for each position.
struct Plain {
    options: u32,
    bits: Vec<u8>,
}

impl Plain {
    fn positions(&self, item: &[u8], link: &RedisLink) -> Vec<usize> {
        let (start, step) = if self.options & 4 == 0 {
            let start = murmur2_32(item, 0x9747_b28c);
            (u64::from(start), u64::from(murmur2_32(item, start)))
        } else {
            let start = murmur64a(item, 0xc6a4_a793_5bd1_e995);
            (start, murmur64a(item, start))
        };
        let modulus = if link.log2_bits > 0 { 1 << link.log2_bits } else { link.bits };
        (0..u64::from(link.hashes))
            .map(|i| (start.wrapping_add(i.wrapping_mul(step)) % modulus) as usize)
            .collect()
    }

    fn bytes(&self) -> Vec<u8> {
        self.bits.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit)).collect()
    }
}

fn old_filter(options: u32, asked: u64, items: u32) -> (RedisLink, Plain) {
    let mut link = RedisLink::plan(asked, 0.01, Options::from_bits(u64::from(options)).unwrap()).unwrap();
    let mut plain = Plain { options, bits: vec![0; link.bits as usize] };
    for item in 0..items {
        let positions = plain.positions(&item.to_le_bytes(), &link);
        let new = positions.iter().any(|position| plain.bits[*position] == 0);
        positions.iter().for_each(|position| plain.bits[*position] = 1);
        link.size += u64::from(new);
    }
    (link, plain)
}

fn header_of(options: u32, links: &[RedisLink]) -> Vec<u8> {
    let mut header = Vec::new();
    header.extend(links.iter().map(|link| link.size).sum::<u64>().to_le_bytes());
    header.extend((links.len() as u32).to_le_bytes());
    header.extend(options.to_le_bytes());
    header.extend(2u32.to_le_bytes());
    for link in links {
        header.extend(link.bytes.to_le_bytes());
        header.extend(link.bits.to_le_bytes());
        header.extend(link.size.to_le_bytes());
        header.extend(link.error.to_le_bytes());
        header.extend(link.bits_per_entry.to_le_bytes());
        header.extend(link.hashes.to_le_bytes());
        header.extend(link.entries.to_le_bytes());
        header.push(link.log2_bits);
    }
    header
}

#[test]
fn old_filters_load_answer_and_grow() {
    // 32-bit hashes with and without powers of two, 64-bit ones with, and sizes given as logarithms.
    for (options, asked) in [(0, 500), (1, 500), (4, 500), (5, 500), (8, 500), (2, 13), (6, 13)] {
        let (link, plain) = old_filter(options, asked, 400);
        assert_eq!(link.log2_bits > 0, options & 1 == 0);
        let header = header_of(options, &[link]);
        let mut loader = RedisBloomLoader::new(&header).unwrap();
        let data = plain.bytes();
        loader.load(1 + data.len() as u64, &data).unwrap();
        let mut filter = loader.finish().unwrap();
        assert_eq!(filter.header().unwrap(), header);
        for item in 0..3000u32 {
            let expected =
                plain.positions(&item.to_le_bytes(), &link).iter().all(|position| plain.bits[*position] == 1);
            assert_eq!(filter.contains(&item), expected, "options {options}, item {item}");
        }
        let payload = filter.to_dump(RdbVersion::REDIS_7_0).unwrap();
        assert!(RedisBloom::from_dump(&payload).unwrap() == filter);

        let outcome = (10_000..20_000u32).try_for_each(|item| filter.add(&item).map(drop));
        assert_eq!(filter.links().next().unwrap().size, link.entries, "the first is full");
        if options & 8 != 0 || options & 2 != 0 {
            // It doesn't scale, or the next size would be 2 to the power of thousands.
            assert_eq!(outcome, Err(InsertError::Full));
            assert_eq!(filter.next_link_bytes(), None);
            continue;
        }
        outcome.unwrap();
        let second = *filter.links().nth(1).unwrap();
        let expected =
            RedisLink::plan(2 * link.entries, 0.005, Options::from_bits(u64::from(options)).unwrap())
                .unwrap();
        assert_eq!(RedisLink { size: 0, ..second }, expected);
        assert!((0..400u32).chain(10_000..20_000).all(|item| filter.contains(&item)));
    }
}

#[test]
fn every_version_of_the_value_is_read() {
    for version in 0..=4 {
        let options = if version >= 2 { 5 } else { 0 };
        let (mut link, mut plain) = old_filter(if version == 0 { 1 } else { options }, 300, 250);
        plain.options = options;
        if version == 0 {
            // The very first did not round its bits up.
            link.bits = (300.0 * link.bits_per_entry) as u64;
            link.bytes = link.bits.div_ceil(8);
            let mut exact = Plain { options, bits: vec![0; link.bytes as usize * 8] };
            for item in 0..250u32 {
                let positions = exact.positions(&item.to_le_bytes(), &link);
                positions.iter().for_each(|position| exact.bits[*position] = 1);
            }
            plain = exact;
        }
        let mut bytes = vec![0x81];
        bytes.extend(ModuleId::new(RedisBloom::NAME, version).0.to_be_bytes());
        let mut writer = ModuleWriter::new(&mut bytes);
        writer.unsigned(link.size);
        writer.unsigned(1);
        if version >= 2 {
            writer.unsigned(u64::from(options));
        }
        if version >= 4 {
            writer.unsigned(3);
        }
        writer.unsigned(link.entries);
        writer.double(link.error);
        writer.unsigned(u64::from(link.hashes));
        writer.double(link.bits_per_entry);
        if version >= 1 {
            writer.unsigned(link.bits);
            writer.unsigned(u64::from(link.log2_bits));
        }
        writer.string(&plain.bytes()).unwrap();
        writer.unsigned(link.size);
        writer.finish();
        let (filter, rest) = read_module::<RedisBloom>(Input::new(&bytes), &ReadOptions::new()).unwrap();
        rest.finish().unwrap();
        assert_eq!(filter.growth, if version >= 4 { 3 } else { 2 });
        for item in 0..2000u32 {
            let positions = plain.positions(&item.to_le_bytes(), &link);
            assert_eq!(
                filter.contains(&item),
                positions.iter().all(|position| plain.bits[*position] == 1),
                "version {version}, item {item}"
            );
        }
        let payload = filter.to_dump(RdbVersion::REDIS_8_0).unwrap();
        assert!(RedisBloom::from_dump(&payload).unwrap() == filter, "version {version} written as 4");
        let limit = ReadOptions::new().max_bytes(link.bytes - 1);
        let limited = read_module::<RedisBloom>(Input::new(&bytes), &limit);
        assert!(matches!(limited, Err(FormatError::TooLarge { .. })));
    }
    let mut newer = vec![0x81];
    newer.extend(ModuleId::new(RedisBloom::NAME, 5).0.to_be_bytes());
    let newer = read_module::<RedisBloom>(Input::new(&newer), &ReadOptions::new()).map(drop);
    assert_eq!(newer, Err(FormatError::Unknown { what: "RDB value version", number: 5 }));
}

#[test]
fn a_header_can_not_ask_for_more_than_the_limit() {
    let link = RedisLink::plan(1 << 40, 0.01, Options::new(true)).unwrap();
    let header = header_of(5, &[link]);
    assert_eq!(header.len(), 73);
    let limit = RedisBloomLoader::DEFAULT_MAX_BYTES;
    let error = RedisBloomLoader::new(&header).map(drop).unwrap_err();
    assert_eq!(error, FormatError::TooLarge { bytes: link.bytes, limit });
    // Two that would wrap around 2^64 together.
    let huge = RedisLink { bytes: 1 << 60, bits: 1 << 63, ..link };
    assert!(RedisBloomLoader::new(&header_of(5, &[huge; 16])).is_err());
    let error = RedisBloom::view(&header, &[]).map(drop).unwrap_err();
    assert!(matches!(error, FormatError::Truncated { .. }));
}

#[test]
fn headers_that_can_not_be_are_refused() {
    let link = RedisLink::plan(100, 0.01, Options::new(true)).unwrap();
    let good = header_of(5, &[link]);
    RedisBloomLoader::new(&good).unwrap();
    let mut cases: Vec<Vec<u8>> = vec![header_of(5, &[]), header_of(16, &[link]), good[..72].to_vec()];
    cases.push([&good[..], &[0]].concat());
    let mut wrong_sum = good.clone();
    wrong_sum[0] = 1;
    cases.push(wrong_sum);
    let overflow = RedisLink { size: u64::MAX, ..link };
    let mut overflow = header_of(5, &[overflow, link]);
    overflow[20 + 53 + 16] = 1;
    overflow[..8].fill(0);
    cases.push(overflow);
    for (i, case) in cases.iter().enumerate() {
        assert!(RedisBloomLoader::new(case).is_err(), "case {i}");
    }
}

fn grown() -> RedisBloom {
    let mut filter = RedisBloom::reserve(0.01, 50, 2, true).unwrap();
    for item in 0..1000u32 {
        filter.add(&item).unwrap();
    }
    assert!(filter.links().len() > 3);
    filter
}

#[test]
fn pieces_are_cut_at_their_length_and_never_span_links() {
    let filter = grown();
    let mut loader = RedisBloomLoader::new(&filter.header().unwrap()).unwrap();
    let mut iterator = 1;
    let mut lengths = Vec::new();
    while let Some(chunk) = filter.piece(iterator, 100).unwrap() {
        assert_eq!(chunk.iterator, iterator + chunk.bytes.len() as u64);
        iterator = chunk.iterator;
        lengths.push(chunk.bytes.len() as u64);
        loader.load(iterator, &chunk.bytes).unwrap();
    }
    assert!(loader.finish().unwrap() == filter);
    let mut expected = Vec::new();
    for link in filter.links() {
        expected.extend((0..link.bytes).step_by(100).map(|start| (link.bytes - start).min(100)));
    }
    assert_eq!(lengths, expected);
    assert_eq!(filter.scan_dump(iterator).unwrap(), None);
    assert_eq!(filter.scan_dump(u64::MAX).unwrap(), None);
    // From any byte on, as Redis answers.
    let first = filter.scan_dump(1).unwrap().unwrap();
    let from_6 = filter.scan_dump(6).unwrap().unwrap();
    assert_eq!((from_6.iterator, &from_6.bytes[..]), (first.iterator, &first.bytes[5..]));
}

#[test]
fn a_piece_out_of_place_is_refused_and_a_missing_one_noticed() {
    let filter = grown();
    let mut loader = RedisBloomLoader::new(&filter.header().unwrap()).unwrap();
    let first = filter.links().next().unwrap().bytes;
    let total = filter.data_bytes();
    let field = |error: FormatError| match error {
        FormatError::BadField { field, .. } => field,
        FormatError::TooLarge { .. } => "too large",
        other => panic!("{other}"),
    };
    assert_eq!(field(loader.load(0, &[]).unwrap_err()), "iterator");
    assert_eq!(field(loader.load(3, &[0; 4]).unwrap_err()), "iterator");
    assert_eq!(field(loader.load(4, &[0; 4]).unwrap_err()), "offset", "it would start before the first byte");
    assert_eq!(field(loader.load(total + 2, &[0]).unwrap_err()), "offset");
    assert_eq!(field(loader.load(first + 2, &[0; 2]).unwrap_err()), "too large", "over the end of a link");
    loader.load(5, &[]).unwrap();
    assert_eq!(loader.missing_bytes(), total);
    // Stretches that overlap, touch and fill gaps.
    for (start, length, missing) in
        [(10, 5, 5), (20, 5, 10), (12, 4, 11), (16, 4, 15), (0, 3, 18), (2, 9, 25)]
    {
        loader.load(1 + start + length, &vec![0xff; length as usize]).unwrap();
        assert_eq!(total - loader.missing_bytes(), missing, "after {start}");
    }
    let error = loader.clone().finish().map(drop).unwrap_err();
    assert_eq!(error, FormatError::Truncated { needed: total, got: 25 });
    let incomplete = loader.finish_incomplete();
    let start = incomplete.scan_dump(1).unwrap().unwrap().bytes;
    assert_eq!((&start[..25], &start[25..]), (&[0xff; 25][..], &vec![0; first as usize - 25][..]));
}

#[test]
fn bits_that_look_like_a_number_come_back() {
    let mut filter = RedisBloom::reserve(0.2, 1, 2, false).unwrap();
    filter.load_chunk(9, b"12345678").unwrap();
    let payload = filter.to_dump(RdbVersion::REDIS_7_0).unwrap();
    // As an integer of four bytes.
    assert!(payload.windows(6).any(|window| window == [5, 0xc2, 0x4e, 0x61, 0xbc, 0x00]));
    assert!(RedisBloom::from_dump(&payload).unwrap() == filter);
}

#[test]
fn reserve_follows_the_command() {
    assert!(RedisBloom::reserve(0.0, 1, 2, true).is_err());
    assert!(RedisBloom::reserve(1.0, 1, 2, true).is_err());
    assert!(RedisBloom::reserve(f64::NAN, 1, 2, true).is_err());
    assert!(RedisBloom::reserve(0.01, 0, 2, true).is_err());
    assert!(RedisBloom::reserve(0.01, u64::MAX, 2, true).is_err());
    let capped = RedisBloom::reserve(0.9, 10, 2, true).unwrap();
    assert_eq!(capped.links().next().unwrap().error, 0.125);
    // EXPANSION 0 means NONSCALING, and is stored.
    let fixed = RedisBloom::reserve(0.01, 10, 0, true).unwrap();
    assert_eq!(
        (fixed.info().expansion, fixed.header().unwrap()[12], fixed.header().unwrap()[16]),
        (None, 13, 0)
    );
    let mut filter = grown();
    filter.clear();
    assert!(filter == RedisBloom::reserve(0.01, 50, 2, true).unwrap());
    assert!(RedisBloom::new().unwrap() == RedisBloom::reserve(0.01, 100, 2, true).unwrap());
    let rate = grown().expected_rate();
    assert!(rate > 0.001 && rate < 0.01, "{rate}");
}

#[test]
fn planned_links_are_those_that_come() {
    for (error, capacity, expansion, scaling) in
        [(0.01, 100, 2, true), (0.3, 7, 3, true), (0.001, 500, 1, true), (0.01, 3_000, 2, false)]
    {
        let mut filter = RedisBloom::reserve(error, capacity, expansion, scaling).unwrap();
        for item in 0..3_000u32 {
            filter.add(&item).unwrap();
        }
        let planned = RedisBloom::planned_links(error, capacity, expansion, scaling, filter.card()).unwrap();
        assert_eq!(planned, filter.links().copied().collect::<Vec<_>>());
    }
    // One that doesn't scale takes no more than it was made for, and chains end somewhere.
    let fixed = RedisBloom::planned_links(0.01, 10, 2, false, 1_000).unwrap();
    assert_eq!((fixed.len(), fixed[0].size), (1, 10));
    assert!(RedisBloom::planned_links(0.01, 1, 1, true, u64::MAX).is_err());
    assert!(RedisBloom::planned_links(0.0, 1, 1, true, 1).is_err());
    assert!(RedisBloom::planned_links(0.01, 0, 1, true, 1).is_err());
}

proptest! {
    #[test]
    fn together_is_one_by_one(
        items in proptest::collection::vec(0u16..900, 0..1200),
        capacity in 1u64..200,
        expansion in 0u32..4,
    ) {
        let mut single = RedisBloom::reserve(0.05, capacity, expansion, true).unwrap();
        let mut together = single.clone();
        let mut new = vec![true; items.len()];
        let (answered, outcome) = together.add_each(&items, &mut new);
        let mut expected = Vec::new();
        let refused = items.iter().find_map(|item| match single.add(item) {
            Ok(new) => {
                expected.push(new);
                None
            }
            Err(error) => Some(error),
        });
        prop_assert_eq!(outcome.err(), refused);
        prop_assert_eq!(&new[..answered], &expected[..]);
        prop_assert!(new[answered..].iter().all(|new| !new));
        prop_assert!(together == single);
        let asked: Vec<u16> = (0..1000).collect();
        let mut found = vec![false; 1000];
        together.contains_each(&asked, &mut found);
        prop_assert!(asked.iter().zip(&found).all(|(item, found)| single.contains(item) == *found));
    }
}
