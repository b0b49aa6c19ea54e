//! What is written is read.

use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::codec::{Layout, SECTION_PARAMETERS};

const LENGTHS: [&[u64]; 12] = [
    &[],
    &[0],
    &[1],
    &[64],
    &[MIB - 1],
    &[MIB],
    &[MIB + 1],
    &[3 * MIB + 7],
    &[0, 0, 0],
    &[1, 64, 0, 65],
    &[MIB, 1, MIB],
    &[7, 3 * MIB + 7, 0, MIB - 1, 64],
];

#[test]
fn sections_of_every_awkward_length_come_back() {
    for lengths in LENGTHS {
        let (header, bodies) = (header(lengths), bodies(lengths));
        let bytes = encode(&header, &bodies);
        let file = File::parse(&bytes).unwrap();
        file.verify().unwrap();
        assert_eq!(file.header(), &header);
        assert_eq!(Header::parse(&bytes), Ok(header), "from a longer prefix");
        for (i, body) in bodies.iter().enumerate() {
            assert_eq!(file.section(i), Some(&body[..]), "section {i} of {lengths:?}");
            assert_eq!(&bytes[file.section_range(i).unwrap()], &body[..]);
        }
        assert_eq!(file.section(bodies.len()), None);
        assert_eq!(bytes.len() as u64, file.layout().file_length());
    }
}

#[test]
fn bodies_stand_where_they_can_be_mapped() {
    let header = header(&[1, 64, MIB - 1, MIB, 3 * MIB + 7, 1]);
    let layout = header.layout().unwrap();
    let starts: Vec<u64> = layout.sections().iter().map(|place| place.start).collect();
    for (start, section) in starts.iter().zip(&header.sections) {
        let alignment = if section.length >= MIB { 4096 } else { 64 };
        assert_eq!(start % alignment, 0, "length {}", section.length);
    }
    // 128 + 6 * 64 + extra fields (8 + 8, 8, 8 + 8) = 552.
    assert_eq!(layout.header_length(), 552);
    assert_eq!(starts, [576, 640, 704, 1_052_672, 2_101_248, 5_247_040]);
    assert_eq!(layout.checksums_offset(), 5_247_048);
    assert_eq!(layout.file_length(), 5_247_048 + 8 * (1 + 1 + 1 + 1 + 4 + 1 + 1));
}

#[test]
fn a_body_in_pieces_is_the_same_file() {
    let lengths = [MIB + 1, 5, 2 * MIB];
    let (header, bodies) = (header(&lengths), bodies(&lengths));
    let expected = encode(&header, &bodies);
    for piece_length in [1_000, 65_536, 1 << 20, (1 << 20) + 1] {
        let mut writer = Writer::to_vec(&header).unwrap();
        for piece in bodies.iter().flat_map(|body| body.chunks(piece_length)) {
            writer.write_body(piece).unwrap();
            writer.write_body(&[]).unwrap();
        }
        assert!(writer.finish().unwrap() == expected, "pieces of {piece_length}");
    }
}

#[test]
fn bodies_of_the_wrong_length_are_refused() {
    let header = header(&[4, 0, 4]);
    let wrong = |section, expected, got| FormatError::WrongBody { section, expected, got };

    let mut long = Writer::to_vec(&header).unwrap();
    long.write_body(b"abc").unwrap();
    assert_eq!(long.write_body(b"de"), Err(wrong(0, 4, 5)));
    assert_eq!(long.write_body(b"d"), Err(FormatError::AfterFailure), "the caller has lost count");

    let mut short = Writer::to_vec(&header).unwrap();
    short.write_body(b"abcd").unwrap();
    short.write_body(b"ef").unwrap();
    assert_eq!(short.finish(), Err(wrong(2, 4, 2)));

    let mut many = Writer::to_vec(&header).unwrap();
    many.write_body(b"abcd").unwrap();
    many.write_body(b"efgh").unwrap();
    assert_eq!(many.write_body(b"i"), Err(wrong(3, 0, 1)));
}

#[test]
fn a_header_that_could_not_be_read_is_not_written() {
    let refused = |change: fn(&mut Header)| {
        let mut header = header(&[1]);
        change(&mut header);
        Writer::to_vec(&header).err().unwrap()
    };
    let field = |error| match error {
        FormatError::BadField { field, .. } => field,
        other => panic!("{other:?}"),
    };
    assert_eq!(field(refused(|header| header.kind = Kind::new(0))), "kind");
    for rate in [f64::NAN, -0.0, 1.0, -0.5, f64::INFINITY] {
        let mut header = header(&[]);
        header.planned_rate = rate;
        assert_eq!(field(header.to_bytes().err().unwrap()), "planned rate", "{rate}");
    }
    assert_eq!(field(refused(|header| header.inserted = Some(u64::MAX))), "inserted count");
    assert_eq!(field(refused(|header| header.sections[0].length = u64::MAX)), "section length");
    assert_eq!(
        refused(|header| header.extra.push(ExtraField::new(0x8001, b""))),
        FormatError::UnknownCriticalField { tag: 0x8001 }
    );
    let too_large = |error| matches!(error, FormatError::TooLarge { limit: MIB, .. });
    assert!(too_large(refused(|header| header.sections = vec![Section::new(1, 0); 16_383])));
    assert!(too_large(refused(|header| header.extra = vec![ExtraField::new(1, vec![0; 1 << 20])])));
}

#[test]
fn the_largest_header_fits() {
    let mut largest = Header::new(Kind::BLOCKED_BLOOM);
    largest.sections = vec![Section::new(1, 0); 16_382];
    assert_eq!(largest.layout().unwrap().header_length(), MIB);
    let bytes = encode(&largest, &[]);
    assert_eq!(File::parse(&bytes).unwrap().header(), &largest);
    check(&bytes).unwrap();
}

#[test]
fn fields_about_the_bodies_are_dropped_with_the_bodies() {
    let mut header = header(&[1]);
    header.forget_body_fields();
    let tags: Vec<u16> = header.extra.iter().map(|field| field.tag).collect();
    assert_eq!(tags, [0x0101, 0x0101]);
    assert_eq!(header.extra_field(0x0101).unwrap().bytes, b"abc");
    assert_eq!(header.extra_field(0x4102), None);
}

#[test]
fn debug_shows_neither_bodies_nor_the_bytes_of_fields() {
    let mut header = header(&[16]);
    header.extra = vec![ExtraField::new(1, [0xab; 16])];
    let bytes = encode(&header, &[vec![0xcd; 16]]);
    let shown = std::format!("{:?}", File::parse(&bytes).unwrap());
    assert!(shown.contains("ExtraField(0x0001, 16 bytes)"), "{shown}");
    assert!(!shown.contains("171") && !shown.contains("205"), "{shown}");
}

#[cfg(feature = "std")]
mod streams {
    use std::io::{self, Read, Write};

    use super::*;
    use crate::codec::{Reader, StreamError};

    #[test]
    fn a_stream_is_the_same_as_a_slice() {
        for lengths in LENGTHS {
            let (header, bodies) = (header(lengths), bodies(lengths));
            let bytes = encode(&header, &bodies);

            let mut writer = Writer::to_stream(Vec::new(), &header).unwrap();
            for body in &bodies {
                writer.write_body(body).unwrap();
            }
            assert!(writer.finish().unwrap() == bytes, "written, {lengths:?}");

            let mut reader = Reader::new(OneToSeven(&bytes, 0), u64::MAX).unwrap();
            assert_eq!(reader.header(), &header);
            for (i, body) in bodies.iter().enumerate() {
                let mut read = vec![0; body.len()];
                if i % 2 == 0 {
                    reader.read_section(&mut read).unwrap();
                } else {
                    read.clear();
                    reader.read_section_in_pieces(|piece| read.extend_from_slice(piece)).unwrap();
                }
                assert!(&read == body, "section {i} of {lengths:?}");
            }
            assert!(reader.read_section_in_pieces(|_| {}).is_err(), "one section too many");
            reader.finish().unwrap();

            Reader::new(&bytes[..], u64::MAX).unwrap().finish().unwrap();
        }
    }

    #[test]
    fn a_file_inside_a_stream_leaves_what_follows() {
        let mut bytes = small_file();
        bytes.extend_from_slice(b"next");
        let mut rest = Vec::new();
        Reader::new(&bytes[..], u64::MAX).unwrap().finish_within().unwrap().read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"next");
    }

    #[test]
    fn a_buffer_of_the_wrong_length_is_refused() {
        let bytes = small_file();
        let mut reader = Reader::new(&bytes[..], u64::MAX).unwrap();
        let error = reader.read_section(&mut [0; 71]).err().unwrap();
        let StreamError::Format(error) = error else { panic!("{error:?}") };
        assert_eq!(error, FormatError::WrongBody { section: 0, expected: 70, got: 71 });
        reader.read_section(&mut [0; 70]).unwrap();
        reader.finish().unwrap();
    }

    #[test]
    fn the_limit_is_compared_before_anything_is_read_into() {
        let bytes = small_file();
        let length = bytes.len() as u64;
        assert!(Reader::new(&bytes[..], length).is_ok());
        match Reader::new(&bytes[..], length - 1) {
            Err(StreamError::Format(error)) => {
                assert_eq!(error, FormatError::TooLarge { bytes: length, limit: length - 1 });
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_failing_stream_is_reported_and_not_used_again() {
        let header = header(&[4]);
        let mut writer =
            Writer::to_stream(FailsAt(header.layout().unwrap().header_length()), &header).unwrap();
        assert!(matches!(writer.write_body(b"abcd"), Err(StreamError::Io(_))));
        assert!(matches!(writer.write_body(b"abcd"), Err(StreamError::Format(FormatError::AfterFailure))));
        assert!(writer.finish().is_err());

        let bytes = small_file();
        let failing = bytes[..400].chain(FailsAt(0)).chain(&bytes[400..]);
        let mut reader = Reader::new(failing, u64::MAX).unwrap();
        assert!(matches!(reader.read_section(&mut [0; 70]), Err(StreamError::Io(_))));
        assert!(matches!(
            reader.read_section(&mut [0; 70]),
            Err(StreamError::Format(FormatError::AfterFailure))
        ));
        assert!(reader.finish().is_err());
    }

    /// Gives between one and seven bytes at a time, and is interrupted before each.
    struct OneToSeven<'a>(&'a [u8], usize);

    impl Read for OneToSeven<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 += 1;
            if self.1 % 2 == 1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            // Long bodies in larger helpings, or this takes seconds.
            let most = if self.0.len() > 10_000 { 70_001 } else { 1 + self.1 % 7 };
            let length = buffer.len().min(most);
            self.0.read(&mut buffer[..length])
        }
    }

    /// Fails once this many bytes were taken.
    struct FailsAt(u64);

    impl Write for FailsAt {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(usize::try_from(self.0).unwrap());
            self.0 -= taken as u64;
            if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Read for FailsAt {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
}

fn any_header() -> impl Strategy<Value = Header> {
    let section = (any::<u16>(), any::<bool>(), 0u64..3_000, any::<[u64; SECTION_PARAMETERS]>())
        .prop_map(|(role, skippable, length, parameters)| Section { role, skippable, length, parameters });
    let extra = (any::<u16>(), prop::collection::vec(any::<u8>(), 0..40))
        .prop_map(|(tag, bytes)| ExtraField::new(tag & !ExtraField::CRITICAL, bytes));
    let hash = (any::<u16>(), any::<u64>(), any::<Option<u64>>()).prop_map(|(id, seed, key_id)| HashRecord {
        id: HashId::new(id),
        seed,
        key_id,
    });
    let rate = prop_oneof![Just(0.0), f64::MIN_POSITIVE..1.0];
    let inserted = prop::option::of(0..u64::MAX);
    (
        (1u16.., any::<u16>(), any::<[u64; 4]>(), hash, any::<u64>(), rate, inserted),
        prop::collection::vec(section, 0..6),
        prop::collection::vec(extra, 0..4),
    )
        .prop_map(
            |((kind, recipe, parameters, hash, planned_keys, planned_rate, inserted), sections, extra)| {
                Header {
                    recipe,
                    parameters,
                    hash,
                    planned_keys,
                    planned_rate,
                    inserted,
                    sections,
                    extra,
                    ..Header::new(Kind::new(kind))
                }
            },
        )
}

proptest! {
    #[test]
    fn any_header_comes_back(header in any_header()) {
        let lengths: Vec<u64> = header.sections.iter().map(|section| section.length).collect();
        let bodies = bodies(&lengths);
        let bytes = encode(&header, &bodies);
        let file = File::parse(&bytes).unwrap();
        file.verify().unwrap();
        prop_assert_eq!(file.header(), &header);
        for (i, body) in bodies.iter().enumerate() {
            prop_assert_eq!(file.section(i), Some(&body[..]));
        }
        // And again, byte for byte.
        prop_assert!(encode(file.header(), &bodies) == bytes);
    }

    #[test]
    fn a_layout_never_overlaps(lengths in prop::collection::vec(0u64..=1 << 60, 0..8)) {
        let Ok(layout) = header(&lengths).layout() else {
            // At most eight times 2^60 and some padding: only the very largest are refused.
            prop_assert!(lengths.iter().sum::<u64>() > i64::MAX as u64 - (1 << 45));
            return Ok(());
        };
        let mut end = layout.header_length();
        for (place, length) in Layout::sections(&layout).iter().zip(&lengths) {
            prop_assert!(place.start >= end && place.start - end < 4096);
            prop_assert_eq!(place.end - place.start, *length);
            end = place.end;
        }
        let chunks: u64 = lengths.iter().map(|length| length.div_ceil(MIB)).sum();
        prop_assert!(layout.checksums_offset() >= end && layout.checksums_offset() - end < 8);
        prop_assert_eq!(layout.file_length(), layout.checksums_offset() + 8 * (chunks + 1));
    }
}
