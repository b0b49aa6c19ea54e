//! The Redis protocol: requests in, replies out.

mod inline;
pub mod reply;
pub mod request;

pub use reply::write_reply;
pub use request::{Limits, Parsed, ProtocolError, RequestParser};
