//! What is under way: the maps behind the lock.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use super::{Arriving, ENTRY_BYTES, IDLE_MS, MOST, OFFSETS, TransferError};

#[derive(Debug, Default)]
pub(super) struct UnderWay {
    pub(super) dumps: HashMap<u64, Dump>,
    pub(super) loads: HashMap<Box<[u8]>, Load>,
    pub(super) bytes: u64,
    pub(super) last_id: u64,
}

pub(super) struct Dump {
    pub(super) key: Box<[u8]>,
    pub(super) file: Arc<Vec<u8>>,
    pub(super) used_at: u64,
}

pub(super) struct Load {
    /// Nothing once it has been finished.
    pub(super) arriving: Arc<Mutex<Option<Box<dyn Arriving>>>>,
    pub(super) bytes: u64,
    pub(super) used_at: u64,
}

impl UnderWay {
    pub(super) fn check_room(&self, bytes: u64, entries: usize, limit: u64) -> Result<(), TransferError> {
        let fits = self.bytes.checked_add(bytes).is_some_and(|sum| sum <= limit);
        if fits && (entries as u64) < MOST { Ok(()) } else { Err(TransferError::NoRoom { limit }) }
    }

    pub(super) fn begin_dump(
        &mut self,
        now: u64,
        key: &[u8],
        file: &Arc<Vec<u8>>,
        limit: u64,
    ) -> Result<u64, TransferError> {
        self.expire(now);
        let dump = Dump { key: key.into(), file: Arc::clone(file), used_at: now };
        if dump.file.len() as u64 >= OFFSETS {
            return Err(TransferError::NoRoom { limit: OFFSETS });
        }
        self.check_room(dump.bytes(), self.dumps.len(), limit)?;
        // There are fewer than MOST, so one of the next numbers is free.
        let mut id = self.last_id;
        loop {
            id = id % MOST + 1;
            if !self.dumps.contains_key(&id) {
                break;
            }
        }
        self.last_id = id;
        self.bytes += dump.bytes();
        self.dumps.insert(id, dump);
        Ok(id)
    }

    pub(super) fn forget_dump(&mut self, id: u64) {
        if let Some(dump) = self.dumps.remove(&id) {
            self.bytes -= dump.bytes();
        }
    }

    pub(super) fn forget_load(&mut self, key: &[u8]) {
        if let Some(load) = self.loads.remove(key) {
            self.bytes -= load.bytes;
        }
    }

    /// Forgets what has come of a load, and keeps in mind that there was one.
    pub(super) fn end_load(&mut self, now: u64, key: &[u8]) {
        if let Some(load) = self.loads.get_mut(key) {
            let kept = key.len() as u64 + ENTRY_BYTES;
            self.bytes -= load.bytes - kept;
            *load = Load { arriving: Arc::default(), bytes: kept, used_at: now };
        }
    }

    pub(super) fn expire(&mut self, now: u64) {
        let Self { dumps, loads, bytes, .. } = self;
        let is_idle = |used_at: u64| now.saturating_sub(used_at) > IDLE_MS;
        dumps.retain(|_, dump| {
            let keep = !is_idle(dump.used_at);
            *bytes -= if keep { 0 } else { dump.bytes() };
            keep
        });
        loads.retain(|_, load| {
            let keep = !is_idle(load.used_at);
            *bytes -= if keep { 0 } else { load.bytes };
            keep
        });
    }
}

impl Dump {
    pub(super) fn bytes(&self) -> u64 {
        (self.file.len() + self.key.len()) as u64 + ENTRY_BYTES
    }
}

impl fmt::Debug for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dump")
            .field("bytes", &self.file.len())
            .field("used_at", &self.used_at)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Load")
            .field("bytes", &self.bytes)
            .field("used_at", &self.used_at)
            .finish_non_exhaustive()
    }
}
