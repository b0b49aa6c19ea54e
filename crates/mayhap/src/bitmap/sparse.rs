//! The sparse form: what `roaring`'s `RoaringTreemap` doesn't say of itself.

use alloc::vec::Vec;

use roaring::bitmap::Iter;
use roaring::treemap::BitmapIter;
use roaring::{RoaringBitmap, RoaringTreemap};

use super::dense::Dense;
use super::portable::Shape;
use crate::bits::{AllocError, BLOCK_BITS, BLOCK_BYTES, Blocks};
use crate::sizing::bitmap::{CONTAINER_BITMAP_BYTES, CONTAINER_BYTES, MAP_BYTES};

/// Numbers in a container.
const CONTAINER: u64 = 1 << 16;

/// The runs of consecutive numbers, in order, as first and last. A run that crosses a multiple of 2³² comes in pieces.
#[derive(Clone)]
pub(super) struct Runs<'a> {
    maps: BitmapIter<'a>,
    /// What the upper half of a number adds to the lower one.
    base: u64,
    numbers: Option<Iter<'a>>,
}

impl<'a> Runs<'a> {
    /// The runs from `first` on; a run that starts before it is cut.
    pub(super) fn new(map: &'a RoaringTreemap, first: u64) -> Self {
        let (upper, lower) = split(first);
        let mut runs = Self { maps: map.bitmaps(), base: 0, numbers: None };
        // One by one: the crate has no way to start in the middle, and there are few maps unless numbers are strewn
        // over all of 2⁶⁴.
        if let Some((key, numbers)) = runs.maps.by_ref().find(|(key, _)| *key >= upper) {
            let mut numbers = numbers.iter();
            if key == upper {
                numbers.advance_to(lower);
            }
            (runs.base, runs.numbers) = (u64::from(key) << 32, Some(numbers));
        }
        runs
    }
}

impl Iterator for Runs<'_> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        loop {
            if let Some(run) = self.numbers.as_mut()?.next_range() {
                return Some((self.base + u64::from(*run.start()), self.base + u64::from(*run.end())));
            }
            (self.base, self.numbers) = match self.maps.next() {
                Some((key, numbers)) => (u64::from(key) << 32, Some(numbers.iter())),
                None => (0, None),
            };
        }
    }
}

/// The numbers of a dense bitmap.
pub(super) fn from_dense<S: Blocks>(dense: &Dense<S>) -> RoaringTreemap {
    let mut bytes = [0; (CONTAINER / 8) as usize];
    let maps = (0..=split(dense.largest()).0).map(|upper| {
        let mut map = RoaringBitmap::new();
        let base = u64::from(upper) << 32;
        let last = dense.largest().min(base | u64::from(u32::MAX));
        for container in base / CONTAINER..=last / CONTAINER {
            fill(&mut bytes, dense, container);
            // By reference: by value the two would be compared by length, which counts all of both.
            map |= &RoaringBitmap::from_lsb0_bytes(split(container * CONTAINER).1, &bytes);
        }
        (upper, map)
    });
    RoaringTreemap::from_bitmaps(maps.filter(|(_, map)| !map.is_empty()))
}

/// The bits of a container, as little-endian bytes.
fn fill<S: Blocks>(bytes: &mut [u8], dense: &Dense<S>, container: u64) {
    for (index, bytes) in (first_block(container)..).zip(bytes.chunks_exact_mut(BLOCK_BYTES)) {
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(dense.block(index)) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "the index of a block that is in memory")]
fn first_block(container: u64) -> usize {
    (container * (CONTAINER / BLOCK_BITS)) as usize
}

/// Bytes of memory, but for what vectors keep in reserve.
pub(super) fn len_bytes(map: &RoaringTreemap) -> u64 {
    map.bitmaps()
        .map(|(_, bitmap)| {
            let statistics = bitmap.statistics();
            MAP_BYTES
                + u64::from(statistics.n_containers) * CONTAINER_BYTES
                + u64::from(statistics.n_values_array_containers) * 2
                + u64::from(statistics.n_bitset_containers) * CONTAINER_BITMAP_BYTES
                + statistics.n_bytes_run_containers
        })
        .sum()
}

/// Bytes of memory with what vectors keep in reserve, and what an allocator adds to each of them.
pub(super) fn memory_bytes(map: &RoaringTreemap) -> u64 {
    map.bitmaps()
        .map(|(_, bitmap)| {
            let statistics = bitmap.statistics();
            let containers = u64::from(statistics.n_containers);
            // How long the list of containers could be is the one thing that isn't told.
            MAP_BYTES
                + containers.next_power_of_two().max(4) * CONTAINER_BYTES
                + containers * OF_ALLOCATOR
                // The crate reckons four bytes for each number there is room for, and takes two.
                + statistics.n_bytes_array_containers / 2
                + u64::from(statistics.n_bitset_containers) * CONTAINER_BITMAP_BYTES
                + statistics.n_bytes_run_containers
        })
        .sum()
}

/// What an allocator adds to a piece of memory: its own notes, and rounding up.
const OF_ALLOCATOR: u64 = 16;

/// Refuses a range that takes more memory than can be had. `roaring` has no way to fail: the program would end.
pub(super) fn check_memory(first: u64, last: u64) -> Result<(), AllocError> {
    // A container of one run, and a list of containers in which there may be as much room again.
    const EACH: u64 = CONTAINER_BYTES + LEAST_ALLOCATION;
    let bytes = (last / CONTAINER - first / CONTAINER + 1).saturating_mul(EACH);
    if bytes < UNASKED {
        return Ok(());
    }
    // Memory that is given back without having been touched: whoever lends so much may still run out of it, but a range
    // that is beyond the machine is refused.
    let error = AllocError { bytes };
    let len = usize::try_from(bytes).map_err(|_| error)?;
    Vec::<u8>::new().try_reserve_exact(len).map_err(|_| error)
}

/// What allocators take for a few bytes.
const LEAST_ALLOCATION: u64 = 32;

/// Bytes that are taken without asking first.
const UNASKED: u64 = 1 << 20;

/// [`len_bytes`] of the numbers of a dense bitmap, were they in the smallest containers: known without building them.
pub(super) fn len_bytes_of<S: Blocks>(dense: &Dense<S>) -> u64 {
    const BLOCKS: usize = (CONTAINER / BLOCK_BITS) as usize;
    let (mut bytes, mut map) = (0, None);
    for container in 0..=dense.largest() / CONTAINER {
        let (mut numbers, mut runs, mut carry) = (0, 0, 0);
        let start = first_block(container);
        for word in (start..start + BLOCKS).flat_map(|index| dense.block(index)) {
            numbers += u64::from(word.count_ones());
            // A run starts where a bit is set and the one before it isn't.
            runs += u64::from((word & !(word << 1 | carry)).count_ones());
            carry = word >> 63;
        }
        if numbers > 0 {
            let upper = container >> 16;
            bytes += if map.replace(upper) == Some(upper) { 0 } else { MAP_BYTES };
            bytes += CONTAINER_BYTES + Shape::of(numbers, runs).bytes();
        }
    }
    bytes
}

/// The halves of a number.
#[allow(clippy::cast_possible_truncation, reason = "the lower half is what is wanted")]
fn split(number: u64) -> (u32, u32) {
    ((number >> 32) as u32, number as u32)
}
