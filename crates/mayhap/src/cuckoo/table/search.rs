//! Making room: the shortest chain of moves that ends in a free place.
//!
//! When both buckets of a key are full, one of their fingerprints must move to its own other bucket; if that is full,
//! too, one of its fingerprints must move, and so on. All chains of one move are looked at first, then all of two, …:
//! a breadth-first search. Nothing is written before a chain has been found, so a search that fails leaves no trace and
//! needs nothing undone, and the chain is the shortest there is. Buckets are asked for as soon as they are in the queue,
//! so that several are on their way from memory at once: adding the keys from 50 to 95 % load took 187 ns each at 20 M
//! keys, and 312 ns by random kicks that were undone when they failed, where each kick waits for the last (in batches 107
//! and 261; at 1 M keys, from the cache, 83 and 73). Both are full at the same load, within half a percent.

use alloc::vec::Vec;

use super::buckets::{Buckets, NOWHERE};
use super::places::{Places, Spot, multiply_high};
use crate::bits::{AllocError, Block, prefetch_address};
use crate::filter::InsertError;

/// How far to search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    max_kicks: u32,
}

impl Search {
    pub(crate) fn new(max_kicks: u32) -> Self {
        Self { max_kicks }
    }

    pub(crate) fn max_kicks(self) -> u32 {
        self.max_kicks
    }

    /// Puts the fingerprint of `spot`, both of whose buckets are full, into one of them by moving others.
    #[inline(never)]
    pub(super) fn make_room<B: Buckets>(
        self,
        buckets: B,
        blocks: &mut [Block],
        places: &Places,
        spot: Spot,
    ) -> Result<(), InsertError> {
        let copies = |bucket| buckets.count(blocks, buckets.locate(bucket), spot.fingerprint);
        let two = spot.first != spot.second;
        let limit = buckets.entries() << u32::from(two);
        if copies(spot.first) + if two { copies(spot.second) } else { 0 } == limit {
            return Err(InsertError::TooManyCopies { limit: u64::from(limit) });
        }
        let mut tree = Tree::new().map_err(InsertError::Alloc)?;
        for bucket in [spot.first, spot.second] {
            tree.add(Node { bucket, parent: ROOT, lane: 0 }).map_err(InsertError::Alloc)?;
        }
        let roots = tree.nodes.len();
        // So many for each of the two ways to begin.
        let most = roots * (1 + self.max_kicks as usize);
        let mut number = 0;
        while let Some(node) = tree.nodes.get(number).copied() {
            let at = buckets.locate(node.bucket);
            if number >= roots && buckets.free(blocks, at) != NOWHERE {
                tree.shift(buckets, blocks, node, spot.fingerprint);
                return Ok(());
            }
            let entries = buckets.all(blocks, at);
            for (lane, entry) in (0..buckets.entries()).zip(entries) {
                if tree.nodes.len() == most {
                    break;
                }
                let bucket = places.other(node.bucket, entry);
                #[allow(clippy::cast_possible_truncation, reason = "below 2 · (max_kicks + 1)")]
                if tree.add(Node { bucket, parent: number as u32, lane }).map_err(InsertError::Alloc)? {
                    // Its turn comes after that of all others in the queue.
                    prefetch_address(buckets.address(blocks, buckets.place(bucket)));
                }
            }
            number += 1;
        }
        Err(InsertError::Full)
    }
}

/// The buckets that were looked at, or are about to be, in the order in which their turn comes.
///
/// It ends with its search, and its memory goes to the next one of the thread: a filter that kept it would keep more than a
/// small filter takes itself.
struct Tree {
    nodes: Vec<Node>,
    /// Of a few nodes, a bit for each bucket, or for several: a set bit is a reason to look through them. No bucket is in the
    /// tree twice, so every chain is free of loops. (Without the second look a table of one place in a bucket was full at
    /// 47 % instead of 50: there every chain is the only one.)
    seen: [u64; SEEN_WORDS],
    /// Of many, the same exactly: numbers of nodes, from 1 on, each from where the hash of its bucket says to the next free
    /// one. A power of two, and at least half of it free. (Looking through a million nodes for each bucket that is met
    /// again would take minutes.)
    slots: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    bucket: u64,
    /// The node from which a fingerprint would move here, or [`ROOT`].
    parent: u32,
    /// Which of the parent's fingerprints.
    lane: u32,
}

const ROOT: u32 = u32::MAX;

/// Nodes to begin with.
const USUAL: usize = 64;

/// From so many nodes on there are [slots](Tree::slots).
const MANY: usize = 256;

const SEEN_WORDS: usize = 64;

/// A large odd number, so that buckets in a row are far apart in the [slots](Tree::slots).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Tree {
    fn new() -> Result<Self, AllocError> {
        let mut nodes = spare::take();
        nodes.try_reserve(USUAL).map_err(|_| out_of_memory::<Node>(USUAL))?;
        Ok(Self { nodes, seen: [0; SEEN_WORDS], slots: Vec::new() })
    }

    /// Adds a node, unless its bucket is in the tree already.
    #[inline(always)]
    fn add(&mut self, node: Node) -> Result<bool, AllocError> {
        if self.nodes.len() >= MANY {
            return self.add_to_many(node);
        }
        let bit = node.bucket % (64 * SEEN_WORDS as u64);
        #[allow(clippy::cast_possible_truncation, reason = "below the number of words")]
        let (word, mask) = (&mut self.seen[(bit / 64) as usize], 1 << (bit % 64));
        if *word & mask != 0 && self.nodes.iter().any(|other| other.bucket == node.bucket) {
            return Ok(false);
        }
        *word |= mask;
        self.push(node)?;
        Ok(true)
    }

    #[inline(always)]
    fn push(&mut self, node: Node) -> Result<(), AllocError> {
        if self.nodes.len() == self.nodes.capacity() {
            self.grow()?;
        }
        self.nodes.push(node);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> Result<(), AllocError> {
        let more = self.nodes.len();
        self.nodes.try_reserve_exact(more).map_err(|_| out_of_memory::<Node>(2 * more))
    }

    #[cold]
    #[inline(never)]
    fn add_to_many(&mut self, node: Node) -> Result<bool, AllocError> {
        if 2 * (self.nodes.len() + 1) > self.slots.len() {
            self.spread_out()?;
        }
        let slot = self.slot(node.bucket);
        if self.slots[slot] != 0 {
            return Ok(false);
        }
        self.push(node)?;
        #[allow(clippy::cast_possible_truncation, reason = "below 2 · (max_kicks + 1)")]
        let number = self.nodes.len() as u32;
        self.slots[slot] = number;
        Ok(true)
    }

    /// The slot that has the node of this bucket, or could have it.
    fn slot(&self, bucket: u64) -> usize {
        let last = self.slots.len() - 1;
        #[allow(clippy::cast_possible_truncation, reason = "below the number of slots")]
        let mut slot = multiply_high(bucket.wrapping_mul(SPREAD), self.slots.len() as u64) as usize;
        while self.slots[slot] != 0 && self.nodes[self.slots[slot] as usize - 1].bucket != bucket {
            slot = (slot + 1) & last;
        }
        slot
    }

    /// Makes four slots for each node.
    fn spread_out(&mut self) -> Result<(), AllocError> {
        let count = (4 * self.nodes.len()).next_power_of_two();
        self.slots.clear();
        self.slots.try_reserve_exact(count).map_err(|_| out_of_memory::<u32>(count))?;
        self.slots.resize(count, 0);
        for (number, node) in (1..).zip(&self.nodes) {
            let slot = self.slot(node.bucket);
            self.slots[slot] = number;
        }
        Ok(())
    }

    /// Moves a fingerprint into every node from the free one back to a root, and the new fingerprint into the root.
    fn shift<B: Buckets>(&self, buckets: B, blocks: &mut [Block], free: Node, fingerprint: u32) {
        let mut node = free;
        // In the first bucket the new one takes a free place, in the others that of the one that left.
        let mut vacated = None;
        loop {
            let parent = self.nodes.get(node.parent as usize).copied();
            let arriving = parent.map_or(fingerprint, |parent| {
                buckets.all(blocks, buckets.locate(parent.bucket))[node.lane as usize]
            });
            let at = buckets.locate(node.bucket);
            match vacated {
                None => {
                    let free = buckets.free(blocks, at);
                    buckets.put(blocks, at, free, arriving);
                }
                Some(lane) => {
                    let mut entries = buckets.all(blocks, at);
                    entries[lane as usize] = arriving;
                    buckets.set_all(blocks, at, &entries);
                }
            }
            vacated = Some(node.lane);
            match parent {
                Some(parent) => node = parent,
                None => return,
            }
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let mut nodes = core::mem::take(&mut self.nodes);
        nodes.clear();
        spare::put(nodes);
    }
}

/// The memory of the last search of a thread. (To allocate it for each search took a fifth to a half of the time of inserts
/// near the planned load.)
#[cfg(feature = "std")]
mod spare {
    use super::Node;
    use alloc::vec::Vec;
    use core::cell::Cell;

    /// More than the 500 kicks from each of two buckets that are the default.
    const MOST: usize = 1024;

    std::thread_local! {
        static NODES: Cell<Vec<Node>> = const { Cell::new(Vec::new()) };
    }

    #[inline(always)]
    pub(super) fn take() -> Vec<Node> {
        NODES.try_with(Cell::take).unwrap_or_default()
    }

    #[inline(always)]
    pub(super) fn put(nodes: Vec<Node>) {
        if nodes.capacity() <= MOST {
            // At the end of a thread there is nobody to keep it.
            let _ = NODES.try_with(|spare| spare.set(nodes));
        }
    }
}

/// Without threads to keep it, each search takes its own.
#[cfg(not(feature = "std"))]
mod spare {
    use super::Node;
    use alloc::vec::Vec;

    pub(super) fn take() -> Vec<Node> {
        Vec::new()
    }

    pub(super) fn put(_: Vec<Node>) {}
}

fn out_of_memory<T>(count: usize) -> AllocError {
    AllocError { bytes: (count * size_of::<T>()) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_tree_has_each_bucket_once() {
        // Buckets in a row, with equal low bits, with equal high bits, and of a table of a few.
        for (step, buckets) in [(1u64, 3_000u64), (512, 3_000), (1 << 40, 3_000), (1, 5), (7, 200)] {
            let (mut tree, mut model, mut state) = (Tree::new().unwrap(), HashSet::new(), 1u64);
            for number in 0..20_000u32 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let bucket = (state >> 33) % buckets * step;
                let node = Node { bucket, parent: number, lane: 0 };
                assert_eq!(tree.add(node).unwrap(), model.insert(bucket), "{bucket}");
            }
            assert_eq!(tree.nodes.len(), model.len());
            assert!(tree.nodes.is_sorted_by_key(|node| node.parent), "in the order in which they came");
        }
    }
}
