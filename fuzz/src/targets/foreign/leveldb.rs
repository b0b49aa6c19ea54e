//! LevelDB's filters, filter blocks and table files.

use mayhap::formats::leveldb::{BloomPolicy, FilterBlock, FilterBlockBuilder, LevelDbFilter, Table};

use super::limited;
use crate::Target;

/// Its readers.
pub const TARGET: Target = Target {
    name: "leveldb",
    about: "damaged filters, filter blocks and table files of LevelDB",
    run,
    seeds,
    largest_allocation: 4 << 20,
};

/// Takes the bytes for each of the three, and for a table file once more with the checksums of its metaindex and index
/// made right.
fn run(data: &[u8]) {
    filter(data);
    let block = FilterBlock::new(data);
    let _ = (block.check(), block.len(), block.key_may_match(0, "key"), block.key_may_match(u64::MAX, "key"));
    table(data);
    if let Some(repaired) = repaired(data) {
        table(&repaired);
    }
}

fn filter(data: &[u8]) {
    let policy = BloomPolicy::new(10);
    let may_match = policy.key_may_match("key", data);
    let whole = LevelDbFilter::from_bytes_with(data, &limited());
    let view = LevelDbFilter::view(data);
    assert_eq!(whole.is_ok(), view.is_ok(), "what can be read can be asked in place");
    let (Ok(mut filter), Ok(view)) = (whole, view) else { return };
    assert_eq!([filter.contains("key"), view.contains("key")], [may_match; 2]);
    assert_eq!(filter.to_bytes().expect("a small filter"), data);
    let _ = (filter.estimated_len(), filter.expected_rate());
    filter.insert("key");
    assert!(filter.contains("key"));
}

fn table(data: &[u8]) {
    let Ok(table) = Table::view_with(data, &limited()) else { return };
    if let Ok(filter) = table.filter() {
        let _ = (filter.key_may_match("key"), filter.block_of("key"));
    }
    for handle in table.data_blocks().unwrap_or_default().into_iter().take(8) {
        let _ = table.block(handle);
    }
}

/// The file with right checksums behind the two blocks that its footer names.
fn repaired(data: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = data.to_vec();
    let mut footer = bytes.get(bytes.len().checked_sub(48)?..)?.to_vec().into_iter();
    for _ in 0..2 {
        let (offset, size) = (varint(&mut footer)?, varint(&mut footer)?);
        let end = offset.checked_add(size)?.checked_add(1)?;
        let sum = crc32c(bytes.get(offset..end)?);
        let masked = sum.rotate_right(15).wrapping_add(0xa282_ead8);
        bytes.get_mut(end..end.checked_add(4)?)?.copy_from_slice(&masked.to_le_bytes());
    }
    Some(bytes)
}

fn varint(bytes: &mut impl Iterator<Item = u8>) -> Option<usize> {
    let mut number = 0;
    for shift in (0..56).step_by(7) {
        let byte = bytes.next()?;
        number |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ if sum & 1 == 1 { 0x82f6_3b78 } else { 0 })
    })
}

fn seeds() -> Vec<Vec<u8>> {
    let policy = BloomPolicy::new(10);
    let mut seeds = Vec::new();
    for keys in [0u32, 1, 50] {
        let mut filter = Vec::new();
        policy.create_filter(&(0..keys).collect::<Vec<_>>(), &mut filter).expect("a small filter");
        seeds.push(filter);
    }
    let mut block = FilterBlockBuilder::new(policy);
    for (offset, key) in [(0, "apple"), (2_000, "pear"), (9_000, "quince")] {
        block.start_block(offset).expect("a small block");
        block.add_key(key);
    }
    seeds.push(block.finish().expect("a small block"));
    for table in [
        &include_bytes!("../../../../testdata/golden/leveldb_table_t-none.ldb")[..],
        include_bytes!("../../../../testdata/golden/leveldb_table_t-snappy.ldb"),
    ] {
        seeds.push(table.to_vec());
    }
    seeds
}
