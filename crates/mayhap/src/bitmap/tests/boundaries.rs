//! One number at a time, at every edge.

use std::format;
use std::string::ToString;
use std::vec::Vec;

use super::super::Bitmap;
use super::{EDGES, both};
use crate::error::Error;
use crate::filter::InsertError;
use crate::sizing::SizingError;

#[test]
fn every_edge_is_set_got_and_cleared_in_the_sparse_form() {
    let mut bitmap = Bitmap::sparse();
    for (i, number) in EDGES.into_iter().enumerate() {
        assert!(!bitmap.contains(number));
        assert_eq!(bitmap.insert(number), Ok(true), "{number}");
        assert_eq!(bitmap.insert(number), Ok(false), "{number}");
        assert!(bitmap.contains(number));
        assert_eq!(bitmap.len(), i as u64 + 1);
        assert_eq!(bitmap.rank(number), i as u64 + 1);
        assert_eq!(bitmap.range_len(number..=number), 1);
    }
    assert!(bitmap.iter().eq(EDGES));
    for (i, number) in EDGES.into_iter().enumerate() {
        assert!(bitmap.range(number..).eq(EDGES[i..].iter().copied()), "from {number}");
        assert!(bitmap.range(..=number).eq(EDGES[..=i].iter().copied()), "up to {number}");
        let near = number.saturating_sub(3)..=number.saturating_add(3);
        let free: Vec<u64> = near.clone().filter(|number| !EDGES.contains(number)).collect();
        assert!(bitmap.missing(near).eq(free), "around {number}");
    }
    for number in EDGES {
        assert!(bitmap.remove(number) && !bitmap.remove(number) && !bitmap.contains(number));
    }
    assert!(bitmap.is_empty());
    assert!(bitmap == Bitmap::sparse());
}

#[test]
fn every_small_universe_ends_where_it_should() {
    for universe in [1, 2, 63, 64, 65, 511, 512, 513, 1000, 65_535, 65_536, 65_537, 131_072] {
        for mut bitmap in both(universe, &[]) {
            assert_eq!(bitmap.universe(), Some(universe));
            assert!(bitmap.missing(..).eq(0..universe));
            assert!(bitmap.missing(universe - 1..universe + 3).eq(universe - 1..universe + 3));
            assert_eq!(bitmap.insert_range(..), Ok(universe));
            assert_eq!(bitmap.len(), universe);
            assert!(bitmap.iter().eq(0..universe));
            assert_eq!(bitmap.missing(..).next(), None);
            assert!(bitmap.missing(..universe + 2).eq([universe, universe + 1]));
            assert_eq!(bitmap.range_len(..), universe);
            assert_eq!(bitmap.range_len(universe..), 0);
            assert_eq!(bitmap.range_len(universe..=u64::MAX), 0);
            assert_eq!(bitmap.remove_range(1..universe + 9), universe - 1);
            assert!(bitmap.iter().eq([0]));
            assert_eq!(bitmap.remove_range(universe..=u64::MAX), 0);
            bitmap.clear();
            assert!(bitmap.is_empty() && bitmap.iter().next().is_none());
        }
    }
}

#[test]
fn outside_the_universe_is_an_error_and_changes_nothing() {
    for mut bitmap in both(1000, &[1, 999]) {
        let before = bitmap.clone();
        let largest = 999;
        for number in [1000, 1001, 1023, 1024, 1 << 33, u64::MAX] {
            let error = InsertError::OutOfUniverse { number, largest };
            assert_eq!(bitmap.insert(number), Err(error.clone()));
            assert_eq!(bitmap.insert_range(5..=number), Err(error.clone()));
            assert_eq!(bitmap.insert_each(&[3, number], &mut [false; 2]), Err(error.clone()));
            let mut other = Bitmap::sparse();
            other.extend([2, number]);
            assert_eq!(bitmap.merge(&other), Err(error.clone()));
            assert!(matches!(other.to_dense(1000), Err(Error::Insert(same)) if same == error));
            assert!(!bitmap.contains(number) && !bitmap.remove(number));
        }
        assert!(bitmap == before);
        let message = "the number 1000 is outside the bitmap, which holds 0 to 999: make one with a larger universe, or a sparse one";
        assert_eq!(bitmap.insert(1000).unwrap_err().to_string(), message);

        // Extending can't fail, so it lifts the universe.
        bitmap.extend([5, u64::MAX]);
        assert!(bitmap.iter().eq([1, 5, 999, u64::MAX]));
        assert_eq!((bitmap.universe(), bitmap.len()), (None, 4));
    }
}

#[test]
fn impossible_sizes_are_errors() {
    assert!(matches!(Bitmap::dense(0), Err(Error::Sizing(SizingError::EmptyUniverse))));
    assert!(matches!(Bitmap::new(0, 5), Err(Error::Sizing(SizingError::EmptyUniverse))));
    for universe in [u64::MAX, 1 << 63 | 1] {
        let error = Bitmap::dense(universe).unwrap_err();
        assert!(matches!(error, Error::Sizing(SizingError::UniverseTooLarge { .. })), "{error}");
        assert!(error.to_string().contains("make a sparse bitmap"), "{error}");
    }
    assert!(matches!(Bitmap::dense(1 << 60), Err(Error::Alloc(_))));
    // The sparse form of the same universe is possible.
    assert!(Bitmap::new(u64::MAX, 1000).is_ok());
}

#[test]
fn ranges_beyond_memory_are_refused() {
    let mut bitmap = Bitmap::sparse();
    bitmap.extend([3, 1 << 40]);
    for range in [10..=u64::MAX, 0..=u64::MAX, 1 << 20..=1 << 62] {
        let error = bitmap.insert_range(range).unwrap_err();
        assert!(matches!(error, InsertError::Alloc(_)), "{error}");
        assert!(bitmap.iter().eq([3, 1 << 40]), "nothing is changed");
    }
    assert!(bitmap.insert_range(10..).is_err());
    // What there is room for, across maps and above what is taken without asking.
    assert_eq!(bitmap.insert_range((1 << 32) - 5..(1 << 32) + (1 << 31)), Ok(5 + (1 << 31)));
    assert!(bitmap.len_bytes() < 4 << 20, "{}", bitmap.len_bytes());
}

#[test]
fn the_forms_are_chosen_by_size() {
    assert!(Bitmap::new(1_000_000, 1_000_000).unwrap().is_dense());
    assert!(Bitmap::new(1_000_000, 100_000).unwrap().is_dense());
    assert!(!Bitmap::new(1 << 32, 1_000_000).unwrap().is_dense());
    assert!(!Bitmap::new(1_000_000_000_000, 10).unwrap().is_dense());

    // Half of a universe at random is dense; a run of it, or a few, isn't. There and back.
    let mut bitmap = Bitmap::dense(10_000_000).unwrap();
    bitmap.extend(super::random(5_000_000, 1).into_iter().map(|number| number % 10_000_000));
    let (copy, len) = (bitmap.clone(), bitmap.len());
    bitmap.optimize().unwrap();
    assert!(bitmap.is_dense() && bitmap == copy);
    let mut sparse = bitmap.to_sparse();
    assert!(sparse == bitmap && sparse.len() == len);
    sparse.largest = 9_999_999;
    sparse.optimize().unwrap();
    assert!(sparse.is_dense() && sparse == copy);
    bitmap.clear();
    bitmap.insert_range(70_000..9_000_000).unwrap();
    bitmap.optimize().unwrap();
    assert!(!bitmap.is_dense() && bitmap.len_bytes() < 10_000, "{}", bitmap.len_bytes());
    assert_eq!((bitmap.len(), bitmap.universe()), (8_930_000, Some(10_000_000)));
    assert!(bitmap.missing(60_000..80_000).eq(60_000..70_000));
}

#[test]
fn debug_dumps_nothing() {
    let [dense, sparse] = both(1000, &[1, 2, 3]);
    assert_eq!(format!("{dense:?}"), "Bitmap { form: dense, largest: 999, len: 3, .. }");
    assert_eq!(format!("{sparse:?}"), "Bitmap { form: sparse, largest: 999, len: 3, .. }");
    assert_eq!(format!("{:?} {:?}", dense.iter(), sparse.missing(..)), "Iter(..) Missing(..)");
}

/// The dense form above 2³³: half a gigabyte of address space, of which a few pages are touched.
#[test]
fn dense_above_two_to_the_33() {
    let numbers = [0, (1 << 32) - 1, 1 << 32, (1 << 33) - 1, 1 << 33, (1 << 33) + 1, (1 << 33) + 999];
    let mut bitmap = Bitmap::dense((1 << 33) + 1000).unwrap();
    for number in numbers {
        assert_eq!(bitmap.insert(number), Ok(true));
    }
    for number in numbers {
        assert!(bitmap.contains(number));
        assert_eq!(bitmap.range_len(number..=number), 1);
        assert!(!bitmap.contains(number ^ 1 << 20), "no bit of a 32-bit index");
    }
    assert_eq!(bitmap.len(), 7);
    assert!(bitmap.insert((1 << 33) + 1000).is_err());
    assert!(bitmap.range((1 << 32) - 5..(1 << 32) + 5).eq([(1 << 32) - 1, 1 << 32]));
    assert!(bitmap.missing((1 << 33) - 2..(1 << 33) + 3).eq([(1 << 33) - 2, (1 << 33) + 2]));
    assert!(bitmap.remove(1 << 33) && !bitmap.contains(1 << 33) && bitmap.contains((1 << 33) + 1));
}
