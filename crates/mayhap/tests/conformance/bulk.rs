//! Very many keys at once, on several threads.

use mayhap::bloom::Shape;
use mayhap::filter::{Filter, Insert};
use mayhap::{BloomFilter, Digest};

use crate::keys::Keys;
use crate::subject::{Blocked, Subject};

/// Filters that can be built in bulk.
pub(crate) trait Bulk: Filter<Hash = Digest> {
    fn insert_bulk(&mut self, digests: &[Digest], threads: usize);
    fn extend_bulk(&mut self, digests: &[Digest], threads: usize);
}

impl Bulk for BloomFilter {
    fn insert_bulk(&mut self, digests: &[Digest], threads: usize) {
        BloomFilter::insert_bulk(self, digests, threads);
    }
    fn extend_bulk(&mut self, digests: &[Digest], threads: usize) {
        BloomFilter::extend_bulk(self, digests.iter().copied(), threads);
    }
}

pub(crate) fn bulk_is_one_by_one<S: Subject<Filter: Bulk + Insert + PartialEq>>(subject: &S) {
    // Large enough that the filter is filled part by part: 2.5 MB are five parts, or three in each of two
    // halves.
    const KEYS: u64 = 2_000_000;
    let seed = 41;
    let make = || {
        // Not from nothing: what was there must stay.
        let mut filter = subject.make(KEYS, 0.01, seed);
        let before = Keys::of(seed).absent(&filter, 1_000);
        filter.insert_hashes(&before, &mut [false; 1_000]).unwrap();
        filter
    };
    let hashes = Keys::of(seed).present(&make(), KEYS);
    let blocks = (make().len_bytes() / 64) as usize;
    // All in one part, and at the edges of all of them.
    let crowded: Vec<Digest> = (0..300_000).map(|i| Digest::new(i << 30)).collect();
    let edges = (0..300_000u64).map(|i| Digest::new(((i % 64) << 58).wrapping_sub(i % 3)));
    let edges: Vec<Digest> = edges.chain([Digest::new(0), Digest::new(u64::MAX)]).collect();

    for (name, digests) in [
        ("all keys", &hashes[..]),
        ("as many keys as blocks", &hashes[..blocks]),
        ("one key less than blocks", &hashes[..blocks - 1]),
        ("three keys", &hashes[..3]),
        ("no key", &[]),
        ("one part", &crowded),
        ("edges", &edges),
    ] {
        let mut expected = make();
        for digest in digests {
            expected.insert_hash(*digest).unwrap();
        }
        for threads in [0, 1, 2, 3] {
            let context = format!("{subject:?}, seed {seed}, {name}, {threads} threads");
            let mut filter = make();
            filter.insert_bulk(digests, threads);
            assert!(filter == expected, "{context}: other bits");
            if threads == 2 {
                let mut filter = make();
                filter.extend_bulk(digests, threads);
                assert!(filter == expected, "{context}, from an iterator: other bits");
            }
        }
    }
}

/// More digests than are sorted at a time (2²⁴), so that what is kept from one round to the next is used
/// again.
#[test]
fn more_than_one_round() {
    const KEYS: u64 = (1 << 24) + 1_200_000;
    let seed = 42;
    for shape in [Shape::Eight, Shape::SixteenTwoLines] {
        let make = || Blocked::shaped(shape).make(KEYS, 0.1, seed);
        let hashes = Keys::of(seed).present(&make(), KEYS);
        let (mut expected, mut filter) = (make(), make());
        expected.extend(hashes.iter().copied());
        filter.insert_bulk(&hashes, 2);
        assert!(filter == expected, "{shape:?}, seed {seed}: other bits");
        filter.clear();
        filter.extend_bulk(hashes, 3);
        assert!(filter == expected, "{shape:?}, seed {seed}, from an iterator: other bits");
    }
}

/// Piece by piece, on threads of the caller's.
#[test]
fn nothing_sorted_changes_nothing() {
    let mut filter = BloomFilter::with_rate(2_000_000, 0.01).expect("a filter of a few parts");
    filter.insert_sorted::<&mut mayhap::bloom::BulkSorter>(&mut [], 2);
    let mut sorter = filter.bulk_sorter(10);
    filter.insert_sorted(&mut [&mut sorter], 2);
    assert!(filter.fill_ratio() == 0.0);
}

#[test]
fn sorted_elsewhere_is_one_by_one() {
    const KEYS: u64 = 1_000_000;
    let seed = 43;
    for shape in [Shape::Four, Shape::Eight, Shape::Sixteen, Shape::SixteenTwoLines] {
        let make = |keys| Blocked::shaped(shape).make(keys, 0.1, seed);
        let mut expected = make(KEYS);
        let hashes = Keys::of(seed).present(&expected, KEYS);
        expected.extend(hashes.iter().copied());

        let mut filter = make(KEYS);
        // One with too little room, one with room to spare, and one that was made for another filter.
        let mut sorters =
            [filter.bulk_sorter(10), filter.bulk_sorter(KEYS as usize), make(KEYS / 3).bulk_sorter(0)];
        for (number, piece) in hashes.chunks(777).enumerate() {
            sorters[number % 3].push(piece);
        }
        assert_eq!(sorters.iter().map(mayhap::bloom::BulkSorter::len).sum::<usize>(), KEYS as usize);
        for threads in [2, 0, 1] {
            // The second time and the third there is nothing left to add.
            filter.insert_sorted(&mut sorters.each_mut(), threads);
            assert!(filter == expected, "{shape:?}, seed {seed}, {threads} threads: other bits");
            assert!(sorters.iter().all(mayhap::bloom::BulkSorter::is_empty));
        }
    }
}
