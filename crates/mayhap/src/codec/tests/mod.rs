//! Tests of the container as a whole.

mod damage;
mod frozen;
mod hostile;
mod round_trip;
#[cfg(feature = "std")]
mod save;

use std::vec;
use std::vec::Vec;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{ExtraField, File, FormatError, HashRecord, Header, Kind, Section, Writer};
use crate::hash::HashId;

const MIB: u64 = 1 << 20;

/// A header that uses every field, with sections of these lengths.
fn header(lengths: &[u64]) -> Header {
    Header {
        recipe: 3,
        parameters: [5, 6, 7, 8],
        hash: HashRecord { id: HashId::SIP13, seed: 11, key_id: Some(0) },
        planned_keys: 1_000,
        planned_rate: 0.01,
        inserted: Some(0),
        sections: lengths
            .iter()
            .zip(1..)
            .map(|(length, number)| Section {
                role: number,
                skippable: number % 2 == 0,
                length: *length,
                parameters: [u64::from(number), 2, 3, 4, u64::MAX],
            })
            .collect(),
        extra: vec![
            ExtraField::new(0x0101, b"abc"),
            ExtraField::new(0x4102, b""),
            ExtraField::new(0x0101, [0; 8]),
        ],
        ..Header::new(Kind::BLOCKED_BLOOM)
    }
}

/// Bytes that are different in every section and don't repeat.
fn bodies(lengths: &[u64]) -> Vec<Vec<u8>> {
    let body = |seed: u64, length: u64| {
        (0..length.div_ceil(8)).flat_map(move |i| xxh3_64_with_seed(&i.to_le_bytes(), seed).to_le_bytes())
    };
    let cut = |seed, length| body(seed, length).take(usize::try_from(length).unwrap()).collect();
    (1..).zip(lengths).map(|(seed, length)| cut(seed, *length)).collect()
}

fn encode(header: &Header, bodies: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = Writer::to_vec(header).unwrap();
    for body in bodies {
        writer.write_body(body).unwrap();
    }
    writer.finish().unwrap()
}

/// A file small enough to damage in every way, with padding before, between and after its bodies.
fn small_file() -> Vec<u8> {
    let lengths = [70, 0, 5];
    encode(&header(&lengths), &bodies(&lengths))
}

/// Everything that is checked about a file in memory.
fn check(bytes: &[u8]) -> Result<(), FormatError> {
    File::parse(bytes)?.verify()
}

/// The same for the file as a stream. Both ways must agree, also on what is wrong.
#[cfg(feature = "std")]
fn check_stream(bytes: &[u8]) -> Result<(), FormatError> {
    let read = || super::Reader::new(bytes, u64::MAX)?.finish();
    match read() {
        Ok(()) => Ok(()),
        Err(super::StreamError::Format(error)) => Err(error),
        Err(super::StreamError::Io(error)) => panic!("reading from memory failed: {error}"),
    }
}

/// Puts a number where a field is.
fn put(file: &mut [u8], offset: usize, bytes: &[u8]) {
    file[offset..offset + bytes.len()].copy_from_slice(bytes);
}

/// Makes the checksums of header and table right again, so that what a test changed is judged by itself.
fn reseal(file: &mut [u8]) {
    let length = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
    let header_checksum = xxh3_64(&file[..length - 8]);
    put(file, length - 8, &header_checksum.to_le_bytes());
    // The last checksum is of the table, whose length follows from the sections: here one chunk for each that
    // isn't empty.
    let end = file.len() - 8;
    let table = xxh3_64_with_seed(&file[end - 16..end], header_checksum);
    put(file, end, &table.to_le_bytes());
}
