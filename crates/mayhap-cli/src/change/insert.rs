//! Keys into, and out of, a filter of whichever kind.

use mayhap::{AnyFilter, Digest, InsertError};

use crate::failure::Failure;
use crate::filter_file::{FilterFile, number, shown};
use crate::keys::{Batch, Inputs, KeyOptions, KeyReader};
use crate::numbers::{counted, format_rate};

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
                Self::Filter(filter) => {
                    let before = copies(filter);
                    filter.insert_hashes(digests, new).map_err(|error| {
                        // The keys before the one that was refused are in the filter.
                        let place = before.zip(copies(filter)).map(|(before, now)| now - before);
                        let place = place.and_then(|place| usize::try_from(place).ok());
                        let digest = place.and_then(|place| digests.get(place).copied());
                        Refused::Key { error, digest }
                    })?;
                }
                Self::Bitmap(bitmap) => {
                    for (digest, new) in digests.iter().zip(&mut *new) {
                        *new = bitmap
                            .insert(digest.get())
                            .map_err(|error| Refused::Key { error, digest: Some(*digest) })?;
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
            // It has counted its keys, and misses one only where its rate lets it; its bits are read where that is much.
            Self::Filter(AnyFilter::Scalable(filter)) if !filter.is_over_plan() => Some(filter.len()),
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

/// Keys and copies that a filter holds, if it counts them.
fn copies(filter: &AnyFilter) -> Option<u64> {
    match filter {
        AnyFilter::DLeft(filter) => Some(filter.len()),
        AnyFilter::Cuckoo(filter) => Some(filter.len()),
        AnyFilter::ScalableCuckoo(filter) => Some(filter.len()),
        _ => None,
    }
}

/// Why digests were not added.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The first that was refused, if it is known.
    Key { error: InsertError, digest: Option<Digest> },
    /// Another system's filter takes keys, not our digests.
    Foreign,
}

/// Why keys could not be added, and that the file is as it was.
pub(crate) fn explain(refused: &Refused) -> Failure {
    Failure::Message(match refused {
        Refused::Key { error, .. } => format!("{}; nothing was written", in_flags(error)),
        Refused::Foreign => {
            "another system's filter can't be changed by digests; nothing was written".to_owned()
        }
    })
}

/// The same, with the name of the key if it is the key that is at fault, and the input can be read again to find it.
pub(crate) fn explain_by_name(
    refused: &Refused,
    inputs: &Inputs,
    options: &KeyOptions,
    hash: impl Fn(&[u8]) -> Result<Digest, Failure>,
) -> Failure {
    let Refused::Key { error: error @ InsertError::TooManyCopies { .. }, digest: Some(digest) } = refused
    else {
        return explain(refused);
    };
    match name_of(*digest, inputs, options, hash) {
        Ok(Some(name)) => Failure::Message(format!("{name:?}: {}; nothing was written", in_flags(error))),
        _ => explain(refused),
    }
}

/// What the library says, in terms of the command line where those are others.
fn in_flags(error: &InsertError) -> String {
    match error {
        InsertError::TooManyCopies { limit } => format!(
            "the filter holds {limit} {} of this key, or of some that look like it, the most it can: leave out --copies, \
             and with `add` give --skip-present if keys may be there already; or build one of --kind counting or d-left \
             with more --counter-bits",
            if *limit == 1 { "copy" } else { "copies" }
        ),
        _ => error.to_string(),
    }
}

/// The key that has this digest.
fn name_of(
    digest: Digest,
    inputs: &Inputs,
    options: &KeyOptions,
    hash: impl Fn(&[u8]) -> Result<Digest, Failure>,
) -> Result<Option<String>, Failure> {
    if inputs.total_bytes().is_none() {
        return Ok(None);
    }
    let mut reader = KeyReader::new(inputs, options)?;
    let (mut batch, mut name) = (Batch::default(), None);
    while name.is_none() && reader.next(&mut batch)? {
        batch.for_each(|key, _| {
            if name.is_none() && hash(key)? == digest {
                name = Some(shown(key));
            }
            Ok(())
        })?;
    }
    Ok(name)
}

/// What the filter holds now, for a person: how many keys, at which rate.
pub(crate) fn state(filter: &FilterFile, is_rehearsal: bool) -> String {
    let verb = if is_rehearsal { "would hold" } else { "holds" };
    let rate = format_rate(filter.expected_rate());
    match (filter, filter.estimated_len()) {
        (FilterFile::Bitmap(_), Some(numbers)) => format!("it {verb} {}", counted(numbers, "number")),
        (FilterFile::Filter(AnyFilter::Cuckoo(_) | AnyFilter::ScalableCuckoo(_)), Some(keys)) => {
            format!("it {verb} {}, at a rate of {rate}", counted(keys, "key"))
        }
        (_, Some(keys)) => format!("it {verb} about {}, at a rate of {rate}", counted(keys, "key")),
        (_, None) => format!("its rate {} {rate}", if is_rehearsal { "would be" } else { "is" }),
    }
}
