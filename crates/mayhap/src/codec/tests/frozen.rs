//! Files of version 1 never change.

use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use super::*;

/// The worked example of `docs/formats.md`.
fn example() -> (Header, Vec<u8>) {
    let header = Header {
        recipe: 1,
        parameters: [2, 3, 0, 0],
        hash: HashRecord { id: HashId::XXH3, seed: 42, key_id: None },
        planned_keys: 10,
        planned_rate: 0.01,
        inserted: Some(2),
        sections: vec![Section { parameters: [9, 0, 0, 0, 0], ..Section::new(1, 12) }],
        extra: vec![ExtraField::new(0x0100, b"note!")],
        ..Header::new(Kind::new(0x8000))
    };
    (header, b"hello mayhap".to_vec())
}

#[test]
fn the_example_in_the_documentation_is_what_is_written_and_read() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md");
    let page = std::fs::read_to_string(page).unwrap();
    let dump = page.split("```hexdump\n").nth(1).unwrap().split("```").next().unwrap();

    let (header, body) = example();
    let file = encode(&header, core::slice::from_ref(&body));
    assert_eq!(dump, hex_dump(&file), "the dump in docs/formats.md and what is written differ");

    let documented: Vec<u8> = dump
        .lines()
        .flat_map(|line| line.split("  ").nth(1).unwrap().split(' '))
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect();
    let parsed = File::parse(&documented).unwrap();
    parsed.verify().unwrap();
    assert_eq!(parsed.header(), &header);
    assert_eq!(parsed.section(0), Some(&body[..]));
}

#[test]
fn the_bytes_of_larger_files_never_change() {
    let digest = |lengths: &[u64]| xxh3_64(&encode(&header(lengths), &bodies(lengths)));
    assert_eq!(digest(&[]), 0xe580_bcae_fefd_aa94);
    assert_eq!(digest(&[70, 0, 5]), 0xc7fb_81e8_1244_26c2);
    assert_eq!(digest(&[7, 3 * MIB + 7, 0, MIB - 1, 64]), 0x45a7_1a46_0b4e_bae8);
}

/// Sixteen bytes a line: offset, bytes, and what is printable of them.
fn hex_dump(bytes: &[u8]) -> String {
    let line = |(number, line): (usize, &[u8])| {
        let bytes: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        let text: String =
            line.iter().map(|byte| if byte.is_ascii_graphic() { char::from(*byte) } else { '.' }).collect();
        format!("{:04x}  {:<47}  {text}\n", 16 * number, bytes.join(" "))
    };
    bytes.chunks(16).enumerate().map(line).collect()
}
