//! Keys into, and out of, a filter of whichever kind.

use mayhap::{AnyFilter, Digest, InsertError};

use crate::failure::Failure;
use crate::filter_file::{FilterFile, number};
use crate::numbers::{format_rate, group_digits};

/// Keys that are put in at once.
const TOGETHER: usize = 4096;

impl FilterFile {
    /// Adds keys in order. How many were new. Not for other systems' filters, which have hashes of their own.
    pub(crate) fn insert_hashes(&mut self, digests: &[Digest]) -> Result<u64, Refused> {
        let mut new = [false; TOGETHER];
        let mut count = 0;
        for digests in digests.chunks(TOGETHER) {
            let new = &mut new[..digests.len()];
            match self {
                Self::Filter(filter) => filter.insert_hashes(digests, new)?,
                Self::Bitmap(bitmap) => {
                    for (digest, new) in digests.iter().zip(&mut *new) {
                        *new = bitmap.insert(digest.get())?;
                    }
                }
                Self::Foreign(_) => return Err(Refused::Foreign),
            }
            count += new.iter().filter(|new| **new).count() as u64;
        }
        Ok(count)
    }

    /// Removes keys, each once. How many were there.
    pub(crate) fn remove_hashes(&mut self, digests: &[Digest]) -> Result<u64, Failure> {
        let mut removed = [false; TOGETHER];
        let mut count = 0;
        for digests in digests.chunks(TOGETHER) {
            let removed = &mut removed[..digests.len()];
            match self {
                Self::Filter(filter) => filter
                    .remove_hashes(digests, removed)
                    .map_err(|unsupported| Failure::Message(unsupported.to_string()))?,
                Self::Bitmap(bitmap) => {
                    for (digest, removed) in digests.iter().zip(&mut *removed) {
                        *removed = bitmap.remove(digest.get());
                    }
                }
                Self::Foreign(_) => return Err(explain(&Refused::Foreign)),
            }
            count += removed.iter().filter(|removed| **removed).count() as u64;
        }
        Ok(count)
    }

    /// What turns keys into what it is asked by, on its own: the filter may be changed meanwhile.
    pub(crate) fn key_hash(&self) -> impl Fn(&[u8]) -> Result<Digest, Failure> + Send + Sync + use<> {
        let hasher = match self {
            Self::Filter(filter) => Some(filter.hasher().clone()),
            Self::Bitmap(_) | Self::Foreign(_) => None,
        };
        move |key| match &hasher {
            Some(hasher) => Ok(hasher.digest(key)),
            None => number(key).map(Digest::new),
        }
    }

    /// Keys in it, about; exact where the kind counts them. Other systems' filters aren't asked.
    pub(crate) fn estimated_len(&self) -> Option<u64> {
        match self {
            Self::Filter(filter) => Some(filter.estimated_len()),
            Self::Bitmap(bitmap) => Some(bitmap.len()),
            Self::Foreign(_) => None,
        }
    }

    /// The rate of wrong "mayhaps" as it is now. A bitmap is never wrong.
    pub(crate) fn expected_rate(&self) -> f64 {
        match self {
            Self::Filter(filter) => filter.expected_rate(),
            Self::Bitmap(_) => 0.0,
            Self::Foreign(file) => file.filter.expected_rate(),
        }
    }
}

/// Why digests were not added.
#[derive(Debug)]
pub(crate) enum Refused {
    Key(InsertError),
    /// Another system's filter takes keys, not our digests.
    Foreign,
}

impl From<InsertError> for Refused {
    fn from(error: InsertError) -> Self {
        Self::Key(error)
    }
}

/// Why keys could not be added, and that the file is as it was.
pub(crate) fn explain(refused: &Refused) -> Failure {
    Failure::Message(match refused {
        Refused::Key(error) => format!("{error}; nothing was written"),
        Refused::Foreign => {
            "another system's filter can't be changed by digests; nothing was written".to_owned()
        }
    })
}

/// What the filter holds now, for a person: how many keys, at which rate.
pub(crate) fn state(filter: &FilterFile, is_rehearsal: bool) -> String {
    let verb = if is_rehearsal { "would hold" } else { "holds" };
    let rate = format_rate(filter.expected_rate());
    match (filter, filter.estimated_len().map(group_digits)) {
        (FilterFile::Bitmap(_), Some(numbers)) => format!("it {verb} {numbers} numbers"),
        (FilterFile::Filter(AnyFilter::Cuckoo(_) | AnyFilter::ScalableCuckoo(_)), Some(keys)) => {
            format!("it {verb} {keys} keys, at a rate of {rate}")
        }
        (_, Some(keys)) => format!("it {verb} about {keys} keys, at a rate of {rate}"),
        (_, None) => format!("its rate {} {rate}", if is_rehearsal { "would be" } else { "is" }),
    }
}
