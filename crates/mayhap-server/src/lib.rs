//! A server of filters that speaks the Redis protocol.
//!
//! ```text
//!              acceptor ──► worker (a thread: an event loop, its connections)
//!                             │ one read
//!                             ▼
//!   resp::request ──► execute (all that came in the read, as a batch) ──► resp::reply ──► one write
//!                             │
//!              mayhap_commands (BF.*, CF.*), commands (PING, DEL, …)
//!                             │
//!                          keyspace (shared by all workers)
//! ```
//!
//! Nothing here waits: sockets don't block, locks are short, and what a client can make the server keep has a limit that
//! is a [setting](settings).

#![deny(unsafe_code)]

mod aside;
pub mod clients;
pub mod commands;
mod connection;
pub mod context;
mod execute;
mod gate;
mod janitor;
pub mod keyspace;
pub mod log;
pub mod resp;
mod server;
pub mod session;
pub mod settings;
mod shared;
pub mod slowlog;
pub mod statistics;
mod transaction;
mod trim;
mod wait;
mod worker;

pub use server::{Handle, Server};
pub use settings::Settings;
pub use shared::{Shared, Shutdown};

/// What clients are told that ask for a version: the first of Redis with these commands. What filters have nothing to do with
/// is as in Redis 7.
pub const REDIS_VERSION: &str = "8.0.0";
