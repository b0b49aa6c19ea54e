//! What `BF.*` answers when something is wrong: RedisBloom's own words, with `ERR` where it has it and without where it
//! hasn't.

use mayhap::sizing::SizingError;

use crate::reply::Reply;

pub(super) use crate::errors::{ITEM_EXISTS, NOT_FOUND, WRONG_TYPE};

pub(super) const BAD_RATE: &str = "ERR bad error rate";
pub(super) const RATE_RANGE: &str = "ERR error rate must be in the range (0.000000, 1.000000)";
pub(super) const BAD_CAPACITY: &str = "ERR bad capacity";
pub(super) const CAPACITY_RANGE: &str = "ERR capacity must be in the range [1, 1073741824]";
pub(super) const NO_EXPANSION: &str = "ERR no expansion";
pub(super) const BAD_EXPANSION: &str = "ERR bad expansion";
pub(super) const EXPANSION_RANGE: &str = "ERR expansion must be in the range [0, 32768]";
pub(super) const CANNOT_EXPAND: &str = "Nonscaling filters cannot expand";
pub(super) const NOT_CREATED: &str = "ERR could not create filter";
pub(super) const NO_MEMORY: &str = "ERR Insufficient memory to create filter";
pub(super) const FULL: &str = "ERR non scaling filter is full";
pub(super) const NOT_INSERTED: &str = "ERR problem inserting into filter";

pub(super) const INSERT_BAD_RATE: &str = "Bad error rate";
pub(super) const INSERT_BAD_CAPACITY: &str = "Bad capacity";
pub(super) const INSERT_BAD_EXPANSION: &str = "Bad expansion";
pub(super) const UNKNOWN_ARGUMENT: &str = "Unknown argument received";

pub(super) const UNKNOWN_FIELD: &str = "Invalid information value";
pub(super) const SCAN_NOT_A_NUMBER: &str = "Second argument must be numeric";
pub(super) const LOAD_NOT_A_NUMBER: &str = "ERR Second argument must be numeric";
pub(super) const BAD_DATA: &str = "ERR received bad data";
pub(super) const NO_LINK: &str = "ERR invalid offset - no link found";
pub(super) const BEYOND_LINK: &str = "ERR invalid chunk - Too big for current filter";

// Those of valkey-bloom's options.
pub(super) const BAD_SEED: &str = "ERR invalid seed";
pub(super) const BAD_TIGHTENING: &str = "ERR bad tightening ratio";
pub(super) const TIGHTENING_RANGE: &str = "ERR (0 < tightening ratio range < 1)";
pub(super) const SCALE_TO_WITHOUT_SCALING: &str =
    "ERR cannot use NONSCALING and VALIDATESCALETO options together";
pub(super) const SCALE_TO_NO_MEMORY: &str =
    "ERR provided VALIDATESCALETO causes bloom object to exceed memory limit";
pub(super) const SCALE_TO_RATE: &str = "ERR provided VALIDATESCALETO causes false positive to degrade to 0";

pub(super) const RATE_DEGRADES: &str = "ERR false positive degrades to 0 on scale out";

// And what only we refuse.
/// Behind RedisBloom's words. It takes more than a thousand links, so only those that don't get larger come so far.
pub(super) const RATE_HALVED_AWAY: &str = "ERR problem inserting into filter: each link has half the error rate of the one before, and there is no lower one";
pub(super) const SEED_REDISBLOOM: &str =
    "ERR SEED can't be chosen: it is always RedisBloom's in redisbloom layout";
pub(super) const TIGHTENING_REDISBLOOM: &str =
    "ERR TIGHTENING can't be chosen: it is always 0.5 in redisbloom layout";

/// A filter of so many bytes is more than may be.
pub(super) fn too_large(bytes: u64, limit: u64) -> Reply {
    Reply::error_of(format!("{NO_MEMORY}: it would take {bytes} bytes, and {limit} are left for it"))
}

/// A rate that 64-bit digests can't give for so many items: what to ask for instead.
pub(super) fn rate_too_low(error: &SizingError) -> Reply {
    Reply::error_of(format!("{NOT_CREATED}: {error}"))
}
