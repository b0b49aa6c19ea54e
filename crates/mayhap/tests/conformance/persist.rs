//! Bytes, streams, files, maps and views: five roads back to one filter.

use std::path::{Path, PathBuf};

use mayhap::bits::{Mapped, View};
use mayhap::bloom::Native;
use mayhap::codec::{Existing, FileError, FormatError, StreamError};
use mayhap::filter::{Filter, Insert, Persist};
use mayhap::{BloomFilter, ClassicBloom, Error, ReadOptions, ScalableBloom, WindowBloom};

use crate::dual::NothingRemoved;
use crate::keys::{KeyBytes, Keys};
use crate::subject::{Readable, Subject};

/// Filters with a file of their own.
pub(crate) trait Files: Filter + Persist {
    /// Opens the bytes of a file in every way there is.
    fn roads(bytes: &[u8], options: &ReadOptions, directory: &Directory, questions: &[KeyBytes])
    -> Vec<Road>;
    fn written(&self) -> Vec<u8>;
    fn save(&self, path: &Path, existing: Existing) -> Result<(), Error>;
}

/// What one way of opening a file led to.
#[derive(Debug)]
pub(crate) struct Road {
    pub(crate) name: &'static str,
    /// Whether all of the file is looked at. A map or a view looks at the header only, and says so.
    pub(crate) is_thorough: bool,
    pub(crate) outcome: Result<Reopened, Error>,
}

/// A filter that was opened: its bytes when it is written again, and its answers.
#[derive(Debug, PartialEq)]
pub(crate) struct Reopened {
    pub(crate) bytes: Vec<u8>,
    answers: Vec<bool>,
}

macro_rules! files {
    ($($filter:ty, $mapped:ty, $view:ty;)*) => {$(
        impl Files for $filter {
            fn roads(bytes: &[u8], options: &ReadOptions, directory: &Directory, questions: &[KeyBytes]) -> Vec<Road> {
                macro_rules! road {
                    ($name:literal, $is_thorough:literal, $opened:expr) => {
                        Road {
                            name: $name,
                            is_thorough: $is_thorough,
                            outcome: $opened.map(|filter| Reopened {
                                bytes: filter.to_bytes().unwrap(),
                                answers: questions.iter().map(|key| filter.contains(key)).collect(),
                            }),
                        }
                    };
                }
                let path = directory.file("filter.mayhap");
                std::fs::write(&path, bytes).unwrap();
                let aligned = Aligned::new(bytes);
                vec![
                    road!("from_bytes", true, <$filter>::from_bytes_with(bytes, options)),
                    road!("read_from", true, <$filter>::read_from(bytes, options)),
                    road!("open", true, <$filter>::open_with(&path, options)),
                    road!("map", false, <$mapped>::map_with(&path, options)),
                    road!("view", false, <$view>::from_aligned_bytes(aligned.bytes(), options)),
                ]
            }

            fn written(&self) -> Vec<u8> {
                let mut bytes = Vec::new();
                self.write_to(&mut bytes).unwrap();
                bytes
            }

            fn save(&self, path: &Path, existing: Existing) -> Result<(), Error> {
                <$filter>::save(self, path, existing)
            }
        }
    )*};
}

files! {
    BloomFilter, BloomFilter<Mapped>, BloomFilter<View<'_>>;
    ClassicBloom, ClassicBloom<Native, Mapped>, ClassicBloom<Native, View<'_>>;
    mayhap::CountingBloom, mayhap::CountingBloom<Mapped>, mayhap::CountingBloom<View<'_>>;
    mayhap::DLeftCounting, mayhap::DLeftCounting<Mapped>, mayhap::DLeftCounting<View<'_>>;
    mayhap::CuckooFilter, mayhap::CuckooFilter<Mapped>, mayhap::CuckooFilter<View<'_>>;
    mayhap::ScalableCuckoo, mayhap::ScalableCuckoo<Mapped>, mayhap::ScalableCuckoo<View<'_>>;
    ScalableBloom, ScalableBloom<Mapped>, ScalableBloom<View<'_>>;
    WindowBloom, WindowBloom<Mapped>, WindowBloom<View<'_>>;
    NothingRemoved, NothingRemoved<Mapped>, NothingRemoved<View<'_>>;
}

pub(crate) fn every_road_gives_the_same_filter<S: Subject<Filter: Insert + Files> + Readable>(subject: &S) {
    let directory = Directory::new();
    // One block; some; more than a MiB, which is laid out differently and has several checksums.
    for keys in [1, 1_000, 1_200_000] {
        let seed = 51;
        let context = format!("{subject:?}, {keys} keys, seed {seed}");
        let mut filter = subject.make(keys, 0.01, seed);
        let hashes = Keys::of(seed).present(&filter, keys);
        filter.insert_hashes(&hashes, &mut vec![false; hashes.len()]).unwrap();
        let bytes = filter.to_bytes().unwrap();
        assert_eq!(bytes, filter.written(), "{context}: to_bytes and write_to differ");

        let path = directory.file("saved.mayhap");
        let _ = std::fs::remove_file(&path);
        filter.save(&path, Existing::Refuse).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{context}: save wrote other bytes");
        let refused = subject.make(keys, 0.01, seed).save(&path, Existing::Refuse);
        assert!(
            matches!(refused, Err(Error::File(FileError::AlreadyExists { .. }))),
            "{context}: {refused:?}"
        );
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{context}: refused, and written all the same");
        subject.make(keys, 0.01, seed).save(&path, Existing::Replace).unwrap();
        assert_ne!(std::fs::read(&path).unwrap(), bytes, "{context}: not replaced");

        // Half of the questions are for keys that are there.
        let count = keys.min(5_000);
        let questions: Vec<KeyBytes> =
            (keys - count..keys + count).map(|number| Keys::of(seed).key(number)).collect();
        let answers: Vec<bool> =
            questions.iter().map(|key| filter.contains_hash(filter.hash_bytes(key))).collect();
        assert!(answers[..count as usize].iter().all(|found| *found), "{context}: a false negative");
        let expected = Reopened { bytes, answers };
        for road in S::Filter::roads(&expected.bytes, &subject.read_options(seed), &directory, &questions) {
            match road.outcome {
                Ok(reopened) => assert!(reopened == expected, "{context}: another filter by {}", road.name),
                Err(error) => panic!("{context}: {}: {error}", road.name),
            }
        }
    }
}

/// What was wrong with the bytes, whichever way they were read.
pub(crate) fn format_error(error: &Error) -> Option<&FormatError> {
    match error {
        Error::Format(error)
        | Error::Stream(StreamError::Format(error))
        | Error::File(FileError::Format { source: error, .. }) => Some(error),
        _ => None,
    }
}

/// A directory of one check, removed when the check ends.
#[derive(Debug)]
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mayhap-conformance-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Bytes that start at a multiple of 64.
pub(crate) struct Aligned {
    buffer: Vec<u8>,
    start: usize,
    length: usize,
}

impl Aligned {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut buffer = vec![0; bytes.len() + 64];
        let start = buffer.as_ptr().align_offset(64);
        buffer[start..start + bytes.len()].copy_from_slice(bytes);
        Self { buffer, start, length: bytes.len() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.start + self.length]
    }
}

#[test]
fn a_view_of_bytes_that_are_not_aligned_is_refused() {
    let bytes = BloomFilter::with_rate(10, 0.01).unwrap().to_bytes().unwrap();
    let mut shifted = vec![0];
    shifted.extend_from_slice(&bytes);
    let aligned = Aligned::new(&shifted);
    let refused = BloomFilter::<View<'_>>::from_aligned_bytes(&aligned.bytes()[1..], &ReadOptions::new());
    let error = refused.unwrap_err();
    assert!(
        matches!(format_error(&error), Some(FormatError::BadField { field: "address of the body", .. })),
        "{error}"
    );
    assert!(error.to_string().contains("from_bytes"), "{error}");
}
