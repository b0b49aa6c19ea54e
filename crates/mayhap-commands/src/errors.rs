//! Error texts that clients know, word for word. Those without a code are sent so by RedisBloom, too.

/// The key holds something else.
pub const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";
/// The filter to be made is there already.
pub const ITEM_EXISTS: &str = "ERR item exists";
/// There is no such key.
pub const NOT_FOUND: &str = "ERR not found";
