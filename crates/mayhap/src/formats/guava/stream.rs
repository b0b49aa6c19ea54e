//! What `writeTo` writes and `readFrom` reads.

use alloc::vec::Vec;

use super::{GuavaBloom, GuavaPlan, Strategy};
use crate::bits::Words;
use crate::codec::FormatError;
use crate::file::ReadOptions;
use crate::formats::BigEndian;
use crate::formats::input::Input;
use crate::formats::words::{from_big_endian, reserve, write_big_endian};
use crate::sizing::SizingError;

/// Strategy, number of hashes, number of words.
pub(super) const HEADER_BYTES: u64 = 6;

impl GuavaBloom {
    /// Reads a stream that Guava's `writeTo` wrote: all of the bytes.
    ///
    /// ```
    /// use mayhap::formats::guava::{GuavaBloom, Strategy};
    ///
    /// // strategy 1, 5 hashes, 1 word
    /// let bytes = [1, 5, 0, 0, 0, 1, 0xc0, 0, 0, 0, 0, 0, 0, 0x07];
    /// let filter = GuavaBloom::from_bytes(&bytes)?;
    /// assert_eq!(filter.strategy(), Strategy::Mitz64);
    /// assert_eq!((filter.bits(), filter.hashes(), filter.bits_set()), (64, 5, 5));
    /// assert_eq!(filter.to_bytes()?, bytes);
    /// # Ok::<(), mayhap::codec::FormatError>(())
    /// ```
    ///
    /// # Errors
    /// When the strategy is unknown, a number is out of range, words are missing, bytes are left over, or the memory
    /// can't be had.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        Self::from_bytes_with(bytes, &ReadOptions::new())
    }

    /// [`from_bytes`](Self::from_bytes) within a limit, which is compared with the stream's length before anything is
    /// allocated.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and when the stream is longer than the limit.
    pub fn from_bytes_with(bytes: &[u8], options: &ReadOptions) -> Result<Self, FormatError> {
        let (filter, rest) = Self::from_prefix_with(bytes, options)?;
        finished(bytes, rest)?;
        Ok(filter)
    }

    /// Reads a stream from the front of the bytes, and returns what comes after it. So does `readFrom`: several filters
    /// may stand one after the other.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), but for bytes that are left over.
    pub fn from_prefix(bytes: &[u8]) -> Result<(Self, &[u8]), FormatError> {
        Self::from_prefix_with(bytes, &ReadOptions::new())
    }

    /// [`from_prefix`](Self::from_prefix) within a limit.
    ///
    /// # Errors
    /// As [`from_prefix`](Self::from_prefix), and when the stream is longer than the limit.
    pub fn from_prefix_with<'a>(
        bytes: &'a [u8],
        options: &ReadOptions,
    ) -> Result<(Self, &'a [u8]), FormatError> {
        let Stream { strategy, plan, words, rest } = Stream::read(bytes, options)?;
        let no_memory = |_| FormatError::OutOfMemory { bytes: plan.bits() / 8 };
        let words = from_big_endian(words).map_err(no_memory)?;
        Ok((Self::from_words(strategy, plan, words).map_err(too_few_words)?, rest))
    }
}

impl<'a> GuavaBloom<BigEndian<'a>> {
    /// Asks a stream in place, without copying its words.
    ///
    /// ```
    /// use mayhap::formats::guava::{GuavaBloom, Sizing};
    ///
    /// let mut filter = GuavaBloom::with_rate(1_000, 0.01, Sizing::Guava31)?;
    /// filter.insert("apple");
    /// let bytes = filter.to_bytes()?;
    /// let view = GuavaBloom::view(&bytes)?;
    /// assert!(view.contains("apple") && !view.contains("pear"));
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`from_bytes`](GuavaBloom::from_bytes). No memory is needed.
    pub fn view(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let (view, rest) = Self::view_prefix(bytes)?;
        finished(bytes, rest)?;
        Ok(view)
    }

    /// [`view`](Self::view) of a stream at the front of the bytes, and what comes after it.
    ///
    /// # Errors
    /// As [`from_prefix`](GuavaBloom::from_prefix).
    pub fn view_prefix(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), FormatError> {
        let Stream { strategy, plan, words, rest } = Stream::read(bytes, &ReadOptions::new())?;
        let words = BigEndian::new(words);
        Ok((Self::from_words(strategy, plan, words).map_err(too_few_words)?, rest))
    }
}

impl<S: Words> GuavaBloom<S> {
    /// The bytes that Guava's `writeTo` writes.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FormatError> {
        let mut bytes = Vec::new();
        self.append_to(&mut bytes)?;
        Ok(bytes)
    }

    /// Appends the bytes that Guava's `writeTo` writes.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn append_to(&self, out: &mut Vec<u8>) -> Result<(), FormatError> {
        let plan = self.plan();
        reserve(out, plan.stream_bytes())?;
        out.extend_from_slice(&[self.strategy().ordinal(), plan.hashes()]);
        out.extend_from_slice(&plan.words().to_be_bytes());
        each!(&self.filter, filter => write_big_endian(filter.words(), u64::from(plan.words()), out))
    }
}

/// A stream, taken apart.
struct Stream<'a> {
    strategy: Strategy,
    plan: GuavaPlan,
    words: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Stream<'a> {
    fn read(bytes: &'a [u8], options: &ReadOptions) -> Result<Self, FormatError> {
        let mut input = Input::new(bytes);
        // Read first, judged after: of a stream that is too short, that is what there is to say.
        let (ordinal, hashes, words) = (input.u8()?, input.u8()?, input.u32_be()?);
        let strategy = Strategy::from_ordinal(ordinal)
            .ok_or(FormatError::Unknown { what: "strategy of Guava's", number: u64::from(ordinal) })?;
        if hashes == 0 {
            return Err(FormatError::BadField { field: "number of hashes", value: 0, must_be: "1 to 255" });
        }
        let plan = GuavaPlan::from_parts(u64::from(words), u32::from(hashes)).map_err(|_| {
            let (field, must_be) = ("number of words", "1 to 2147483647");
            FormatError::BadField { field, value: u64::from(words), must_be }
        })?;
        options.check_length(plan.stream_bytes())?;
        let words = input.take(u64::from(plan.words()) * 8)?;
        Ok(Self { strategy, plan, words, rest: input.rest() })
    }
}

/// Refuses bytes after the stream.
fn finished(bytes: &[u8], rest: &[u8]) -> Result<(), FormatError> {
    if rest.is_empty() {
        Ok(())
    } else {
        Err(FormatError::TrailingBytes { file_length: (bytes.len() - rest.len()) as u64 })
    }
}

/// Never seen: the words were counted when they were taken.
fn too_few_words(error: SizingError) -> FormatError {
    match error {
        SizingError::TooLarge { bytes, limit } => FormatError::Truncated { needed: bytes, got: limit },
        _ => FormatError::BadField { field: "number of words", value: 0, must_be: "1 to 2147483647" },
    }
}
