//! RedisBloom's filters: `DUMP` payloads, files of `SCANDUMP` chunks, `.rdb` files.
//!
//! A file of chunks has one line for each: the iterator that came with it, a space, and its bytes in Base64. Lines that
//! begin with `#`, and empty ones, are passed over.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use mayhap::ReadOptions;
use mayhap::codec::FormatError;
use mayhap::formats::redisbloom::rdb::RdbFile;
use mayhap::formats::redisbloom::{
    Chunk, CuckooLimits, RdbVersion, RedisBloom, RedisBloomLoader, RedisCuckoo, RedisValue,
};
use mayhap::formats::{ForeignFilter, Format};

use super::{Item, Loaded, Selection, base64, native_file, not_one};
use crate::failure::Failure;

/// The length of a cuckoo filter's header, which no header of a Bloom filter has.
const CUCKOO_HEADER: usize = 38;

/// Every filter in the bytes, which tell what they are: an `.rdb` file has a magic number, a payload a checksum, and
/// chunks are text.
pub(super) fn items<'a>(
    path: &'a Path,
    bytes: &'a [u8],
    selection: &Selection,
) -> Result<Vec<Item<'a>>, Failure> {
    if bytes.starts_with(b"REDIS") {
        return rdb_items(path, bytes, selection);
    }
    if selection.key.is_some() || selection.database.is_some() {
        return Err(Failure::Message(format!(
            "{} is no .rdb file but one filter, which has no name; leave out --key and --database",
            path.display()
        )));
    }
    if native_file(path, bytes)?.is_some() {
        return Err(Failure::Message(format!(
            "{} is a dump of mayhap serve, of a filter of mayhap's own: `mayhap import` makes a mayhap file of it, \
             which needs no --format",
            path.display()
        )));
    }
    // `redis-cli --raw` writes a newline after every answer. The checksum tells that it is none of the payload's.
    let cut = bytes.strip_suffix(b"\n").filter(|cut| RdbVersion::of_dump(cut).is_ok());
    let payload = cut.unwrap_or(bytes);
    let load = move || {
        if is_chunks(bytes) {
            return load_chunks(path, bytes);
        }
        ForeignFilter::from_bytes(Format::RedisDump, payload)
            .map_err(|error| not_one(path, "a DUMP payload, SCANDUMP chunks or .rdb file of Redis", &error))
    };
    Ok(vec![Item::new(String::new(), true, move || load().map(Loaded::from))])
}

fn rdb_items<'a>(path: &'a Path, bytes: &'a [u8], selection: &Selection) -> Result<Vec<Item<'a>>, Failure> {
    let damaged = |error: FormatError| not_one(path, "an .rdb file of Redis", &error);
    let file = RdbFile::new(bytes).map_err(damaged)?;
    let version = file.version();
    let (mut items, mut others) = (Vec::new(), 0u64);
    for entry in file {
        let entry = entry.map_err(damaged)?;
        if !matches!(&*entry.type_name(), "MBbloom--" | "MBbloomCF") {
            others += 1;
            continue;
        }
        let name = entry.key_text().into_owned();
        let is_selected = selection.key.as_ref().is_none_or(|wanted| *wanted == name)
            && selection.database.is_none_or(|wanted| wanted == entry.database());
        let database = match entry.database() {
            0 => String::new(),
            number => format!(" --database {number}"),
        };
        items.push(Item::new(format!("--key {}{database}", quoted(&name)), is_selected, move || {
            let filter = match entry.read().map_err(damaged)? {
                Some(RedisValue::Bloom(filter)) => ForeignFilter::RedisBloom(filter, version),
                Some(RedisValue::Cuckoo(filter)) => ForeignFilter::RedisCuckoo(filter, version),
                None => return Err(Failure::Message(format!("{name} is no filter"))),
            };
            Ok(Loaded::from(filter))
        }));
    }
    if items.is_empty() {
        return Err(Failure::Message(format!(
            "{} has no filter of RedisBloom's among its keys ({others} of other types)",
            path.display()
        )));
    }
    Ok(items)
}

/// A name as a shell takes it.
fn quoted(name: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@%+,=".contains(&byte);
    if !name.is_empty() && name.bytes().all(is_plain) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("'{}'", name.replace('\'', r"'\''")))
    }
}

/// Whether the bytes are lines of text that begin with a number. No payload is: it begins with the byte 7.
pub(super) fn is_chunks(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'#')
}

fn load_chunks(path: &Path, text: &[u8]) -> Result<ForeignFilter, Failure> {
    let chunks = parse_chunks(path, text)?;
    let (Some(header), version) = (chunks.first(), RdbVersion::REDIS_7_0) else {
        return Err(Failure::Message(format!(
            "{} has no chunks; an empty cuckoo filter has none to give",
            path.display()
        )));
    };
    let loaded = if header.bytes.len() == CUCKOO_HEADER {
        // How many sub-filters it may have is a setting of the server it comes from. No more memory is taken than the
        // pieces fill.
        let limits = CuckooLimits { max_expansions: u32::MAX, ..CuckooLimits::default() };
        RedisCuckoo::from_chunks(&chunks, &limits).map(|filter| ForeignFilter::RedisCuckoo(filter, version))
    } else {
        load_bloom(&chunks).map(|filter| ForeignFilter::RedisBloom(filter, version))
    };
    loaded.map_err(|error| not_one(path, "the SCANDUMP chunks of one filter", &error))
}

fn load_bloom(chunks: &[Chunk<'_>]) -> Result<RedisBloom, FormatError> {
    let Some((header, pieces)) = chunks.split_first() else {
        return Err(FormatError::Truncated { needed: 20, got: 0 });
    };
    // A header can ask for any amount of memory, and the pieces show how much is right. A little more, because
    // storage is rounded up for each link.
    let bytes: u64 = pieces.iter().map(|chunk| chunk.bytes.len() as u64).sum();
    let room = bytes.saturating_add(64 * header.bytes.len() as u64).saturating_add(1 << 20);
    let mut loader = RedisBloomLoader::with_options(&header.bytes, &ReadOptions::new().max_bytes(room))?;
    for chunk in pieces {
        loader.load(chunk.iterator, &chunk.bytes)?;
    }
    loader.finish()
}

pub(super) fn parse_chunks(path: &Path, text: &[u8]) -> Result<Vec<Chunk<'static>>, Failure> {
    let mut chunks = Vec::new();
    for (number, line) in (1u64..).zip(text.split(|byte| *byte == b'\n')) {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        match chunk(line) {
            // The last answer of SCANDUMP: there is no more.
            Some(end) if end.iterator == 0 && end.bytes.is_empty() => break,
            Some(chunk) => chunks.push(chunk),
            None => {
                return Err(Failure::Message(format!(
                    "line {number} of {} is no chunk; it should be the iterator, a space, and the bytes in Base64",
                    path.display()
                )));
            }
        }
    }
    Ok(chunks)
}

fn chunk(line: &[u8]) -> Option<Chunk<'static>> {
    let (iterator, bytes) = match line.iter().position(u8::is_ascii_whitespace) {
        Some(place) => line.split_at(place),
        None => (line, &[][..]),
    };
    let iterator = std::str::from_utf8(iterator).ok()?.parse().ok()?;
    Some(Chunk { iterator, bytes: Cow::Owned(base64::decode(bytes.trim_ascii())?) })
}

/// Writes a filter of RedisBloom's as chunks; nothing of another system's.
pub(super) fn write_chunks(filter: &ForeignFilter, out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    let mut write = |chunk: &Chunk<'_>| {
        line.clear();
        line.extend_from_slice(format!("{} ", chunk.iterator).as_bytes());
        base64::encode(&chunk.bytes, &mut line);
        line.push(b'\n');
        out.write_all(&line)
    };
    match filter {
        ForeignFilter::RedisBloom(filter, _) => {
            for chunk in filter.chunks() {
                write(&chunk.map_err(io::Error::other)?)?;
            }
        }
        ForeignFilter::RedisCuckoo(filter, _) => {
            for chunk in filter.chunks() {
                write(&chunk)?;
            }
        }
        _ => {}
    }
    Ok(())
}
