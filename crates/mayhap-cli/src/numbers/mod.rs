//! Numbers as people write and read them: `100M` keys, a rate of `1%`, `64MiB` of memory.
//!
//! Whole numbers are parsed exactly: `16777217`, `1.5k` and `1e19` come out as written or not at all. Nothing goes
//! through a float that could round it, and nothing wraps. What is printed can be typed in again.

mod count;
mod decimal;
mod duration;
mod range;
mod rate;
mod size;

pub(crate) use count::{counted, format_count, group_digits, parse_count, whole};
pub(crate) use duration::{format_duration, parse_duration};
pub(crate) use range::parse_range;
pub(crate) use rate::{format_rate, parse_rate};
pub(crate) use size::{format_size, parse_size};
