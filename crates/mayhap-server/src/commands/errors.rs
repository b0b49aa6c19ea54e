//! Error texts of Redis that several commands send.

/// An option that is not one, or not there.
pub const SYNTAX: &str = "ERR syntax error";
/// A word that should be a whole number.
pub const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";
/// A key that should be there.
pub const NO_SUCH_KEY: &str = "ERR no such key";
/// `SELECT` of a database that isn't 0.
pub const NO_SUCH_DATABASE: &str = "ERR DB index is out of range";
/// A version of the protocol that isn't 2 or 3.
pub const NO_PROTOCOL: &str = "NOPROTO unsupported protocol version";
/// A user or a password that isn't right.
pub const WRONG_PASSWORD: &str = "WRONGPASS invalid username-password pair or user is disabled.";
/// A client's name that would break a list of clients.
pub const BAD_CLIENT_NAME: &str = "ERR Client names cannot contain spaces, newlines or special characters.";
/// Every value may take no more memory together.
pub const OUT_OF_MEMORY: &str = "OOM command not allowed when used memory > 'maxmemory'.";
