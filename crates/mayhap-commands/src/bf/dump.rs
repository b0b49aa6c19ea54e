//! `BF.SCANDUMP` and `BF.LOADCHUNK`: a filter in pieces, out and in.
//!
//! A filter in redisbloom layout is dumped as RedisBloom does it, and a native one as the bytes of its file: see
//! [`transfer`](crate::transfer). What is loaded keeps its layout. Until its last byte has come nobody sees it.

use std::sync::RwLock;

use mayhap::codec::{FormatError, Kind};
use mayhap::formats::redisbloom::{CHUNK_BYTES, RedisBloom};
use mayhap::{Error, ReadOptions, ScalableBloom, SharedScalableBloom};

use super::create::max_bytes;
use super::errors;
use super::filter::{Bloom, read, with, write};
use crate::transfer::{Arriving, Coverage, NativeLoad, Piece, TransferError, native_refusal};
use crate::words::integer;
use crate::{Created, Keyspace, Outcome, Reply, Value};

/// `BF.SCANDUMP key iterator`.
pub(super) fn scan_dump<K: Keyspace>(host: &K, key: &[u8], iterator: &[u8]) -> Reply {
    with(host, key, |filter| {
        let iterator = integer(iterator).ok_or(Reply::error(errors::SCAN_NOT_A_NUMBER))?;
        // One that can't be is past the end.
        let Ok(iterator) = u64::try_from(iterator) else { return Ok(Piece::END.into_reply()) };
        match filter {
            Bloom::Native(filter) => native_piece(host, key, filter, iterator).map(Piece::into_reply),
            Bloom::RedisBloom(filter) => {
                let chunk = read(filter).scan_dump(iterator).map_err(|error| refusal(&error))?;
                let piece = chunk.map_or(Piece::END, |chunk| Piece {
                    iterator: chunk.iterator,
                    bytes: chunk.bytes.into_owned(),
                });
                Ok(piece.into_reply())
            }
        }
    })
    .unwrap_or_else(Err)
    .unwrap_or_else(|error| error)
}

fn native_piece<K: Keyspace>(
    host: &K,
    key: &[u8],
    filter: &SharedScalableBloom,
    iterator: u64,
) -> Result<Piece, Reply> {
    let (transfers, now) = (host.transfers(), host.now());
    if iterator > 0 {
        return Ok(transfers.next_piece(now, key, iterator)?);
    }
    let (bytes, room) = (filter.len_bytes(), host.room());
    transfers.check_room(now, bytes)?;
    if bytes > CHUNK_BYTES && bytes > room {
        return Err(TransferError::NoRoom { limit: room }.into());
    }
    // How far it may grow is this server's affair. Without it, equal filters have equal dumps everywhere.
    let file = filter.to_bytes_without_limit().map_err(|error| refusal(&error))?;
    Ok(transfers.begin_dump(now, key, file)?)
}

/// `BF.LOADCHUNK key iterator bytes`.
pub(super) fn load_chunk<K: Keyspace>(host: &K, key: &[u8], iterator: &[u8], bytes: &[u8]) -> Outcome {
    let Some(iterator) = integer(iterator) else { return Reply::error(errors::LOAD_NOT_A_NUMBER).into() };
    if let Some(held) = host.find(key) {
        return match load_into(host, key, &held, iterator, bytes) {
            Ok(()) => Outcome::changed(Reply::OK, true),
            Err(reply) => reply.into(),
        };
    }
    match load(host, key, iterator, bytes) {
        Ok(None) => Reply::OK.into(),
        Ok(Some((value, _held))) => match host.create(key, value) {
            Ok(Created::New(_)) => Outcome::created(Reply::OK),
            Ok(Created::Found(_)) => Reply::error(errors::ITEM_EXISTS).into(),
            Err(_) => Reply::error(errors::NO_MEMORY).into(),
        },
        Err(reply) => reply.into(),
    }
}

/// A piece for a key that holds something already: RedisBloom puts it over the bytes that are there, and so do we in
/// its layout. It is one command, so nobody sees half of it.
fn load_into<K: Keyspace>(
    host: &K,
    key: &[u8],
    value: &Value,
    iterator: i64,
    bytes: &[u8],
) -> Result<(), Reply> {
    let filter = Bloom::of(value).ok_or(Reply::error(errors::WRONG_TYPE))?;
    if host.transfers().is_loading(host.now(), key) {
        // Somebody has made the key meanwhile; the rest must not end up in his filter.
        host.transfers().end_load(host.now(), key);
        return Err(Reply::error(errors::ITEM_EXISTS));
    }
    let bad = || Reply::error(errors::BAD_DATA);
    match (filter, u64::try_from(iterator)) {
        (Bloom::RedisBloom(filter), Ok(iterator)) => {
            write(filter).load_chunk(iterator, bytes).map_err(|error| chunk_refusal(&error))
        }
        _ => Err(bad()),
    }
}

/// A piece for a key that isn't there. The filter, if this was its last, and what is held until it is there.
fn load<'k, K: Keyspace>(
    host: &'k K,
    key: &[u8],
    iterator: i64,
    bytes: &[u8],
) -> Result<Option<(Value, impl Sized + use<'k, K>)>, Reply> {
    let (transfers, now) = (host.transfers(), host.now());
    let Ok(iterator) = u64::try_from(iterator) else { return Err(Reply::error(errors::NOT_FOUND)) };
    let begins_native = NativeLoad::begins(iterator, bytes);
    if iterator == 1 || begins_native {
        // Before anybody asks for room: what this load takes the place of must not stand in its way.
        transfers.abort_load(key);
        transfers.expire(now);
    }
    let max_bytes = max_bytes(host);
    if iterator == 1 {
        let load = RedisBloomLoad::new(bytes, max_bytes.min(transfers.room()))?;
        transfers.begin_load(now, key, Box::new(load))?;
        return Ok(None);
    }
    if begins_native {
        let hasher = &host.settings().hasher;
        let load = NativeLoad::new(bytes, Kind::SCALABLE_BLOOM, hasher, max_bytes, native_value);
        let load = load.map_err(|error| native_refusal(&error, errors::too_large))?;
        transfers.begin_load(now, key, Box::new(load))?;
    }
    match transfers.take(now, key, iterator, bytes, || host.hold()) {
        // Two who load the same key: the other one has finished.
        Err(TransferError::NotUnderWay) if host.find(key).is_some() => Err(Reply::error(errors::ITEM_EXISTS)),
        Err(TransferError::NotUnderWay) => Err(Reply::error(errors::NOT_FOUND)),
        taken => Ok(taken?),
    }
}

fn native_value(file: &[u8], options: &ReadOptions) -> Result<Value, Error> {
    Ok(Value::native_bloom(ScalableBloom::from_bytes_with(file, options)?))
}

/// A dump of RedisBloom's on its way in: its pieces may come in any order.
#[derive(Debug)]
struct RedisBloomLoad {
    filter: RedisBloom,
    coverage: Coverage,
}

impl RedisBloomLoad {
    fn new(header: &[u8], max_bytes: u64) -> Result<Self, Reply> {
        let options = ReadOptions::new().max_bytes(max_bytes);
        let filter = RedisBloom::from_header(header, &options).map_err(|error| header_refusal(&error))?;
        let coverage = Coverage::new(filter.data_bytes());
        Ok(Self { filter, coverage })
    }
}

impl Arriving for RedisBloomLoad {
    fn bytes(&self) -> u64 {
        self.filter.len_bytes()
    }

    fn take(&mut self, iterator: u64, piece: &[u8]) -> Result<bool, Reply> {
        self.filter.load_chunk(iterator, piece).map_err(|error| chunk_refusal(&error))?;
        let length = piece.len() as u64;
        let start = iterator.saturating_sub(length).saturating_sub(1);
        self.coverage.add(start, length).ok_or(SCATTERED)
    }

    fn finish(self: Box<Self>) -> Result<Value, Reply> {
        Ok(Value::RedisBloom(RwLock::new(self.filter)))
    }
}

const SCATTERED: Reply =
    Reply::error("ERR the pieces of this dump are too scattered: load them in their order");

/// What RedisBloom says of a header that is wrong. One that asks for too much is told so.
fn header_refusal(error: &FormatError) -> Reply {
    match error {
        FormatError::TooLarge { bytes, limit } => errors::too_large(*bytes, *limit),
        FormatError::OutOfMemory { .. } => Reply::error(errors::NO_MEMORY),
        _ => Reply::error(errors::BAD_DATA),
    }
}

/// What RedisBloom says of a piece that doesn't fit.
fn chunk_refusal(error: &FormatError) -> Reply {
    match error {
        FormatError::BadField { field: "offset", .. } => Reply::error(errors::NO_LINK),
        FormatError::TooLarge { .. } => Reply::error(errors::BEYOND_LINK),
        _ => Reply::error(errors::BAD_DATA),
    }
}

fn refusal(error: &FormatError) -> Reply {
    Reply::error_of(format!("ERR {error}"))
}
