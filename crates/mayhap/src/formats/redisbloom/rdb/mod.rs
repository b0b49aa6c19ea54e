//! RDB, the encoding in which Redis saves values: in whole files, and one value at a time in `DUMP` payloads.
//!
//! [`RdbFile`] walks over a file and finds the filters in it. Payloads are read and written by the filters themselves,
//! or by [`RedisValue`](super::RedisValue) where it isn't known which of the two it is.
//!
//! # A `DUMP` payload
//!
//! ```text
//! type           7: a module's value
//! id             nine characters of 6 bits (A–Z a–z 0–9 - _), then 10 bits for the version of the value
//! fields         each with its kind before it: 1, 2 integers, 3 float, 4 double, 5 string; then 0
//! version        the RDB version, 2 bytes, little-endian
//! checksum       CRC-64 of all bytes before it, 8 bytes, little-endian
//! ```
//!
//! Integers, the id and the kinds are RDB *lengths*, of 1, 2, 5 or 9 bytes:
//!
//! ```text
//! 00LLLLLL    01LLLLLL LLLLLLLL    10000000 and 4 bytes    10000001 and 8 bytes, big-endian
//! ```
//!
//! A string is a length and its bytes. Redis writes strings of more than 20 bytes compressed (LZF) if that saves at least
//! four bytes, and strings that are the digits of an integer of at most 32 bits as that integer. Here both are read, and
//! written in the same cases with the same bytes. (A server with `rdbcompression no` doesn't compress; its payloads are
//! read, and written back compressed.)
//!
//! The checksum is that of Jones: polynomial `0xad93d23594c935a9`, reflected, starting with 0.
//!
//! # What a file may hold
//!
//! Every type of value up to RDB version 12 (Redis 8.0) is passed over safely: its parts are measured, never unpacked.
//! A type or mark of a later version is an error, for nothing says where it ends. The same goes for values of modules in
//! the encoding of Redis 4.0's release candidates. Valkey 9 writes files of its own, which start with `VALKEY`.

mod crc64;
mod dump;
mod file;
mod lzf;
mod module;
mod skip;
mod strings;

pub use dump::RdbVersion;
pub(crate) use dump::{Dump, to_dump};
pub use file::{RdbEntry, RdbFile};
pub(crate) use module::{ModuleId, ModuleReader, ModuleValue, ModuleWriter, read_module, write_module};
