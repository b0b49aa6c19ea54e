//! Files whose checksums are right and whose fields are not: what a faulty or hostile program writes.

use mayhap::codec::{ExtraField, FormatError, HashRecord, Header, Kind, Section, Writer};
use mayhap::hash::HashId;
use mayhap::{BloomFilter, ClassicBloom, Error, ReadOptions};

use crate::persist::{Directory, Files, format_error};
use crate::subject::{Blocked, Classic, Subject};

/// The header of a small filter after `change`, with a body of zeros as long as it then says.
fn file(sample: &[u8], change: impl FnOnce(&mut Header)) -> Result<Vec<u8>, FormatError> {
    let mut header = Header::parse(sample).unwrap();
    change(&mut header);
    let mut writer = Writer::to_vec(&header)?;
    for section in &header.sections {
        writer.write_body(&vec![0; section.length as usize])?;
    }
    writer.finish()
}

type Change = (&'static str, fn(&mut Header));

/// Changes that no reader may accept, whatever the kind.
const FORBIDDEN: [Change; 19] = [
    ("another kind", |header| header.kind = Kind::CUCKOO),
    ("a private kind", |header| header.kind = Kind::new(0x8000)),
    ("no recipe", |header| header.recipe = 0),
    ("a recipe to come", |header| header.recipe = 77),
    ("size 0", |header| header.parameters[0] = 0),
    ("a size of more blocks than there are", |header| header.parameters[0] += 1024),
    ("a size beyond counting", |header| header.parameters[0] = u64::MAX),
    ("a parameter too many", |header| header.parameters[3] = 1),
    ("no planned keys", |header| header.planned_keys = 0),
    ("no planned rate", |header| header.planned_rate = 0.0),
    ("no section", |header| header.sections.clear()),
    ("two sections", |header| header.sections.push(Section::new(1, 64))),
    ("another role", |header| header.sections[0].role = 2),
    ("an empty section", |header| header.sections[0].length = 0),
    ("half a block", |header| header.sections[0].length += 32),
    ("a section parameter", |header| header.sections[0].parameters[4] = 1),
    ("no hash function", |header| header.hash = HashRecord::NONE),
    ("a hash function to come", |header| header.hash.id = HashId::new(200)),
    ("a key id for a function without a key", |header| header.hash.key_id = Some(7)),
];

/// Changes that a reader accepts.
const ALLOWED: [Change; 4] = [
    ("another seed", |header| header.hash.seed = 99),
    ("another plan", |header| (header.planned_keys, header.planned_rate) = (1, 0.999)),
    ("a count of keys", |header| header.inserted = Some(3)),
    ("a field to skip", |header| header.extra.push(ExtraField::new(0x3fff, b"hello".as_slice()))),
];

fn try_all<S: Subject<Filter: Files>>(subject: &S) {
    let directory = Directory::new();
    let sample = subject.make(100, 0.01, 0).written();
    for (name, change) in FORBIDDEN {
        // Some the writer refuses already.
        let Ok(bytes) = file(&sample, change) else { continue };
        for road in S::Filter::roads(&bytes, &ReadOptions::new(), &directory, &[]) {
            let refused = road.outcome.as_ref().err().is_some_and(|error| format_error(error).is_some());
            assert!(refused, "{subject:?}, {}, {name}: {:?}", road.name, road.outcome);
        }
    }
    for (name, change) in ALLOWED {
        let bytes = file(&sample, change).unwrap();
        for road in S::Filter::roads(&bytes, &ReadOptions::new(), &directory, &[]) {
            assert!(road.outcome.is_ok(), "{subject:?}, {}, {name}: {:?}", road.name, road.outcome);
        }
    }
}

#[test]
fn blocked() {
    try_all(&Blocked::planned());
}

#[test]
fn classic() {
    try_all(&Classic::planned());
}

#[test]
fn two_lines_need_an_even_number_of_blocks() {
    let sample = Blocked::shaped(mayhap::bloom::Shape::SixteenTwoLines).make(1_000, 0.01, 0).written();
    let bytes = file(&sample, |header| {
        header.parameters[0] += 1;
        header.sections[0].length += 64;
    });
    let error = BloomFilter::from_bytes(&bytes.unwrap()).unwrap_err();
    assert!(matches!(format_error(&error), Some(FormatError::BadField { field: "blocks", .. })), "{error:?}");
}

#[test]
fn a_classic_filter_has_no_bits_behind_its_last() {
    let filter = ClassicBloom::with_bits(1_000, 7).unwrap();
    let header = Header::parse(&filter.to_bytes().unwrap()).unwrap();
    // Bit 1000 is the first that doesn't exist; the body goes on to bit 1023.
    for (bit, is_there) in [(999, true), (1_000, false), (1_023, false)] {
        let mut body = [0; 128];
        body[bit / 8] |= 1 << (bit % 8);
        let mut writer = Writer::to_vec(&header).unwrap();
        writer.write_body(&body).unwrap();
        let bytes = writer.finish().unwrap();
        for road in ClassicBloom::roads(&bytes, &ReadOptions::new(), &Directory::new(), &[]) {
            assert_eq!(road.outcome.is_ok(), is_there, "bit {bit}, {}: {:?}", road.name, road.outcome);
        }
    }
}

#[test]
fn hashes_of_a_classic_filter_are_between_1_and_64() {
    let sample = ClassicBloom::with_bits(1_000, 7).unwrap().to_bytes().unwrap();
    for hashes in [0, 65, 1 << 32, u64::MAX] {
        let bytes = file(&sample, |header| header.parameters[1] = hashes).unwrap();
        assert!(
            matches!(ClassicBloom::from_bytes(&bytes), Err(Error::Format(FormatError::BadField { .. }))),
            "{hashes}"
        );
    }
}

/// A stream whose header promises a petabyte: nothing may be allocated for it.
#[test]
fn a_limit_comes_before_the_allocation() {
    const PETABYTE: u64 = 1 << 50;
    let mut header = Header::parse(&Blocked::planned().make(100, 0.01, 0).written()).unwrap();
    header.parameters[0] = PETABYTE / 64;
    header.sections[0].length = PETABYTE;
    let mut bytes = header.to_bytes().unwrap();
    bytes.resize(1 << 16, 0);

    let options = ReadOptions::new().max_bytes(1 << 30);
    let error = BloomFilter::read_from(&bytes[..], &options).unwrap_err();
    assert!(
        matches!(format_error(&error), Some(FormatError::TooLarge { bytes, limit }) if *bytes > PETABYTE && *limit == 1 << 30),
        "{error:?}"
    );
    // In memory or in a file the length is known, and says enough without a limit.
    for road in BloomFilter::roads(&bytes, &ReadOptions::new(), &Directory::new(), &[]) {
        let error = road.outcome.expect_err("64 KiB of a petabyte");
        match road.name {
            // A stream doesn't tell its length. Without a limit the memory is asked for, and can't be had.
            "read_from" => {
                assert!(matches!(error, Error::Format(FormatError::OutOfMemory { .. })), "{error:?}");
            }
            name => assert!(
                matches!(format_error(&error), Some(FormatError::Truncated { .. })),
                "{name}: {error:?}"
            ),
        }
    }
}
