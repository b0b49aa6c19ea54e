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
use super::places::{Places, Spot};
use crate::bits::{AllocError, Block, prefetch_address_to_write};
use crate::filter::InsertError;

/// How far to search, and the memory it takes. Allocated at the first search, a few KiB, and kept.
#[derive(Debug)]
pub(crate) struct Search {
    max_kicks: u32,
    nodes: Vec<Node>,
    /// A bit for each bucket that is in the tree, or for several: a set bit is a reason to look through the tree. No bucket
    /// is in it twice, so every chain is free of loops. (Without the second look a table of one place in a bucket was
    /// full at 47 % instead of 50: there every chain is the only one.)
    seen: Vec<u64>,
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

/// Bits to remember a bucket by, for each bucket that may be looked at.
const SEEN_BITS: usize = 4;

impl Search {
    pub(crate) fn new(max_kicks: u32) -> Self {
        Self { max_kicks, nodes: Vec::new(), seen: Vec::new() }
    }

    pub(crate) fn max_kicks(&self) -> u32 {
        self.max_kicks
    }

    fn prepare(&mut self) -> Result<(), AllocError> {
        self.nodes.clear();
        let most = 2 * (self.max_kicks as usize + 1);
        let words = (most * SEEN_BITS).next_power_of_two().div_ceil(64);
        let error = AllocError { bytes: (most * size_of::<Node>() + words * 8) as u64 };
        self.nodes.try_reserve(most).map_err(|_| error)?;
        self.seen.clear();
        self.seen.try_reserve(words).map_err(|_| error)?;
        self.seen.resize(words, 0);
        Ok(())
    }

    /// Adds a node, unless its bucket is in the tree already.
    #[inline(always)]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a power of two of bits; cutting a number off above is no harm"
    )]
    fn add(&mut self, node: Node) -> bool {
        let bit = node.bucket as usize & (self.seen.len() * 64 - 1);
        let (word, mask) = (&mut self.seen[bit / 64], 1 << (bit % 64));
        if *word & mask != 0 && self.nodes.iter().any(|other| other.bucket == node.bucket) {
            return false;
        }
        *word |= mask;
        self.nodes.push(node);
        true
    }

    /// Puts the fingerprint of `spot`, both of whose buckets are full, into one of them by moving others.
    #[inline(never)]
    pub(super) fn make_room<B: Buckets>(
        &mut self,
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
        self.prepare().map_err(InsertError::Alloc)?;
        for bucket in [spot.first, spot.second] {
            self.add(Node { bucket, parent: ROOT, lane: 0 });
        }
        let roots = self.nodes.len();
        // So many for each of the two ways to begin.
        let most = roots * (1 + self.max_kicks as usize);
        let mut number = 0;
        while let Some(node) = self.nodes.get(number).copied() {
            let at = buckets.locate(node.bucket);
            if number >= roots && buckets.free(blocks, at) != NOWHERE {
                self.shift(buckets, blocks, node, spot.fingerprint);
                return Ok(());
            }
            let entries = buckets.all(blocks, at);
            for (lane, entry) in (0..buckets.entries()).zip(entries) {
                if self.nodes.len() == most {
                    break;
                }
                let bucket = places.other(node.bucket, entry);
                #[allow(clippy::cast_possible_truncation, reason = "below 2 · (max_kicks + 1)")]
                if self.add(Node { bucket, parent: number as u32, lane }) {
                    // Its turn comes after that of all others in the queue.
                    prefetch_address_to_write(buckets.address(blocks, buckets.place(bucket)));
                }
            }
            number += 1;
        }
        Err(InsertError::Full)
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

impl Clone for Search {
    fn clone(&self) -> Self {
        Self::new(self.max_kicks)
    }
}
