//! `CF.SCANDUMP` and `CF.LOADCHUNK`: a filter in pieces, out and in.
//!
//! A filter in redisbloom layout is dumped as RedisBloom does it, and a native one as the bytes of its file: see
//! [`transfer`](crate::transfer). What is loaded keeps its layout. Until its last byte has come nobody sees it.

use std::sync::RwLock;

use mayhap::codec::{FormatError, Kind};
use mayhap::formats::redisbloom::{CHUNK_BYTES, RedisCuckoo};
use mayhap::{Error, ReadOptions, ScalableCuckoo};

use super::create::{limits, max_bytes};
use super::errors;
use super::filter::{Cuckoo, read, with, write};
use super::reserve::exists;
use crate::allowance::Allowance;
use crate::transfer::{Arriving, Coverage, NativeLoad, Piece, TransferError, native_refusal};
use crate::words::integer;
use crate::{Created, Keyspace, NativeCuckoo, Outcome, Reply, Value};

/// The length of RedisBloom's header.
const HEADER_BYTES: usize = 38;

/// `CF.SCANDUMP key position`.
pub(super) fn scan_dump<K: Keyspace>(host: &K, key: &[u8], position: &[u8]) -> Reply {
    let Some(position) = integer(position) else { return Reply::error(errors::BAD_POSITION) };
    with(host, key, |filter| {
        // One that can't be is past the end.
        let Ok(position) = u64::try_from(position) else { return Ok(end()) };
        match filter {
            Cuckoo::Native(filter) => native_piece(host, key, filter, position),
            Cuckoo::RedisBloom(filter) => {
                let filter = read(filter);
                let chunk = filter.scan_dump(position);
                Ok(chunk.map_or_else(end, |chunk| {
                    Piece { iterator: chunk.iterator, bytes: chunk.bytes.into_owned() }.into_reply()
                }))
            }
        }
    })
    .unwrap_or_else(Err)
    .unwrap_or_else(|error| error)
}

/// After the last piece; and of a filter without items, which RedisBloom has nothing to say about.
fn end() -> Reply {
    Reply::Array(vec![Reply::Integer(0), Reply::Null])
}

fn native_piece<K: Keyspace>(
    host: &K,
    key: &[u8],
    filter: &RwLock<NativeCuckoo>,
    position: u64,
) -> Result<Reply, Reply> {
    let (transfers, now) = (host.transfers(), host.now());
    let piece = if position > 0 {
        transfers.next_piece(now, key, position)?
    } else {
        let filter = read(filter);
        if filter.filter.is_empty() {
            return Ok(end());
        }
        let (bytes, room) = (filter.filter.len_bytes(), host.room());
        transfers.check_room(now, bytes)?;
        if bytes > CHUNK_BYTES && bytes > room {
            return Err(TransferError::NoRoom { limit: room }.into());
        }
        let file = filter.filter.to_bytes().map_err(|error| Reply::error_of(format!("ERR {error}")))?;
        drop(filter);
        transfers.begin_dump(now, key, file)?
    };
    Ok(if piece == Piece::END { end() } else { piece.into_reply() })
}

/// `CF.LOADCHUNK key position bytes`.
pub(super) fn load_chunk<K: Keyspace>(host: &K, key: &[u8], position: &[u8], bytes: &[u8]) -> Outcome {
    let Some(position) = integer(position).filter(|position| *position != 0) else {
        return Reply::error(errors::BAD_POSITION).into();
    };
    if let Some(held) = host.find(key) {
        return match load_into(host, key, &held, position, bytes) {
            Ok(()) => Outcome::changed(Reply::OK, true),
            Err(reply) => reply.into(),
        };
    }
    match load(host, key, position, bytes) {
        Ok(None) => Reply::OK.into(),
        Ok(Some((value, _held))) => match host.create(key, value) {
            Ok(Created::New(_)) => Outcome::created(Reply::OK),
            Ok(Created::Found(held)) => Reply::error(exists(&held)).into(),
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
    position: i64,
    bytes: &[u8],
) -> Result<(), Reply> {
    if host.transfers().is_loading(host.now(), key) {
        // Somebody has made the key meanwhile; the rest must not end up in his filter.
        host.transfers().end_load(host.now(), key);
        return Err(Reply::error(exists(value)));
    }
    let filter = Cuckoo::of(value).ok_or(Reply::error(errors::WRONG_TYPE))?;
    if position == 1 {
        return Err(Reply::error(errors::ITEM_EXISTS));
    }
    let refused = Reply::error(errors::NOT_LOADED);
    match (filter, u64::try_from(position)) {
        (Cuckoo::RedisBloom(filter), Ok(position)) => {
            write(filter).load_chunk(position, bytes).map_err(|_| refused)
        }
        _ => Err(refused),
    }
}

/// A piece for a key that isn't there. The filter, if this was its last, and what is held until it is there.
fn load<'k, K: Keyspace>(
    host: &'k K,
    key: &[u8],
    position: i64,
    bytes: &[u8],
) -> Result<Option<(Value, impl Sized + use<'k, K>)>, Reply> {
    let (transfers, now) = (host.transfers(), host.now());
    let Ok(position) = u64::try_from(position) else { return Err(Reply::error(errors::NOT_FOUND)) };
    let begins_native = NativeLoad::begins(position, bytes);
    if position == 1 || begins_native {
        // Before anybody asks for room: what this load takes the place of must not stand in its way.
        transfers.abort_load(key);
        transfers.expire(now);
    }
    if position == 1 {
        transfers.begin_load(now, key, Box::new(RedisCuckooLoad::new(host, bytes)?))?;
        return Ok(None);
    }
    if begins_native {
        let hasher = &host.settings().hasher;
        let load = NativeLoad::new(bytes, Kind::SCALABLE_CUCKOO, hasher, max_bytes(host), native_value);
        let load = load.map_err(|error| native_refusal(&error, errors::too_large))?;
        transfers.begin_load(now, key, Box::new(load))?;
    }
    match transfers.take(now, key, position, bytes, || host.hold()) {
        Err(TransferError::NotUnderWay) => Err(Reply::error(errors::NOT_FOUND)),
        taken => Ok(taken?),
    }
}

/// How far it may grow is not for the file to say: adding says it each time.
fn native_value(file: &[u8], options: &ReadOptions) -> Result<Value, Error> {
    let filter = ScalableCuckoo::from_bytes_with(file, options)?;
    Ok(Value::Cuckoo(RwLock::new(NativeCuckoo::loaded(filter, 0)?)))
}

/// A dump of RedisBloom's on its way in: its pieces may come in any order.
#[derive(Debug)]
struct RedisCuckooLoad {
    filter: RedisCuckoo,
    arrived: Coverage,
}

impl RedisCuckooLoad {
    /// Begins with the header. What it asks for is compared with the limits before the memory is taken.
    fn new<K: Keyspace>(host: &K, header: &[u8]) -> Result<Self, Reply> {
        if header.len() != HEADER_BYTES {
            return Err(Reply::error(errors::BAD_HEADER));
        }
        let filter = RedisCuckoo::from_header(header, &limits(&Allowance::new(host), 0)).map_err(
            |error| match error {
                FormatError::TooLarge { bytes, limit } => errors::too_large(bytes, limit),
                FormatError::OutOfMemory { .. } => Reply::error(errors::NO_MEMORY),
                _ => Reply::error(errors::NOT_CREATED),
            },
        )?;
        let arrived = Coverage::new(filter.slots());
        Ok(Self { filter, arrived })
    }
}

impl Arriving for RedisCuckooLoad {
    fn bytes(&self) -> u64 {
        self.filter.memory_bytes()
    }

    fn take(&mut self, position: u64, piece: &[u8]) -> Result<bool, Reply> {
        self.filter.load_chunk(position, piece).map_err(|_| Reply::error(errors::NOT_LOADED))?;
        let length = piece.len() as u64;
        let start = position.saturating_sub(length).saturating_sub(1);
        // Pieces that are too many and too far apart to keep count of don't count.
        self.arrived.add(start, length).ok_or(Reply::error(errors::NOT_LOADED))
    }

    fn finish(self: Box<Self>) -> Result<Value, Reply> {
        Ok(Value::RedisCuckoo(RwLock::new(self.filter)))
    }
}
