//! Dumps and loads that take several commands.
//!
//! `SCANDUMP` hands a filter out in pieces and `LOADCHUNK` takes one in. Between the commands the rest is kept here, by
//! key and for all connections: a client may lose its connection and go on over another one. What nobody has asked for
//! in [`IDLE_MS`] is forgotten, and all of it together is bounded in bytes.
//!
//! ```text
//! dump of a native filter                          load
//!   SCANDUMP key 0      snapshot, piece 1            LOADCHUNK key i first      begin_load: an Arriving, seen by nobody
//!   SCANDUMP key i      piece 2 of the snapshot      LOADCHUNK key i piece      take: it comes together
//!   SCANDUMP key i      the end: forgotten           LOADCHUNK key i last       take: the value, to be put under its key
//! ```
//!
//! A filter in RedisBloom's layout needs no snapshot: its pieces are read from the filter as it is, as RedisBloom does.
//!
//! The iterator of a native piece is 1 more than the place in the file where the piece ends, which is never 1, as that of
//! a RedisBloom header always is. The 12 bits above the lowest 41 say which snapshot the piece is from, so that two clients
//! can dump one key at a time; they are 0 when the dump fits into one piece, of which nothing is kept. All stays below
//! 2^53, where the numbers of JavaScript end.

mod coverage;
mod native;
mod under_way;

pub(crate) use coverage::Coverage;
pub(crate) use native::{NativeLoad, native_refusal};

use std::fmt;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mayhap::formats::redisbloom::CHUNK_BYTES;

use crate::reply::Reply;
use crate::value::Value;
use under_way::{Load, UnderWay};

/// After so many milliseconds without a command a dump or load is forgotten: five minutes.
pub const IDLE_MS: u64 = 300_000;

/// The number of a snapshot stands above these bits of an iterator.
const ID_SHIFT: u32 = 41;
/// The most snapshots at a time, and the most loads.
const MOST: u64 = (1 << (53 - ID_SHIFT)) - 1;
/// What an entry of the maps takes beside its key and its bytes, roughly.
const ENTRY_BYTES: u64 = 256;
/// The most bytes of all dumps and loads together, if the host says nothing else: 4 GiB.
const DEFAULT_LIMIT: u64 = 4 << 30;

/// A filter that arrives in pieces. Nobody sees it before it is whole.
pub trait Arriving: fmt::Debug + Send {
    /// The memory it takes, or will take: known from the first piece, and counted from then on.
    fn bytes(&self) -> u64;

    /// Puts a piece in its place, and says whether now all of the filter is here.
    ///
    /// # Errors
    /// When the piece doesn't belong there: what the client is answered. The load goes on.
    fn take(&mut self, iterator: u64, piece: &[u8]) -> Result<bool, Reply>;

    /// The filter that has arrived.
    ///
    /// # Errors
    /// When the bytes are not one: what the client is answered. The load is over.
    fn finish(self: Box<Self>) -> Result<Value, Reply>;
}

/// A piece of a dump: what `SCANDUMP` answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// To be asked for next, and to be loaded with: see the [module](self).
    pub iterator: u64,
    /// Empty at the end, when the iterator is 0.
    pub bytes: Vec<u8>,
}

impl Piece {
    /// After the last one.
    pub const END: Self = Self { iterator: 0, bytes: Vec::new() };

    /// As a command answers it.
    #[must_use]
    pub fn into_reply(self) -> Reply {
        Reply::Array(vec![Reply::count(self.iterator), Reply::Bulk(self.bytes)])
    }
}

/// Why there is no dump or load.
#[derive(Clone, Debug, PartialEq)]
pub enum TransferError {
    /// None is under way for this key, or that was too long ago.
    NotUnderWay,
    /// There are too many, or this one is too large: the most bytes that all may take.
    NoRoom {
        /// The most bytes.
        limit: u64,
    },
    /// The bytes were refused: what the client is answered.
    Refused(Reply),
}

impl From<TransferError> for Reply {
    fn from(error: TransferError) -> Self {
        match error {
            TransferError::NotUnderWay => {
                Self::error("ERR no such dump or load is under way, or not any more: begin again")
            }
            TransferError::NoRoom { limit } => Self::error_of(format!(
                "ERR dumps and loads under way may take {limit} bytes together, and this is too much: try again later"
            )),
            TransferError::Refused(reply) => reply,
        }
    }
}

/// What is under way. Its lock is held for looking things up, not for copying.
#[derive(Debug)]
pub struct Transfers {
    limit: u64,
    under_way: Mutex<UnderWay>,
    /// Those of what is under way: every key that is added to a cuckoo filter asks for them, on all threads.
    bytes: AtomicU64,
}

/// What is under way, for one thread.
struct Locked<'t> {
    under_way: MutexGuard<'t, UnderWay>,
    /// Where its bytes are left for those who don't wait for it.
    left_bytes: &'t AtomicU64,
}

impl Deref for Locked<'_> {
    type Target = UnderWay;

    fn deref(&self) -> &UnderWay {
        &self.under_way
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut UnderWay {
        &mut self.under_way
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.left_bytes.store(self.under_way.bytes, Ordering::Relaxed);
    }
}

/// At most 4 GiB.
impl Default for Transfers {
    fn default() -> Self {
        Self::with_limit(DEFAULT_LIMIT)
    }
}

impl Transfers {
    /// No more than so many bytes under way at a time.
    #[must_use]
    pub fn with_limit(limit: u64) -> Self {
        Self { limit, under_way: Mutex::default(), bytes: AtomicU64::new(0) }
    }

    /// Bytes that are under way, for a host that counts its memory.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes that there is room for.
    pub fn room(&self) -> u64 {
        self.limit.saturating_sub(self.bytes())
    }

    /// Forgets what has been idle for too long. Every beginning does so, too.
    pub fn expire(&self, now: u64) {
        self.lock().expire(now);
    }

    /// Forgets everything: when all keys are removed. What was under way, to be dropped where nobody waits for it: it may
    /// be gigabytes.
    pub fn clear(&self) -> impl Send + use<> {
        let mut under_way = self.lock();
        let last_id = under_way.last_id;
        mem::replace(&mut *under_way, UnderWay { last_id, ..UnderWay::default() })
    }

    /// Whether a dump of so many bytes could begin: to be asked before they are made.
    ///
    /// # Errors
    /// When there is no room for them.
    pub fn check_room(&self, now: u64, bytes: u64) -> Result<(), TransferError> {
        if bytes <= CHUNK_BYTES {
            return Ok(()); // It will not be kept.
        }
        let mut under_way = self.lock();
        under_way.expire(now);
        under_way.check_room(bytes, under_way.dumps.len(), self.limit)
    }

    /// Begins to dump the bytes of a file, and gives the first piece of it.
    ///
    /// # Errors
    /// When there is no room to keep the rest.
    pub fn begin_dump(&self, now: u64, key: &[u8], file: Vec<u8>) -> Result<Piece, TransferError> {
        if file.len() as u64 <= CHUNK_BYTES {
            return Ok(Piece { iterator: file.len() as u64 + 1, bytes: file });
        }
        let file = Arc::new(file);
        let id = self.lock().begin_dump(now, key, &file, self.limit)?;
        Ok(piece(&file, id, 0))
    }

    /// The piece of a dump that an iterator other than 0 asks for. After the last one the dump is forgotten.
    ///
    /// # Errors
    /// When there is no such dump.
    pub fn next_piece(&self, now: u64, key: &[u8], iterator: u64) -> Result<Piece, TransferError> {
        let (id, offset) = (iterator >> ID_SHIFT, (iterator & OFFSETS).saturating_sub(1));
        if id == 0 {
            return Ok(Piece::END);
        }
        let mut under_way = self.lock();
        under_way.expire(now);
        let dump = under_way.dumps.get_mut(&id).filter(|dump| *dump.key == *key);
        let dump = dump.ok_or(TransferError::NotUnderWay)?;
        dump.used_at = now;
        let file = Arc::clone(&dump.file);
        if offset >= file.len() as u64 {
            under_way.forget_dump(id);
            return Ok(Piece::END);
        }
        drop(under_way);
        Ok(piece(&file, id, offset))
    }

    /// Begins to load a filter, instead of any that was on its way under this key. The first piece may still have to
    /// be [taken](Self::take).
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn begin_load(&self, now: u64, key: &[u8], arriving: Box<dyn Arriving>) -> Result<(), TransferError> {
        let mut under_way = self.lock();
        under_way.expire(now);
        under_way.forget_load(key);
        let bytes = arriving.bytes().saturating_add(key.len() as u64 + ENTRY_BYTES);
        under_way.check_room(bytes, under_way.loads.len(), self.limit)?;
        under_way.bytes += bytes;
        let arriving = Arc::new(Mutex::new(Some(arriving)));
        under_way.loads.insert(key.into(), Load { arriving, bytes, used_at: now });
        Ok(())
    }

    /// Whether a load is under way for a key.
    pub fn is_loading(&self, now: u64, key: &[u8]) -> bool {
        let mut under_way = self.lock();
        under_way.expire(now);
        under_way.loads.contains_key(key)
    }

    /// Takes a piece of a load. The filter, if it was the last one: then the load is over.
    ///
    /// To finish a filter may take long. `hold` is asked for when that is done and before the load is over; what it gives
    /// comes with the filter, to be kept until it is under its key: for what must not happen in between.
    ///
    /// # Errors
    /// When none is under way (also: not any more when the filter was finished), the piece was refused (the load goes on),
    /// or the whole was (the load is over).
    pub fn take<H>(
        &self,
        now: u64,
        key: &[u8],
        iterator: u64,
        bytes: &[u8],
        hold: impl FnOnce() -> H,
    ) -> Result<Option<(Value, H)>, TransferError> {
        let slot = {
            let mut under_way = self.lock();
            under_way.expire(now);
            let load = under_way.loads.get_mut(key).ok_or(TransferError::NotUnderWay)?;
            load.used_at = now;
            Arc::clone(&load.arriving)
        };
        let mut held = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let arriving = held.as_mut().ok_or(TransferError::NotUnderWay)?;
        if !arriving.take(iterator, bytes).map_err(TransferError::Refused)? {
            return Ok(None);
        }
        let Some(arriving) = held.take() else { return Err(TransferError::NotUnderWay) };
        drop(held);
        let value = arriving.finish();
        let held = hold();
        // Counted until here, because finishing may need as much again.
        let mut under_way = self.lock();
        if !under_way.loads.get(key).is_some_and(|load| Arc::ptr_eq(&load.arriving, &slot)) {
            // Meanwhile all keys were removed, and this filter with them, or another load took its place.
            return Err(TransferError::NotUnderWay);
        }
        under_way.forget_load(key);
        value.map(|value| Some((value, held))).map_err(TransferError::Refused)
    }

    /// Ends the load of a key that somebody has made meanwhile, if there is one. It still counts as
    /// [loading](Self::is_loading), so that the pieces that follow, which may have been sent already, are known as what
    /// they are: until one begins a load anew, or none has come for [`IDLE_MS`].
    pub fn end_load(&self, now: u64, key: &[u8]) {
        self.lock().end_load(now, key);
    }

    /// Gives up the load of a key, if there is one.
    pub fn abort_load(&self, key: &[u8]) {
        self.lock().forget_load(key);
    }

    fn lock(&self) -> Locked<'_> {
        // Whatever a thread that panicked had done is whole: no entry is ever half there.
        let under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        Locked { under_way, left_bytes: &self.bytes }
    }
}

/// The bits of an iterator that are a place.
const OFFSETS: u64 = (1 << ID_SHIFT) - 1;

/// At most 16 MiB of a file from a place in it on.
fn piece(file: &[u8], id: u64, offset: u64) -> Piece {
    let end = offset.saturating_add(CHUNK_BYTES).min(file.len() as u64);
    let [from, to] = [offset, end].map(|place| usize::try_from(place).unwrap_or(usize::MAX));
    let bytes = file.get(from..to).unwrap_or_default().to_vec();
    Piece { iterator: id << ID_SHIFT | (end + 1), bytes }
}

/// Where in a native dump a piece begins that came with this iterator; nothing if it can't have.
pub(crate) fn place_of(iterator: u64, piece: &[u8]) -> Option<u64> {
    (iterator & OFFSETS).checked_sub(1)?.checked_sub(piece.len() as u64)
}
