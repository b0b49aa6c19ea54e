//! Room for copies in a cuckoo filter.
//!
//! The copies of a key stand in its two buckets and nowhere else, so they fill a table before as many different keys would. How
//! much before depends on how often each key comes, which nobody has counted. So tables are tried, the smallest first: with
//! more room, and with more places in a bucket, of which a key then has more.

use mayhap::CuckooFilter;
use mayhap::cuckoo::CuckooLayout;

use crate::numbers::whole;

/// How many times as many keys as there are lines a table is planned for. Keys that all come as often as a bucket has places fit
/// into the fourth at the latest. The last is for less regular ones; beyond it a filter with counters is smaller.
const ROOM: [f64; 5] = [1.0, 1.1, 1.5, 2.0, 4.0];
/// The most places that a bucket can have.
const MOST_PLACES: u32 = 8;

/// A table to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Table {
    /// The keys it is planned for.
    pub(super) keys: u64,
    /// Its buckets, if they aren't those that take the least memory.
    pub(super) layout: Option<CuckooLayout>,
}

impl Table {
    /// The smallest for so many keys.
    pub(super) fn smallest(keys: u64) -> Self {
        Self { keys, layout: None }
    }
}

/// The tables to try, at this rate: the smallest for the planned keys, then those that may hold so many lines. If the plan is
/// somebody's wish, all that keep to it come before the others.
pub(super) fn tables(planned: u64, is_bound: bool, lines: u64, rate: f64) -> Vec<Table> {
    let bytes = |table: Table| {
        let builder = CuckooFilter::builder().keys(table.keys).rate(rate);
        let plan = match table.layout {
            Some(layout) => builder.layout(layout).plan(),
            None => builder.plan(),
        };
        plan.ok().map(|plan| plan.bytes())
    };
    let room = ROOM.map(|room| whole(planned.max(lines) as f64 * room));
    let mut larger: Vec<(u64, Table)> = Vec::new();
    for keys in [planned].into_iter().chain(room) {
        let wide = (CuckooLayout::MIN_BITS..=CuckooLayout::MAX_BITS)
            .filter_map(|bits| CuckooLayout::new(MOST_PLACES, bits))
            .map(|layout| Table { keys, layout: Some(layout) })
            .filter_map(|table| Some((bytes(table)?, table)))
            .min_by_key(|(bytes, _)| *bytes);
        let smallest = Table::smallest(keys);
        larger.extend(bytes(smallest).map(|bytes| (bytes, smallest)));
        larger.extend(wide);
    }
    larger.sort_by_key(|(bytes, table)| (is_bound && table.keys > planned, *bytes));
    let mut tables = vec![Table::smallest(planned)];
    for (_, table) in larger {
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    tables
}
