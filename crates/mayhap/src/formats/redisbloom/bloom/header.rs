//! The header of a dump: what `BF.SCANDUMP key 0` gives, and `BF.LOADCHUNK key 1` takes.

use alloc::vec::Vec;

use super::link::Link;
use super::options::Options;
use super::{RedisBloom, RedisLink};
use crate::bits::{AllocError, Owned, Words};
use crate::codec::FormatError;
use crate::file::ReadOptions;
use crate::formats::LittleEndian;
use crate::formats::input::Input;
use crate::formats::words::reserve;

const HEADER_BYTES: u64 = 20;
const LINK_BYTES: u64 = 53;

/// A header whose every field is possible.
struct Header {
    options: Options,
    growth: u32,
    links: Vec<RedisLink>,
}

impl RedisBloom {
    /// An empty filter from the header of a dump, to be filled by [`load_chunk`](Self::load_chunk). The memory for its
    /// bits, which may be anything that a few bytes can say, is compared with the limit of `options` first.
    ///
    /// # Errors
    /// When the length is wrong, a field is impossible, or the memory is more than the limit or can't be had.
    pub fn from_header(header: &[u8], options: &ReadOptions) -> Result<Self, FormatError> {
        Header::parse(header, options)?.build(|figures, recipe| Ok(Link::<Owned>::empty(figures, recipe)?))
    }
}

impl<'a> RedisBloom<LittleEndian<'a>> {
    /// A filter that asks the bytes of a dump in place: its header, and the data of all its chunks, one after the other.
    ///
    /// ```
    /// use mayhap::formats::redisbloom::RedisBloom;
    ///
    /// let mut filter = RedisBloom::new()?;
    /// filter.add("apple")?;
    /// let header = filter.header()?;
    /// let data = filter.scan_dump(1)?.expect("it has one link, of less than 16 MiB").bytes;
    /// let view = RedisBloom::view(&header, &data)?;
    /// assert!(view.contains("apple") && view == filter);
    /// # Ok::<(), mayhap::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the header is wrong, or the data isn't as long as the header says.
    pub fn view(header: &[u8], data: &'a [u8]) -> Result<Self, FormatError> {
        let header = Header::parse(header, &ReadOptions::new())?;
        let mut input = Input::new(data);
        let view = header.build(|figures, recipe| {
            let words = LittleEndian::new(input.take(figures.bytes)?);
            Ok(Link::over(words, figures, recipe).ok_or(AllocError { bytes: figures.bytes })?)
        })?;
        input.finish()?;
        Ok(view)
    }
}

impl<S: Words> RedisBloom<S> {
    /// The header of a dump: what `BF.SCANDUMP key 0` gives.
    ///
    /// # Errors
    /// When the memory can't be had.
    pub fn header(&self) -> Result<Vec<u8>, FormatError> {
        let mut out = Vec::new();
        reserve(&mut out, HEADER_BYTES + LINK_BYTES * self.links.len() as u64)?;
        out.extend(self.card().to_le_bytes());
        #[allow(
            clippy::cast_possible_truncation,
            reason = "each link takes memory; nobody has 2^32 of them"
        )]
        out.extend((self.links.len() as u32).to_le_bytes());
        out.extend(self.options.bits().to_le_bytes());
        out.extend(self.growth.to_le_bytes());
        for link in self.links() {
            out.extend(link.bytes.to_le_bytes());
            out.extend(link.bits.to_le_bytes());
            out.extend(link.size.to_le_bytes());
            out.extend(link.error.to_le_bytes());
            out.extend(link.bits_per_entry.to_le_bytes());
            out.extend(link.hashes.to_le_bytes());
            out.extend(link.entries.to_le_bytes());
            out.push(link.log2_bits);
        }
        Ok(out)
    }
}

impl Header {
    fn parse(bytes: &[u8], limits: &ReadOptions) -> Result<Self, FormatError> {
        let mut input = Input::new(bytes);
        let size = input.u64_le()?;
        let count = input.u32_le()?;
        let options = Options::from_bits(u64::from(input.u32_le()?))?;
        let growth = input.u32_le()?;
        check_count(u64::from(count))?;
        let needed = HEADER_BYTES + LINK_BYTES * u64::from(count);
        if bytes.len() as u64 != needed {
            return Err(FormatError::BadField {
                field: "nfilters",
                value: u64::from(count),
                must_be: "the number of links in the header",
            });
        }
        let mut links = Vec::new();
        reserve_links(&mut links, count as usize)?;
        for _ in 0..count {
            let link = RedisLink {
                bytes: input.u64_le()?,
                bits: input.u64_le()?,
                size: input.u64_le()?,
                error: input.f64_le()?,
                bits_per_entry: input.f64_le()?,
                hashes: input.u32_le()?,
                entries: input.u64_le()?,
                log2_bits: input.u8()?,
            };
            link.check()?;
            links.push(link);
        }
        check_size(size, &links)?;
        limits.check_length(links.iter().map(|link| link.bytes).fold(0, u64::saturating_add))?;
        Ok(Self { options, growth, links })
    }

    fn build<S: Words>(
        self,
        mut link: impl FnMut(RedisLink, super::RedisRecipe) -> Result<Link<S>, FormatError>,
    ) -> Result<RedisBloom<S>, FormatError> {
        let mut filter = RedisBloom::with_links([], self.options, self.growth)?;
        for figures in self.links {
            filter.push(link(figures, self.options.recipe())?)?;
        }
        Ok(filter)
    }
}

/// A chain without a link can't be asked.
pub(super) fn check_count(count: u64) -> Result<(), FormatError> {
    if count == 0 {
        return Err(FormatError::BadField { field: "nfilters", value: count, must_be: "at least 1" });
    }
    Ok(())
}

/// The items of the chain are those of its links.
pub(super) fn check_size(size: u64, links: &[RedisLink]) -> Result<(), FormatError> {
    let sum = links.iter().try_fold(0u64, |sum, link| sum.checked_add(link.size));
    if sum != Some(size) {
        return Err(FormatError::BadField {
            field: "size",
            value: size,
            must_be: "the sum of its links' sizes",
        });
    }
    Ok(())
}

fn reserve_links(links: &mut Vec<RedisLink>, count: usize) -> Result<(), FormatError> {
    links
        .try_reserve_exact(count)
        .map_err(|_| FormatError::OutOfMemory { bytes: (count * size_of::<RedisLink>()) as u64 })
}
