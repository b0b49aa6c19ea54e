//! A filter in front of a cache and a database.
//!
//! A key that doesn't exist is in no cache, so every question about it reaches the database: *cache penetration*. A flood
//! of such keys, made up by whoever wishes you ill or by a broken client, is a flood of queries. Three ways to stand it:
//!
//! | | queries | memory |
//! |---|---|---|
//! | nothing | every absent key, every time | - |
//! | cache the "no" for a while | every *different* absent key, once in that while | one cache entry for each of them |
//! | ask a filter first | the false positives: one absent key in a thousand, say | the filter: two bytes for each key that exists |
//!
//! ```text
//!   get ──► filter ── no ──► none            (certain: the key doesn't exist)
//!             │ mayhap, or nobody answers
//!             ▼
//!           cache ─────────► value
//!             ▼
//!          database
//! ```
//!
//! [`users`] is the part to copy: the order of things when reading and writing, and what to do when the filter can't be
//! asked. [`guard`] has two filters: one in this process, one on a server.

pub mod cache;
pub mod database;
pub mod flood;
pub mod guard;
pub mod users;
