//! What a file can't say by itself: a secret key, a function from outside, how much memory its reader has.

use mayhap::codec::FormatError;
use mayhap::filter::Insert;
use mayhap::hash::{HashFunction, HashId, KeyHasher};
use mayhap::{BloomFilter, ReadOptions};

use crate::persist::{Directory, Files, format_error};
use crate::subject::{Blocked, Classic, Hashing, Readable, Subject, secret_key};

const SEED: u64 = 71;

/// Opens the file of a filter with other options than its own, in every way, and hands each error to
/// `expected`.
fn refused<S>(subject: &S, options: &ReadOptions, expected: impl Fn(&FormatError) -> bool)
where
    S: Subject<Filter: Insert + Files> + Readable,
{
    let bytes = subject.make(100, 0.01, SEED).written();
    for road in S::Filter::roads(&bytes, options, &Directory::new(), &[]) {
        let context = format!("{subject:?}, {}, with {options:?}", road.name);
        match road.outcome {
            Ok(_) => panic!("{context}: opened"),
            Err(error) => assert!(format_error(&error).is_some_and(&expected), "{context}: {error:?}"),
        }
    }
}

fn opens<S: Subject<Filter: Insert + Files> + Readable>(subject: &S, options: &ReadOptions) {
    let bytes = subject.make(100, 0.01, SEED).written();
    for road in S::Filter::roads(&bytes, options, &Directory::new(), &[]) {
        assert!(road.outcome.is_ok(), "{subject:?}, {}, with {options:?}: {:?}", road.name, road.outcome);
    }
}

fn the_secret_key_must_be_given_and_be_the_one<S>(subject: &S)
where
    S: Subject<Filter: Insert + Files> + Readable,
{
    let id = secret_key(SEED).id();
    let another = secret_key(SEED + 1);
    opens(subject, &ReadOptions::new().secret_key(secret_key(SEED)));
    let other_id = another.id();
    refused(subject, &ReadOptions::new().secret_key(another), |error| {
        *error == FormatError::WrongKey { expected: id, got: Some(other_id) }
    });
    let no_key = FormatError::WrongKey { expected: id, got: None };
    refused(subject, &ReadOptions::new(), |error| *error == no_key);
    refused(subject, &ReadOptions::new().hasher(Hashing::Xxh3.hasher(SEED)), |error| *error == no_key);
    refused(subject, &ReadOptions::new().hasher(Hashing::Custom.hasher(SEED)), |error| *error == no_key);
}

fn a_function_from_outside_must_be_given<S>(subject: &S)
where
    S: Subject<Filter: Insert + Files> + Readable,
{
    let unknown = FormatError::Unknown { what: "hash function", number: 300 };
    opens(subject, &ReadOptions::new().hasher(Hashing::Custom.hasher(SEED)));
    refused(subject, &ReadOptions::new(), |error| *error == unknown);
    refused(subject, &ReadOptions::new().secret_key(secret_key(SEED)), |error| *error == unknown);
    refused(subject, &ReadOptions::new().hasher(Hashing::Xxh3.hasher(SEED)), |error| *error == unknown);
}

fn a_limit_is_kept<S: Subject<Filter: Insert + Files> + Readable>(subject: &S) {
    let bytes = subject.make(100, 0.01, SEED).written().len() as u64;
    opens(subject, &ReadOptions::new().max_bytes(bytes));
    refused(subject, &ReadOptions::new().max_bytes(bytes - 1), |error| {
        *error == FormatError::TooLarge { bytes, limit: bytes - 1 }
    });
    refused(subject, &ReadOptions::new().max_bytes(0), |error| {
        *error == FormatError::TooLarge { bytes, limit: 0 }
    });
}

#[test]
fn blocked_secret_key() {
    the_secret_key_must_be_given_and_be_the_one(&Blocked::planned().hashing(Hashing::Sip13));
}

#[test]
fn classic_secret_key() {
    the_secret_key_must_be_given_and_be_the_one(&Classic::planned().hashing(Hashing::Sip13));
}

#[test]
fn blocked_function_from_outside() {
    a_function_from_outside_must_be_given(&Blocked::planned().hashing(Hashing::Custom));
}

#[test]
fn classic_function_from_outside() {
    a_function_from_outside_must_be_given(&Classic::planned().hashing(Hashing::Custom));
}

#[test]
fn blocked_limit() {
    a_limit_is_kept(&Blocked::planned());
}

#[test]
fn classic_limit() {
    a_limit_is_kept(&Classic::planned());
}

#[test]
fn a_filter_of_the_public_hash_needs_nothing() {
    // A key that isn't needed does no harm: a program may give its one key to whatever it opens.
    for options in [ReadOptions::new(), ReadOptions::new().secret_key(secret_key(1))] {
        opens(&Blocked::planned(), &options);
        opens(&Classic::planned(), &options);
    }
}

/// A function from outside that calls itself by one of our numbers: refused somewhere, or right; never a file
/// that is read with our function and has lost its keys.
#[test]
fn a_function_under_a_false_number_does_no_harm() {
    #[derive(Debug)]
    struct Impostor(HashId);
    impl HashFunction for Impostor {
        fn id(&self) -> HashId {
            self.0
        }
        fn hash(&self, key: &[u8]) -> u64 {
            key.iter().map(|byte| u64::from(*byte)).sum()
        }
    }
    for id in [HashId::XXH3, HashId::SIP13, HashId::new(0), HashId::new(255)] {
        let hasher = || KeyHasher::custom(Impostor(id));
        let Ok(mut filter) = BloomFilter::builder().keys(10).rate(0.01).hasher(hasher()).build() else {
            continue;
        };
        filter.insert("a key");
        let Ok(bytes) = filter.to_bytes() else { continue };
        for options in [ReadOptions::new(), ReadOptions::new().hasher(hasher())] {
            let Ok(again) = BloomFilter::from_bytes_with(&bytes, &options) else { continue };
            assert!(again.contains("a key"), "{id:?}: saved, read again, and the key is lost");
        }
    }
}
