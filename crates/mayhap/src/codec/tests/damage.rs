//! Bytes that changed, are missing, or are too many.

use super::*;
use crate::codec::Part;

#[test]
fn every_flipped_bit_is_noticed() {
    let sound = small_file();
    check(&sound).unwrap();
    let mut file = sound.clone();
    for byte in 0..file.len() {
        for bit in 0..8 {
            file[byte] ^= 1 << bit;
            let found = check(&file);
            assert!(found.is_err(), "bit {bit} of byte {byte}");
            #[cfg(feature = "std")]
            assert_eq!(found, check_stream(&file), "bit {bit} of byte {byte}");
            file[byte] ^= 1 << bit;
        }
    }
    assert_eq!(file, sound);
}

#[test]
fn every_other_byte_is_noticed() {
    let mut file = small_file();
    for byte in 0..file.len() {
        let sound = file[byte];
        for wrong in [0x00, 0xff, sound.wrapping_add(1), sound.rotate_left(4), b'\r', b'\n'] {
            file[byte] = wrong;
            assert_eq!(check(&file).is_err(), wrong != sound, "{wrong:#x} in byte {byte}");
        }
        file[byte] = sound;
    }
}

#[test]
fn every_truncation_is_noticed() {
    let file = small_file();
    for length in 0..file.len() {
        let found = check(&file[..length]);
        assert!(
            matches!(found, Err(FormatError::Truncated { got, .. }) if got == length as u64),
            "{length}: {found:?}"
        );
        #[cfg(feature = "std")]
        assert_eq!(found, check_stream(&file[..length]), "{length}");
    }
}

#[test]
fn a_longer_file_is_refused() {
    let mut file = small_file();
    let expected = Err(FormatError::TrailingBytes { file_length: file.len() as u64 });
    file.push(0);
    assert_eq!(check(&file), expected);
    #[cfg(feature = "std")]
    assert_eq!(check_stream(&file), expected);
}

#[test]
fn the_error_says_where_the_damage_is() {
    let lengths = [5, 2 * MIB + 1, 0, MIB];
    let sound = encode(&header(&lengths), &bodies(&lengths));
    let layout = header(&lengths).layout().unwrap();
    let damaged = |position: u64| {
        let mut file = sound.clone();
        file[usize::try_from(position).unwrap()] ^= 0x10;
        let found = check(&file);
        #[cfg(feature = "std")]
        assert_eq!(found, check_stream(&file));
        found.unwrap_err()
    };
    let chunk = |section, chunk| FormatError::BadChecksum { what: Part::Chunk { section, chunk } };
    let start = |section: usize| layout.sections()[section].start;
    assert_eq!(damaged(20), FormatError::BadChecksum { what: Part::Header });
    assert_eq!(damaged(start(0) - 1), FormatError::BadPadding { offset: start(0) - 1 });
    assert_eq!(damaged(start(0) + 4), chunk(0, 0));
    assert_eq!(damaged(start(0) + 5), FormatError::BadPadding { offset: start(0) + 5 });
    assert_eq!(damaged(start(1)), chunk(1, 0));
    assert_eq!(damaged(start(1) + MIB), chunk(1, 1));
    assert_eq!(damaged(start(1) + 2 * MIB), chunk(1, 2));
    assert_eq!(damaged(start(3) + MIB - 1), chunk(3, 0));
    for entry in 0..6 {
        let table = layout.checksums_offset() + 8 * entry;
        assert_eq!(damaged(table), FormatError::BadChecksum { what: Part::Checksums }, "entry {entry}");
    }
}

#[test]
fn the_header_of_one_file_does_not_go_with_the_bodies_of_another() {
    let lengths = [64];
    let mut other = header(&lengths);
    other.planned_keys += 1;
    let (mut file, other) = (encode(&header(&lengths), &bodies(&lengths)), encode(&other, &bodies(&lengths)));
    let body = File::parse(&file).unwrap().section_range(0).unwrap().start;
    file[..body].copy_from_slice(&other[..body]);
    assert_eq!(check(&file), Err(FormatError::BadChecksum { what: Part::Checksums }));
}

#[test]
fn swapped_chunks_are_noticed() {
    let lengths = [2 * MIB];
    let mut file = encode(&header(&lengths), &bodies(&lengths));
    let body = File::parse(&file).unwrap().section_range(0).unwrap();
    let (first, second) = file[body].split_at_mut(1 << 20);
    first.swap_with_slice(second);
    assert_eq!(check(&file), Err(FormatError::BadChecksum { what: Part::Chunk { section: 0, chunk: 0 } }));
}

#[test]
fn a_transfer_as_text_is_named() {
    let file = small_file();
    let unix_to_dos: Vec<u8> =
        file.iter().flat_map(|byte| if *byte == b'\n' { vec![b'\r', b'\n'] } else { vec![*byte] }).collect();
    let seven_bit: Vec<u8> = file.iter().map(|byte| byte & 0x7f).collect();
    let latin1_to_utf8: Vec<u8> =
        file.iter().map(|byte| char::from(*byte)).collect::<std::string::String>().into();
    let replaced = std::string::String::from_utf8_lossy(&file).into_owned().into_bytes();
    let question_mark = [&b"?"[..], &file[1..]].concat();
    for damaged in [unix_to_dos, seven_bit, latin1_to_utf8, replaced, question_mark] {
        assert_eq!(check(&damaged), Err(FormatError::DamagedAsText), "{:x?}", &damaged[..12]);
        #[cfg(feature = "std")]
        assert_eq!(check_stream(&damaged), Err(FormatError::DamagedAsText));
    }
}

#[test]
fn other_files_are_not_ours() {
    for other in
        [&b"\x1f\x8b\x08\0\0\0\0\0"[..], b"%PDF-1.7\n", b"m", b"\x89PNG\r\n\x1a\n", &[0; 300], b"mayhap\n"]
    {
        assert_eq!(check(other), Err(FormatError::NotAMayhapFile), "{other:x?}");
        #[cfg(feature = "std")]
        assert_eq!(check_stream(other), Err(FormatError::NotAMayhapFile), "{other:x?}");
    }
}
