//! Union, intersection, folding.

use mayhap::MergeError;
use mayhap::filter::{Estimate, Filter, Fold, Insert, Merge};

use crate::keys::Keys;
use crate::subject::{Intersect, Resizable, Subject};

pub(crate) fn merge_is_union<S: Subject<Filter: Insert + Merge + PartialEq>>(subject: &S) {
    for keys in [1, 1_000, 50_000] {
        let seed = 31;
        let context = format!("{subject:?}, {keys} keys, seed {seed}");
        let holding = |from, to| inserted(subject.make(keys, 0.01, seed), seed, from, to);
        let (mut ours, theirs) = (holding(0, keys), holding(keys / 2, keys + keys / 2));
        ours.merge(&theirs).unwrap();
        assert!(ours == holding(0, keys + keys / 2), "{context}: the union has other bits");
        assert!(theirs == holding(keys / 2, keys + keys / 2), "{context}: the other filter was changed");
        ours.merge(&theirs).unwrap();
        ours.merge(&holding(0, 0)).unwrap();
        assert!(ours == holding(0, keys + keys / 2), "{context}: merged again, or with nothing, and changed");
        let mut nothing = holding(0, 0);
        nothing.merge(&ours).unwrap();
        assert!(nothing == ours, "{context}: nothing and something");
    }
}

pub(crate) fn clear_leaves_nothing<S: Subject<Filter: Insert + Merge + PartialEq>>(subject: &S) {
    let (seed, keys) = (32, 2_000);
    let fresh = subject.make(keys, 0.01, seed);
    let mut filter = inserted(subject.make(keys, 0.01, seed), seed, 0, keys);
    filter.clear();
    assert!(filter == fresh, "{subject:?}, seed {seed}: bits are left");
    assert!(
        Keys::of(seed).present(&filter, keys).iter().all(|hash| !filter.contains_hash(*hash)),
        "{subject:?}"
    );
    let again = inserted(filter, seed, keys, 2 * keys);
    assert!(
        again == inserted(fresh, seed, keys, 2 * keys),
        "{subject:?}, seed {seed}: used again, and other bits"
    );
}

pub(crate) fn an_empty_copy_is_empty_and_fits<S>(subject: &S)
where
    S: Subject<Filter: Insert + Merge + Estimate + PartialEq>,
{
    let (seed, keys) = (33, 2_000);
    let filter = inserted(subject.make(keys, 0.01, seed), seed, 0, keys);
    let mut copy = filter.empty_like().unwrap();
    assert!(copy == subject.make(keys, 0.01, seed), "{subject:?}, seed {seed}: not like a new one");
    assert_eq!((copy.estimated_len(), copy.len_bytes()), (0, filter.len_bytes()), "{subject:?}, seed {seed}");
    copy.merge(&filter).unwrap();
    assert!(copy == filter, "{subject:?}, seed {seed}: the copy doesn't become the filter by merging");
}

pub(crate) fn different_hashers_do_not_merge<S: Subject<Filter: Insert + Merge + PartialEq>>(subject: &S) {
    let (mut ours, theirs) = (subject.make(100, 0.01, 1), inserted(subject.make(100, 0.01, 2), 0, 0, 1));
    let key = Keys::of(0).key(0);
    // A function without a seed is the same for all seeds, and its filters may be merged.
    match ours.merge(&theirs) {
        Ok(()) => {
            assert!(ours.contains_hash(ours.hash_bytes(&key)), "{subject:?}: merged, and the key is lost");
        }
        Err(error) => {
            assert_eq!(error, MergeError::Hashers, "{subject:?}");
            assert!(
                !theirs.contains_hash(ours.hash_bytes(&key)),
                "{subject:?}: refused, though digests are equal"
            );
            assert!(ours == subject.make(100, 0.01, 1), "{subject:?}: refused, and changed all the same");
        }
    }
}

pub(crate) fn different_keys_make_unequal_filters<S: Subject<Filter: Insert + PartialEq>>(subject: &S) {
    let (seed, keys) = (34, 100_000);
    let ours = inserted(subject.make(keys, 0.01, seed), seed, 0, 1_000);
    // Keys all over the filter: each differs from the rest in some bits, and equality must look at them all.
    for number in [1_000, 1_001, 1_002, 1_003, 1_004, 1_005, 1_006, 1_007] {
        let mut theirs = inserted(subject.make(keys, 0.01, seed), seed, 0, 1_000);
        assert!(ours == theirs, "{subject:?}, seed {seed}: the same keys");
        let hash = theirs.hash_bytes(&Keys::of(seed).key(number));
        assert!(theirs.insert_hash(hash).unwrap(), "{subject:?}, seed {seed}: key {number} isn't new");
        assert!(ours != theirs, "{subject:?}, seed {seed}: one key more, and equal");
    }
}

pub(crate) fn intersection_keeps_the_common_keys<S>(subject: &S)
where
    S: Subject<Filter: Insert + Merge + Intersect + PartialEq>,
{
    for keys in [2, 3_000] {
        let seed = 35;
        let context = format!("{subject:?}, {keys} keys, seed {seed}");
        let holding = |from, to| inserted(subject.make(keys, 0.01, seed), seed, from, to);
        let (ours, theirs) = (holding(0, keys), holding(keys / 2, keys + keys / 2));
        let mut both = holding(0, keys);
        both.intersect(&theirs).unwrap();

        let mut common = holding(keys / 2, keys);
        common.merge(&both).unwrap();
        assert!(common == both, "{context}: bits of the common keys are missing");
        for (other, mut changed) in [(&ours, holding(0, keys)), (&theirs, holding(keys / 2, keys + keys / 2))]
        {
            changed.merge(&both).unwrap();
            assert!(changed == *other, "{context}: bits that one of the two hadn't");
        }
        let mut nothing = ours;
        nothing.intersect(&holding(0, 0)).unwrap();
        assert!(nothing == holding(0, 0), "{context}: something in common with nothing");
    }
}

pub(crate) fn fold_is_built_smaller<S: Resizable<Filter: Insert + Fold + PartialEq>>(subject: &S) {
    let planned = subject.size(&subject.make(20_000, 0.01, 0));
    // A size that sizing chose, ones with many divisors, a prime, and 1.
    for size in [planned, 2_520, 720, 17, 1] {
        let seed = size;
        // As many keys that the larger of the folded filters are neither empty nor full.
        let keys = size.min(2_000);
        for factor in (1..=size).filter(|factor| size.is_multiple_of(*factor)) {
            let mut folded = inserted(subject.of_size(size, seed), seed, 0, keys);
            folded.fold(factor).unwrap();
            let small = inserted(subject.of_size(size / factor, seed), seed, 0, keys);
            assert!(folded == small, "{subject:?}, size {size} folded by {factor}, seed {seed}: other bits");
        }
    }
}

pub(crate) fn merge_folds_the_larger_one<S>(subject: &S)
where
    S: Resizable<Filter: Insert + Fold + Merge + PartialEq>,
{
    const SIZE: u64 = 2_520;
    let (seed, keys) = (36, 600);
    for factor in (1..=SIZE).filter(|factor| SIZE.is_multiple_of(*factor)) {
        let context = format!("{subject:?}, sizes {SIZE} and {SIZE} / {factor}, seed {seed}");
        let large = || inserted(subject.of_size(SIZE, seed), seed, 0, keys);
        let small = || inserted(subject.of_size(SIZE / factor, seed), seed, keys / 2, 2 * keys);
        let union = inserted(subject.of_size(SIZE / factor, seed), seed, 0, 2 * keys);
        let (mut into_large, mut into_small) = (large(), small());
        into_large.merge(&small()).unwrap();
        into_small.merge(&large()).unwrap();
        assert!(into_large == union, "{context}: merged into the large one, other bits");
        assert!(into_small == union, "{context}: merged into the small one, other bits");
    }

    // What a merged filter promises it must be able to keep, whichever way it was merged.
    let planned = || subject.make(50_000, 0.01, seed);
    let factor = (2..20).find(|factor| subject.size(&planned()).is_multiple_of(*factor)).unwrap();
    let (mut into_large, mut into_small, mut small) = (planned(), planned(), planned());
    into_small.fold(factor).unwrap();
    small.fold(factor).unwrap();
    into_large.merge(&small).unwrap();
    into_small.merge(&planned()).unwrap();
    for merged in [&into_large, &into_small] {
        let (keys, rate) = subject.plan(merged);
        let model = subject.modelled_rate(merged, keys);
        assert!(
            model <= rate,
            "{subject:?}, folded by {factor}: {keys} keys are promised {rate}, and get {model}"
        );
    }
    assert_eq!(subject.plan(&into_large), subject.plan(&into_small), "{subject:?}: two ways, two plans");

    let (mut ours, theirs) = (inserted(subject.of_size(12, seed), seed, 0, 10), subject.of_size(18, seed));
    assert!(matches!(ours.merge(&theirs), Err(MergeError::Sizes { .. })), "{subject:?}: 12 and 18 don't fit");
    assert!(
        ours == inserted(subject.of_size(12, seed), seed, 0, 10),
        "{subject:?}: refused, and changed all the same"
    );
}

pub(crate) fn fold_to_rate_goes_as_far_as_it_can<S>(subject: &S)
where
    S: Resizable<Filter: Insert + Fold + Estimate + PartialEq>,
{
    let seed = 37;
    for (planned, keys, rate) in
        [(100_000, 3_000, 0.01), (100_000, 50, 0.1), (10_000, 10_000, 0.01), (500, 0, 0.5)]
    {
        let context = format!("{subject:?}, {keys} keys in a filter for {planned}, to {rate}, seed {seed}");
        let mut filter = inserted(subject.make(planned, rate, seed), seed, 0, keys);
        // Who folds an empty filter wants to add something later.
        let (estimate, size) = (filter.estimated_len().max(1), subject.size(&filter));
        let factor = subject.fold_to_rate(&mut filter, rate).unwrap();

        let fits = |factor: &u64| {
            let mut folded = subject.make(planned, rate, seed);
            folded.fold(*factor).unwrap();
            subject.modelled_rate(&folded, estimate) <= rate
        };
        let largest =
            (1..=size).filter(|factor| size.is_multiple_of(*factor)).filter(fits).max().unwrap_or(1);
        assert_eq!(factor, largest, "{context}: the factor");
        assert_eq!(subject.size(&filter), size / factor, "{context}: the size");
        let mut folded = inserted(subject.make(planned, rate, seed), seed, 0, keys);
        folded.fold(factor).unwrap();
        assert!(filter == folded, "{context}: not what fold makes");
        assert!(!filter.is_over_plan(), "{context}: over plan at once");
        let (promised_keys, promised_rate) = subject.plan(&filter);
        let model = subject.modelled_rate(&filter, promised_keys);
        assert!(
            model <= promised_rate,
            "{context}: {promised_keys} keys are promised {promised_rate}, and get {model}"
        );

        let mut kept = inserted(subject.make(planned, rate, seed), seed, 0, keys);
        for impossible in [1e-30, 0.0, -1.0, f64::NAN] {
            assert_eq!(
                subject.fold_to_rate(&mut kept, impossible).unwrap_or(1),
                1,
                "{context}, to {impossible}"
            );
            assert_eq!(subject.size(&kept), size, "{context}, to {impossible}");
        }
    }
}

pub(crate) fn a_fold_that_does_not_divide_is_refused<S: Resizable<Filter: Insert + Fold + PartialEq>>(
    subject: &S,
) {
    let seed = 38;
    for (size, factors) in [(12, [0, 5, 7, 13, 24, u64::MAX]), (17, [0, 2, 16, 18, 1 << 32, (1 << 32) + 1])] {
        for factor in factors {
            let mut filter = inserted(subject.of_size(size, seed), seed, 0, 10);
            let refused = filter.fold(factor);
            assert_eq!(refused, Err(MergeError::Factor { factor, size }), "{subject:?}");
            let same = filter == inserted(subject.of_size(size, seed), seed, 0, 10);
            assert!(same, "{subject:?}, {size} by {factor}: refused, and changed all the same");
        }
    }
}

fn inserted<F: Insert>(mut filter: F, seed: u64, from: u64, to: u64) -> F {
    let hashes = Keys::of(seed).hashes(&filter, from..to);
    filter.insert_hashes(&hashes, &mut vec![false; hashes.len()]).unwrap();
    filter
}
