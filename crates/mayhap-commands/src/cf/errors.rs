//! What `CF.*` answers when something is wrong: RedisBloom's own words, with `ERR` where it has it and without where it
//! hasn't.

use crate::reply::Reply;

pub(super) use crate::errors::{ITEM_EXISTS, NOT_FOUND, WRONG_TYPE};

pub(super) const BAD_CAPACITY: &str = "Bad capacity";
pub(super) const RESERVE_CAPACITY_RANGE: &str = "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]";
pub(super) const INSERT_CAPACITY_RANGE: &str =
    "Capacity must be in the range [cf-bucket-size * 2, 1073741824]";
pub(super) const BAD_BUCKET_SIZE: &str = "Couldn't parse BUCKETSIZE";
pub(super) const BUCKET_SIZE_RANGE: &str = "BUCKETSIZE: value must be in the range [1, 255]";
pub(super) const BAD_ITERATIONS: &str = "Couldn't parse MAXITERATIONS";
pub(super) const ITERATIONS_RANGE: &str = "MAXITERATIONS: value must be in the range [1, 65535]";
pub(super) const BAD_EXPANSION: &str = "Couldn't parse EXPANSION";
pub(super) const EXPANSION_RANGE: &str = "EXPANSION: value must be in the range [0, 32768]";
pub(super) const UNKNOWN_ARGUMENT: &str = "Unknown argument received";

pub(super) const FULL: &str = "Filter is full";
pub(super) const MAX_EXPANSIONS: &str = "Maximum expansions reached";
pub(super) const RATE_SPENT: &str =
    "ERR the filter can't grow any further at its error rate: reserve a larger one, or with a higher ERROR";
pub(super) const NO_MEMORY: &str = "ERR Insufficient memory";

pub(super) const DELETE_NOT_FOUND: &str = "Not found";
pub(super) const COMPACT_NOT_FOUND: &str = "Cuckoo filter was not found";

pub(super) const BAD_POSITION: &str = "Invalid position";
pub(super) const BAD_HEADER: &str = "Invalid header";
pub(super) const NOT_CREATED: &str = "Couldn't create filter!";
pub(super) const NOT_LOADED: &str = "Couldn't load chunk!";

// Those of `ERROR`, which RedisBloom has for Bloom filters only.
pub(super) const BAD_RATE: &str = "ERR bad error rate";
pub(super) const RATE_RANGE: &str = "ERR error rate must be in the range (0.000000, 1.000000)";

/// A filter of so many bytes is more than may be.
pub(super) fn too_large(bytes: u64, limit: u64) -> Reply {
    Reply::error_of(format!("{NO_MEMORY}: it would take {bytes} bytes, and {limit} are left for it"))
}

/// A native filter tells copies of an item from other items that look like it only up to a number.
pub(super) fn too_many_copies(limit: u64) -> Reply {
    Reply::error_of(format!(
        "ERR the filter has {limit} copies of this item, or of others that look like it, and that is the most it \
         keeps: use CF.ADDNX, or a filter with a larger BUCKETSIZE, up to 8"
    ))
}
