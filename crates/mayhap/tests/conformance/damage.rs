//! Damaged bytes are refused, and nothing else happens.

use mayhap::codec::{File, FormatError};
use mayhap::counting::CounterWidth;
use mayhap::filter::{Insert, Persist};
use mayhap::{
    BloomFilter, ClassicBloom, CountingBloom, CuckooFilter, DLeftCounting, DualBloom, Error, ScalableBloom,
    ScalableCuckoo, WindowBloom,
};

use crate::counting::Counting;
use crate::cuckoo::{Cuckoo, GrowingCuckoo};
use crate::d_left::DLeft;
use crate::dual::Dual;
use crate::keys::Keys;
use crate::persist::{Directory, Files, Road, format_error};
use crate::scalable::Growing;
use crate::subject::{Blocked, Classic, Hashing, Readable, Subject};
use crate::window::WindowByTime;

const SEED: u64 = 61;

/// A small filter's file: header, one block (or two), checksums. Every byte of it can be tried.
fn sample<S: Subject<Filter: Insert + Files>>(subject: &S) -> (Vec<u8>, usize) {
    let mut filter = subject.make(5, 0.01, SEED);
    for hash in Keys::of(SEED).present(&filter, 5) {
        filter.insert_hash(hash).unwrap();
    }
    let bytes = filter.to_bytes().unwrap();
    let header_length = File::parse(&bytes).unwrap().layout().header_length() as usize;
    (bytes, header_length)
}

fn roads<S: Subject<Filter: Insert + Files> + Readable>(
    subject: &S,
    directory: &Directory,
    bytes: &[u8],
) -> Vec<Road> {
    S::Filter::roads(bytes, &subject.read_options(SEED), directory, &[])
}

pub(crate) fn every_flipped_header_bit_is_refused<S: Subject<Filter: Insert + Files> + Readable>(
    subject: &S,
) {
    let (mut bytes, header_length) = sample(subject);
    let directory = Directory::new();
    for at in 0..header_length {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            for road in roads(subject, &directory, &bytes) {
                let refused = road.outcome.as_ref().err().is_some_and(|error| format_error(error).is_some());
                assert!(
                    refused,
                    "{subject:?}, {}: bit {bit} of byte {at} flipped, {:?}",
                    road.name, road.outcome
                );
            }
            bytes[at] ^= 1 << bit;
        }
    }
}

pub(crate) fn every_flipped_body_byte_is_refused<S: Subject<Filter: Insert + Files> + Readable>(subject: &S) {
    let (mut bytes, header_length) = sample(subject);
    let directory = Directory::new();
    for at in header_length..bytes.len() {
        for change in [0x01, 0x80, 0xff] {
            bytes[at] ^= change;
            for road in roads(subject, &directory, &bytes).into_iter().filter(|road| road.is_thorough) {
                let error = road.outcome.expect_err("bytes behind the header were changed");
                let noticed = matches!(
                    format_error(&error),
                    Some(FormatError::BadChecksum { .. } | FormatError::BadPadding { .. })
                );
                assert!(noticed, "{subject:?}, {}: byte {at} changed by {change:#x}, {error:?}", road.name);
            }
            bytes[at] ^= change;
        }
    }
}

pub(crate) fn every_truncation_is_refused<S: Subject<Filter: Insert + Files> + Readable>(subject: &S) {
    let (bytes, _) = sample(subject);
    let directory = Directory::new();
    for length in 0..bytes.len() {
        for road in roads(subject, &directory, &bytes[..length]) {
            let error = road.outcome.expect_err("the file was cut off");
            let noticed = matches!(format_error(&error), Some(FormatError::Truncated { .. }));
            assert!(noticed, "{subject:?}, {}: cut off after {length} bytes, {error:?}", road.name);
        }
    }
}

pub(crate) fn a_trailing_byte_is_refused<S: Subject<Filter: Insert + Files> + Readable>(subject: &S) {
    let (mut bytes, _) = sample(subject);
    let directory = Directory::new();
    bytes.push(0);
    for road in roads(subject, &directory, &bytes) {
        let error = road.outcome.expect_err("a byte follows the file");
        let noticed = matches!(format_error(&error), Some(FormatError::TrailingBytes { .. }));
        assert!(noticed, "{subject:?}, {}: {error:?}", road.name);
    }
}

type Open = fn(&[u8]) -> Result<(), Error>;

/// A file of every kind, and how to open it as that kind: one line for each.
fn kinds() -> Vec<(&'static str, Vec<u8>, Open)> {
    let xxh3 = Hashing::Xxh3;
    vec![
        ("blocked", sample(&Blocked::planned()).0, |bytes| BloomFilter::from_bytes(bytes).map(drop)),
        ("classic", sample(&Classic::planned()).0, |bytes| ClassicBloom::from_bytes(bytes).map(drop)),
        ("scalable", sample(&Growing(xxh3)).0, |bytes| ScalableBloom::from_bytes(bytes).map(drop)),
        ("counting", sample(&Counting::planned(CounterWidth::Four)).0, |bytes| {
            CountingBloom::from_bytes(bytes).map(drop)
        }),
        ("dual", sample(&Dual(xxh3)).0, |bytes| DualBloom::from_bytes(bytes).map(drop)),
        ("d-left", sample(&DLeft::planned()).0, |bytes| DLeftCounting::from_bytes(bytes).map(drop)),
        ("cuckoo", sample(&Cuckoo::planned()).0, |bytes| CuckooFilter::from_bytes(bytes).map(drop)),
        ("scalable cuckoo", sample(&GrowingCuckoo(xxh3)).0, |bytes| {
            ScalableCuckoo::from_bytes(bytes).map(drop)
        }),
        ("window", sample(&WindowByTime(xxh3)).0, |bytes| WindowBloom::from_bytes(bytes).map(drop)),
        #[cfg(feature = "bitmap")]
        ("bitmap", bitmap(), |bytes| mayhap::Bitmap::from_bytes(bytes).map(drop)),
        #[cfg(feature = "formats")]
        ("foreign", foreign(), |bytes| mayhap::formats::ForeignFile::from_bytes(bytes).map(drop)),
    ]
}

#[cfg(feature = "bitmap")]
fn bitmap() -> Vec<u8> {
    let mut numbers = mayhap::Bitmap::dense(1_000).unwrap();
    numbers.insert(7).unwrap();
    numbers.to_bytes().unwrap()
}

#[cfg(feature = "formats")]
fn foreign() -> Vec<u8> {
    use mayhap::formats::guava::{GuavaBloom, Sizing};
    use mayhap::formats::{ForeignFile, ForeignFilter};

    let mut theirs = GuavaBloom::with_rate(5, 0.01, Sizing::Guava31).unwrap();
    theirs.insert("apple");
    ForeignFile::from(ForeignFilter::Guava(theirs)).to_bytes().unwrap()
}

#[test]
fn no_kind_opens_as_another() {
    for (kind, bytes, _) in kinds() {
        for (other, _, open) in kinds() {
            match open(&bytes) {
                Ok(()) => assert_eq!(kind, other, "a {kind} file opened as {other}"),
                Err(Error::Format(FormatError::WrongKind { .. })) => assert_ne!(kind, other),
                Err(error) => panic!("a {kind} file opened as {other}: {error}"),
            }
        }
    }
}

#[test]
fn bytes_that_are_no_file_are_refused() {
    for bytes in [&b""[..], b"\n", b"hello", b"%PDF-1.7 and so on", &[0; 4096], &[0xff; 4096]] {
        for (kind, _, open) in kinds() {
            let error = open(bytes).expect_err("not a file");
            assert!(format_error(&error).is_some(), "{kind}: {error:?}");
        }
    }
}
