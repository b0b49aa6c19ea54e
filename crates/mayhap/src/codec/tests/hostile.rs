//! Headers whose checksum is right and whose fields are not.

use proptest::prelude::*;

use super::*;
use crate::codec::Version;

/// Where the fields of `small_file` are: 120 bytes, three sections of 64, extra fields, checksum.
const SECTION_0: usize = 120;
const SECTION_2: usize = SECTION_0 + 2 * 64;
const EXTRA: usize = SECTION_0 + 3 * 64;

/// Judges a small file with these bytes put in, its checksums made right again.
fn with(offset: usize, bytes: &[u8]) -> Result<(), FormatError> {
    let mut file = small_file();
    put(&mut file, offset, bytes);
    reseal(&mut file);
    let found = check(&file);
    #[cfg(feature = "std")]
    assert_eq!(found, check_stream(&file));
    found
}

/// The field that is blamed.
fn blamed(offset: usize, bytes: &[u8]) -> &'static str {
    match with(offset, bytes) {
        Err(FormatError::BadField { field, .. }) => field,
        other => panic!("{other:?}"),
    }
}

#[test]
fn resealing_a_sound_file_changes_nothing() {
    let mut file = small_file();
    reseal(&mut file);
    assert_eq!(file, small_file());
}

#[test]
fn a_field_with_an_impossible_value_is_named() {
    let table: [(&str, usize, &[u8]); 26] = [
        ("major", 8, &[0, 0]),
        ("file length", 16, &u64::MAX.to_le_bytes()),
        ("file length", 16, &0u64.to_le_bytes()),
        ("kind", 24, &[0, 0]),
        ("flags", 30, &[2, 0]),
        ("flags", 30, &[1, 0x80]),
        ("planned rate", 88, &f64::NAN.to_le_bytes()),
        ("planned rate", 88, &1.0f64.to_le_bytes()),
        ("planned rate", 88, &(-0.0f64).to_le_bytes()),
        ("header length", 104, &u32::MAX.to_le_bytes()),
        ("header length", 104, &2u32.to_le_bytes()),
        ("header length", 108, &u32::MAX.to_le_bytes()),
        ("header length", 108, &0u32.to_le_bytes()),
        ("reserved", 112, &[1]),
        ("reserved", 119, &[1]),
        ("section flags", SECTION_0 + 2, &[2, 0]),
        ("section reserved", SECTION_0 + 4, &[1]),
        ("section offset", SECTION_0 + 8, &0u64.to_le_bytes()),
        ("section offset", SECTION_0 + 8, &385u64.to_le_bytes()),
        ("section length", SECTION_0 + 16, &u64::MAX.to_le_bytes()),
        ("section length", SECTION_0 + 16, &(i64::MAX as u64).to_le_bytes()),
        ("section length", SECTION_2 + 16, &(u64::MAX - 448).to_le_bytes()),
        ("extra field reserved", EXTRA + 2, &[1]),
        ("extra field length", EXTRA + 4, &u32::MAX.to_le_bytes()),
        ("extra field length", EXTRA + 4, &33u32.to_le_bytes()),
        ("extra field padding", EXTRA + 8 + 3, &[1]),
    ];
    for (field, offset, bytes) in table {
        assert_eq!(blamed(offset, bytes), field, "{bytes:x?} at {offset}");
    }
}

#[test]
fn a_key_id_without_its_flag_is_refused() {
    let mut keyed = header(&[]);
    keyed.hash.key_id = Some(77);
    let mut file = encode(&keyed, &[]);
    put(&mut file, 30, &[0, 0]);
    let length = file.len();
    // No sections, so the table is only its own checksum: `reseal` would look for more.
    let sum = xxh3_64(&file[..length - 16]);
    put(&mut file, length - 16, &sum.to_le_bytes());
    assert!(matches!(check(&file), Err(FormatError::BadField { field: "key id", value: 77, .. })));
}

#[test]
fn sections_that_overlap_or_leave_gaps_are_refused() {
    let mut file = small_file();
    let layout = File::parse(&file).unwrap().layout().clone();
    let first = layout.sections()[0].clone();
    for start in [first.start, first.end, first.start - 64, layout.sections()[2].start + 64, u64::MAX - 63] {
        assert_eq!(blamed(SECTION_2 + 8, &start.to_le_bytes()), "section offset");
    }
    // A first section that runs into the third, both offsets as they were.
    put(&mut file, SECTION_0 + 16, &200u64.to_le_bytes());
    reseal(&mut file);
    assert!(matches!(check(&file), Err(FormatError::BadField { field: "section offset", .. })));
}

#[test]
fn versions() {
    assert_eq!(with(8, &[2, 0]), Err(FormatError::NewerMajor { got: 2 }));
    assert_eq!(with(8, &[0xff, 0xff]), Err(FormatError::NewerMajor { got: 0xffff }));
    // A newer major is recognised before its header, which may be of another shape, is judged.
    assert_eq!(Header::needed(b"\x8bmayhap\n\x02\0"), Err(FormatError::NewerMajor { got: 2 }));

    assert_eq!(with(10, &[7, 0]), Ok(()), "a higher minor version opens");
    let mut file = small_file();
    put(&mut file, 10, &[7, 0]);
    reseal(&mut file);
    let header = Header::parse(&file).unwrap();
    assert_eq!(header.version, Version { major: 1, minor: 7 });
    let rewritten = Header::parse(&header.to_bytes().unwrap()).unwrap();
    assert_eq!(rewritten.version, Version::CURRENT);
    assert_eq!(rewritten.extra, header.extra, "what was skipped is kept");
}

#[test]
fn unknown_fields_are_skipped_unless_critical() {
    assert_eq!(with(EXTRA, &[0xfe, 0x3f]), Ok(()));
    assert_eq!(with(EXTRA, &[0x01, 0x81]), Err(FormatError::UnknownCriticalField { tag: 0x8101 }));
    // Also as the last field of several.
    assert_eq!(with(EXTRA + 24, &[0xff, 0xff]), Err(FormatError::UnknownCriticalField { tag: 0xffff }));
}

#[test]
fn header_lengths_are_limited_before_they_are_believed() {
    let start = |length: u32| {
        let mut start = small_file();
        put(&mut start, 12, &length.to_le_bytes());
        start
    };
    for length in [1 << 20 | 1, 1 << 31, u32::MAX] {
        let expected = FormatError::TooLarge { bytes: length.into(), limit: MIB };
        assert_eq!(check(&start(length)), Err(expected.clone()));
        #[cfg(feature = "std")]
        assert_eq!(check_stream(&start(length)), Err(expected));
    }
    for length in [0, 8, 127] {
        assert!(matches!(check(&start(length)), Err(FormatError::BadField { field: "header length", .. })));
    }
    // Within the limit, and more than there is.
    let got = small_file().len() as u64;
    assert_eq!(check(&start(1 << 20)), Err(FormatError::Truncated { needed: MIB, got }));
}

/// A header that says 2^60 bytes follow. Believing it would ask for more memory than any machine has.
#[test]
fn a_huge_claim_costs_nothing() {
    let bytes = header(&[1 << 60]).to_bytes().unwrap();
    let claimed = header(&[1 << 60]).layout().unwrap().file_length();
    let got = bytes.len() as u64;
    assert_eq!(check(&bytes), Err(FormatError::Truncated { needed: claimed, got }));
    #[cfg(feature = "std")]
    {
        assert_eq!(check_stream(&bytes), Err(FormatError::Truncated { needed: claimed, got }));
        let limited = crate::codec::Reader::new(&bytes[..], 1 << 40).err().unwrap();
        let crate::codec::StreamError::Format(limited) = limited else { panic!("{limited:?}") };
        assert_eq!(limited, FormatError::TooLarge { bytes: claimed, limit: 1 << 40 });
    }
    assert!(matches!(
        Writer::to_vec(&header(&[1 << 60])),
        Err(FormatError::OutOfMemory { bytes }) if bytes == claimed
    ));
}

#[test]
fn messages_say_what_to_do() {
    let messages = [
        (with(8, &[9, 0]), "version 9 of the format"),
        (with(EXTRA, &[0x01, 0x81]), "0x8101"),
        (check(b"%PDF-1.7\n"), "right file"),
        (check(&small_file()[..500]), "500 bytes of"),
        (with(24, &[0, 0]), "\"kind\" is 0"),
    ];
    for (found, expected) in messages {
        let message = std::format!("{}", found.unwrap_err());
        assert!(message.contains(expected), "{message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Any change that is sealed again is refused or gives a file that writes back to the very same bytes:
    /// there are no two spellings of one file.
    #[test]
    fn a_resealed_change_is_refused_or_is_a_file(
        changes in prop::collection::vec((8usize..360, any::<u8>()), 1..4)
    ) {
        let mut file = small_file();
        for (offset, byte) in changes {
            file[offset] = byte;
        }
        let length = u32::from_le_bytes(file[12..16].try_into().unwrap());
        // Resealing needs the header inside the file, with room for the checksum.
        if (128..=360).contains(&length) {
            reseal(&mut file);
        }
        let found = check(&file);
        #[cfg(feature = "std")]
        prop_assert_eq!(&found, &check_stream(&file));
        if found.is_ok() {
            let parsed = File::parse(&file).unwrap();
            let bodies: Vec<Vec<u8>> =
                (0..parsed.header().sections.len()).map(|i| parsed.section(i).unwrap().to_vec()).collect();
            if parsed.header().version == Version::CURRENT {
                prop_assert!(encode(parsed.header(), &bodies) == file);
            }
        }
    }

    #[test]
    fn any_bytes_are_judged_without_a_panic(tail in prop::collection::vec(any::<u8>(), 0..400)) {
        let file = [&b"\x8bmayhap\n\x01\0\0\0"[..], &tail].concat();
        prop_assert!(check(&file).is_err());
        prop_assert!(check(&tail).is_err());
    }
}
