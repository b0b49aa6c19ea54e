//! The Redis protocol: requests in, replies out.

mod inline;
pub mod reply;
pub mod request;

pub use reply::write_reply;
pub(crate) use reply::{write_array_header, write_null_array};
pub use request::{Limits, Parsed, ProtocolError, RequestParser};
