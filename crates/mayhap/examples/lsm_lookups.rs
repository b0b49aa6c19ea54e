//! What filter blocks save a store of sorted files: reads.
//!
//! ```text
//! cargo run --release --features formats --example lsm_lookups
//! cargo run --release --features formats --example lsm_lookups -- 20
//! ```
//!
//! Writes eight sorted table files to a temporary directory, as the levels of an LSM store would have them: each covers the
//! whole range of keys, so that without filters a key that is nowhere costs one read in every file. Each file has data
//! blocks, a filter block as LevelDB writes it, and an index; filter blocks and indexes are kept in memory, data blocks
//! are read from the files when they are needed, and counted. Then present and absent keys are looked up from the newest
//! file to the oldest, once with the filters and once without. The number that may follow is the bits per key; 10 if it
//! doesn't. Takes some seconds, most of them without filters.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use std::error::Error;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use mayhap::formats::leveldb::{BloomPolicy, FilterBlock, FilterBlockBuilder, hash_key};

const TABLES: u64 = 8;
const KEYS_PER_TABLE: u64 = 20_000;
const LOOKUPS: u64 = 10_000;
const BLOCK_BYTES: usize = 4_096;

fn main() -> Result<(), Box<dyn Error>> {
    let bits_per_key = match std::env::args().nth(1) {
        Some(bits) => bits.parse()?,
        None => 10,
    };
    let directory = Directory::create()?;
    let policy = BloomPolicy::new(bits_per_key);
    let mut tables = Vec::new();
    for number in 0..TABLES {
        tables.push(Table::write(&directory.0.join(format!("{number:06}.table")), number, policy)?);
    }
    let data: u64 = tables.iter().map(|table| table.data_bytes).sum();
    let filters: usize = tables.iter().map(|table| table.filter.bytes().len()).sum();
    println!("{TABLES} files of {KEYS_PER_TABLE} keys, {} KB of data", data / 1_000);
    println!(
        "filter blocks: {} KB, {bits_per_key} bits per key, {} hashes\n",
        filters / 1_000,
        policy.hashes()
    );

    // The newest file has the highest number, and is asked first.
    tables.reverse();
    println!(
        "| {LOOKUPS} lookups of | reads without filters | with | saved | false alarms | seconds without | with |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (name, first) in [("keys that are there", 0), ("keys that are nowhere", TABLES * KEYS_PER_TABLE)] {
        let keys: Vec<String> =
            (0..LOOKUPS).map(|i| key(first + scattered(i) % (TABLES * KEYS_PER_TABLE))).collect();
        let without = look_up(&mut tables, &keys, false)?;
        let with = look_up(&mut tables, &keys, true)?;
        assert_eq!(without.found, with.found, "a filter never hides a key");
        println!(
            "| {name} | {} | {} | {:.1} % | {} | {:.2} | {:.2} |",
            without.reads,
            with.reads,
            100.0 * (1.0 - with.reads as f64 / without.reads as f64),
            with.reads - with.found,
            without.seconds,
            with.seconds,
        );
    }
    Ok(())
}

/// What it took to look up all keys.
struct Cost {
    reads: u64,
    found: u64,
    seconds: f64,
}

fn look_up(tables: &mut [Table], keys: &[String], by_filter: bool) -> Result<Cost, Box<dyn Error>> {
    let start = Instant::now();
    let (mut reads, mut found) = (0, 0);
    for key in keys {
        // One hash serves the filters of all files.
        let hash = hash_key(key);
        for table in tables.iter_mut() {
            let Some(block) = table.block_of(key) else { continue };
            if by_filter && !table.filter.hash_may_match(table.index[block].offset, hash) {
                continue;
            }
            reads += 1;
            if table.read(block)?.split(|byte| *byte == b'\n').any(|line| line.starts_with(key.as_bytes())) {
                found += 1;
                break;
            }
        }
    }
    Ok(Cost { reads, found, seconds: start.elapsed().as_secs_f64() })
}

/// The n-th key. All have one length, so that none is the start of another.
fn key(n: u64) -> String {
    format!("user:{:016x}", scattered(n))
}

/// Numbers that look random and never come twice.
fn scattered(n: u64) -> u64 {
    let x = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ (x >> 32)
}

/// A sorted file: lines of key and value in blocks of about 4 KB.
struct Table {
    file: File,
    data_bytes: u64,
    index: Vec<Block>,
    filter: FilterBlock<'static>,
}

struct Block {
    last_key: String,
    offset: u64,
    bytes: usize,
}

impl Table {
    /// Writes the keys of one table: every eighth of all, so that each file covers the whole range.
    fn write(path: &Path, number: u64, policy: BloomPolicy) -> Result<Self, Box<dyn Error>> {
        let mut keys: Vec<String> = (0..KEYS_PER_TABLE).map(|i| key(i * TABLES + number)).collect();
        keys.sort_unstable();
        let mut file = File::create_new(path)?;
        let mut filter = FilterBlockBuilder::new(policy);
        let (mut index, mut block, mut offset) = (Vec::new(), Vec::new(), 0);
        filter.start_block(offset)?;
        for (i, key) in keys.iter().enumerate() {
            filter.add_key(key);
            writeln!(block, "{key} value of {key} in file {number}")?;
            if block.len() >= BLOCK_BYTES || i + 1 == keys.len() {
                file.write_all(&block)?;
                index.push(Block { last_key: key.clone(), offset, bytes: block.len() });
                offset += block.len() as u64;
                filter.start_block(offset)?;
                block.clear();
            }
        }
        // Where a real store would find it again. Here it stays in memory, too.
        let filter = filter.finish()?;
        file.write_all(&filter)?;
        Ok(Self { file: File::open(path)?, data_bytes: offset, index, filter: FilterBlock::new(filter) })
    }

    /// The block that has the key if the file has it.
    fn block_of(&self, key: &str) -> Option<usize> {
        let block = self.index.partition_point(|block| block.last_key.as_str() < key);
        (block < self.index.len()).then_some(block)
    }

    fn read(&mut self, block: usize) -> Result<Vec<u8>, Box<dyn Error>> {
        let Block { offset, bytes, .. } = self.index[block];
        let mut contents = vec![0; bytes];
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read_exact(&mut contents)?;
        Ok(contents)
    }
}

/// A directory that goes away with everything in it, also after an error.
struct Directory(PathBuf);

impl Directory {
    fn create() -> Result<Self, Box<dyn Error>> {
        let path = std::env::temp_dir().join(format!("mayhap-lsm-lookups-{}", std::process::id()));
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("{} could not be removed: {error}", self.0.display());
        }
    }
}
