//! The filters of a LevelDB table.

use std::path::Path;

use mayhap::formats::leveldb::{FilterBlock, Table};
use mayhap::formats::{ForeignFilter, Format};

use super::{Item, Loaded, Selection, not_one};
use crate::failure::Failure;

/// What every table ends with.
const MAGIC: [u8; 8] = 0xdb47_7524_8b80_fb57_u64.to_le_bytes();

/// The name that goleveldb gives the same filters.
const GOLEVELDB: &str = "leveldb.BuiltinBloomFilter";

pub(super) fn is_table(bytes: &[u8]) -> bool {
    bytes.ends_with(&MAGIC)
}

/// Those of a whole table file.
pub(super) fn table_items<'a>(
    path: &'a Path,
    bytes: &'a [u8],
    selection: &Selection,
) -> Result<Vec<Item<'a>>, Failure> {
    let find = || {
        let table = Table::view(bytes)?;
        match table.filter_block()? {
            Some(block) => Ok(Some(block)),
            None => table.filter_block_of(GOLEVELDB),
        }
    };
    match find().map_err(|error| not_one(path, "a LevelDB table", &error))? {
        Some(block) => items_of(path, &block, selection),
        None => Err(Failure::Message(format!(
            "{} is a LevelDB table without filters: its database was opened without a filter policy",
            path.display()
        ))),
    }
}

/// Those of a filter block.
pub(super) fn block_items<'a>(
    path: &'a Path,
    bytes: &'a [u8],
    selection: &Selection,
) -> Result<Vec<Item<'a>>, Failure> {
    if is_table(bytes) {
        let path = path.display();
        return Err(Failure::Message(format!(
            "{path} is a whole table, not a filter block; say --format leveldb"
        )));
    }
    items_of(path, &FilterBlock::new(bytes), selection)
}

fn items_of<'a>(
    path: &'a Path,
    block: &FilterBlock<'a>,
    selection: &Selection,
) -> Result<Vec<Item<'a>>, Failure> {
    block.check().map_err(|error| not_one(path, "a LevelDB filter block", &error))?;
    let mut items = Vec::new();
    for index in 0..block.len() {
        // Ranges of the table in which no data block begins have an empty filter.
        let Some(filter) = block.filter(index).filter(|filter| !filter.is_empty()) else { continue };
        let filter = filter.to_vec();
        let is_selected = selection.block.is_none_or(|wanted| wanted == index);
        items.push(Item::new(format!("--block {index}"), is_selected, move || {
            let read = ForeignFilter::from_bytes(Format::LevelDb, &filter);
            read.map(Loaded::from).map_err(|error| not_one(path, "a LevelDB filter", &error))
        }));
    }
    if items.is_empty() {
        return Err(Failure::Message(format!(
            "there is no filter in {}: its block is empty",
            path.display()
        )));
    }
    Ok(items)
}
