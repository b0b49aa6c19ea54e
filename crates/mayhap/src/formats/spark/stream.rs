//! What `writeTo` writes and `readFrom` reads.

use alloc::vec::Vec;

use super::SparkBloom;
use super::recipe::SparkRecipe;
use crate::bits::Words;
use crate::codec::FormatError;
use crate::file::ReadOptions;
use crate::formats::BigEndian;
use crate::formats::input::Input;
use crate::formats::words::{from_big_endian, reserve, write_big_endian};

impl SparkBloom {
    /// Reads a stream that ends with the filter.
    ///
    /// # Errors
    /// When the version is unknown, the number of words is negative, bytes are missing or follow, or the memory can't be
    /// had.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        Self::from_bytes_with(bytes, &ReadOptions::new())
    }

    /// [`from_bytes`](Self::from_bytes) with a limit, which is checked before anything is allocated.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and when the filter is longer than the limit.
    pub fn from_bytes_with(bytes: &[u8], options: &ReadOptions) -> Result<Self, FormatError> {
        let (stream, input) = Stream::parse(bytes, options)?;
        input.finish()?;
        stream.copied()
    }

    /// Reads a filter from the front, as Spark's `readFrom` does, and returns what follows it.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), but bytes may follow.
    pub fn from_prefix(bytes: &[u8]) -> Result<(Self, &[u8]), FormatError> {
        let (stream, input) = Stream::parse(bytes, &ReadOptions::new())?;
        Ok((stream.copied()?, input.rest()))
    }
}

impl<'a> SparkBloom<BigEndian<'a>> {
    /// Asks a filter where it lies, without copying its bits.
    ///
    /// ```
    /// use mayhap::formats::spark::SparkBloom;
    ///
    /// let stream = [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xff];
    /// let filter = SparkBloom::view(&stream)?;
    /// assert_eq!((filter.bits(), filter.hashes(), filter.cardinality()), (64, 2, 8));
    /// # Ok::<(), mayhap::codec::FormatError>(())
    /// ```
    ///
    /// # Errors
    /// As [`from_bytes`](SparkBloom::from_bytes).
    pub fn view(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let (stream, input) = Stream::parse(bytes, &ReadOptions::new())?;
        input.finish()?;
        // One word stands in for none: see `from_parts`.
        let bits = if stream.words == 0 { &[0; 8] } else { stream.bits };
        Self::from_parts(BigEndian::new(bits), stream.recipe, stream.hashes, stream.words)
            .map_err(|_| stream.impossible())
    }
}

impl<S: Words> SparkBloom<S> {
    /// The stream: what Spark's `writeTo` writes.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FormatError> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes)?;
        Ok(bytes)
    }

    /// Appends the stream to `out`.
    ///
    /// # Errors
    /// When the memory can't be had. `out` is as it was then.
    pub fn write_to(&self, out: &mut Vec<u8>) -> Result<(), FormatError> {
        reserve(out, 16 + u64::from(self.words) * 8)?;
        out.extend_from_slice(&self.recipe().version().to_be_bytes());
        out.extend_from_slice(&self.hashes.to_be_bytes());
        if let SparkRecipe::V2 { seed } = self.recipe() {
            out.extend_from_slice(&seed.to_be_bytes());
        }
        out.extend_from_slice(&self.words.to_be_bytes());
        write_big_endian(self.filter.words(), u64::from(self.words), out)
    }
}

/// A stream whose header has been read.
struct Stream<'a> {
    recipe: SparkRecipe,
    hashes: i32,
    words: u32,
    bits: &'a [u8],
}

impl<'a> Stream<'a> {
    fn parse(bytes: &'a [u8], options: &ReadOptions) -> Result<(Self, Input<'a>), FormatError> {
        let mut input = Input::new(bytes);
        let version = input.u32_be()?;
        if !matches!(version, 1 | 2) {
            return Err(FormatError::Unknown { what: "version of Spark's format", number: version.into() });
        }
        let hashes = input.i32_be()?;
        let recipe = if version == 1 { SparkRecipe::V1 } else { SparkRecipe::V2 { seed: input.i32_be()? } };
        let words = input.u32_be()?;
        if words > i32::MAX.cast_unsigned() {
            return Err(FormatError::BadField {
                field: "words",
                value: words.into(),
                must_be: "at most 2^31 - 1",
            });
        }
        let length = u64::from(words) * 8;
        options.check_length(input.position() + length)?;
        let bits = input.take(length)?;
        Ok((Self { recipe, hashes, words, bits }, input))
    }

    fn copied(self) -> Result<SparkBloom, FormatError> {
        let bytes = self.bits.len() as u64;
        let storage = from_big_endian(self.bits).map_err(|_| FormatError::OutOfMemory { bytes })?;
        SparkBloom::from_parts(storage, self.recipe, self.hashes, self.words).map_err(|_| self.impossible())
    }

    /// No words that were read are fewer than their number says; were they, this would be the answer.
    fn impossible(&self) -> FormatError {
        let needed = u64::from(self.words) * 8;
        FormatError::Truncated { needed, got: self.bits.len() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Vec<u8> {
        let mut filter = SparkBloom::with_rate(SparkRecipe::V2 { seed: 77 }, 20, 0.03).unwrap();
        filter.extend(0..20i64);
        filter.to_bytes().unwrap()
    }

    #[test]
    fn a_stream_cut_off_anywhere_is_refused() {
        let bytes = stream();
        for length in 0..bytes.len() {
            assert!(matches!(SparkBloom::from_bytes(&bytes[..length]), Err(FormatError::Truncated { .. })));
            assert!(SparkBloom::view(&bytes[..length]).is_err());
        }
    }

    #[test]
    fn what_follows_is_refused_or_left() {
        let mut bytes = stream();
        bytes.extend([1, 2]);
        assert!(matches!(SparkBloom::from_bytes(&bytes), Err(FormatError::TrailingBytes { .. })));
        assert!(SparkBloom::view(&bytes).is_err());
        let (filter, rest) = SparkBloom::from_prefix(&bytes).unwrap();
        assert_eq!(rest, [1, 2]);
        assert_eq!(filter.to_bytes().unwrap(), bytes[..bytes.len() - 2]);
    }

    #[test]
    fn the_limit_counts_before_the_bits_are_there() {
        let header = [0, 0, 0, 1, 0, 0, 0, 5, 0x7f, 0xff, 0xff, 0xff];
        let options = ReadOptions::new().max_bytes(1 << 20);
        let limited = SparkBloom::from_bytes_with(&header, &options);
        assert!(matches!(limited, Err(FormatError::TooLarge { .. })), "{limited:?}");
        assert!(matches!(SparkBloom::from_bytes(&header), Err(FormatError::Truncated { .. })));
        let length = stream().len() as u64;
        assert!(SparkBloom::from_bytes_with(&stream(), &ReadOptions::new().max_bytes(length)).is_ok());
        assert!(SparkBloom::from_bytes_with(&stream(), &ReadOptions::new().max_bytes(length - 1)).is_err());
    }

    #[test]
    fn a_filter_without_words_or_hashes_answers_mayhap_and_is_kept() {
        for (hashes, words) in [(5, 0), (0, 1), (-1, 1), (i32::MIN, 0), (-1, 0)] {
            let mut bytes = [1i32.to_be_bytes(), hashes.to_be_bytes(), i32::to_be_bytes(words)].concat();
            bytes.extend([0; 8].repeat(words.cast_unsigned() as usize));
            let mut filter = SparkBloom::from_bytes(&bytes).unwrap();
            assert!(filter.contains("apple") && !filter.insert("apple"));
            assert!(filter.merge(&filter.clone()).is_ok());
            assert!(SparkBloom::view(&bytes).unwrap().contains("apple"));
            assert!(SparkBloom::view(&bytes).unwrap() == filter);
            assert_eq!(filter.to_bytes().unwrap(), bytes);
            assert_eq!(SparkBloom::view(&bytes).unwrap().to_bytes().unwrap(), bytes);
        }
    }
}
