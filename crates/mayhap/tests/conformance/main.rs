//! One suite for every filter: what all of them promise, checked in the same way.
//!
//! A check is a function that is generic over the capability traits of [`mayhap::filter`]; a filter is a
//! [`Subject`]: how to make one, and what the model of `sizing` says of it. The list below brings the two
//! together. To put a new kind of filter through the suite, implement `Subject` for it and add a line with
//! what it can do:
//!
//! | capability | needs | checks |
//! |---|---|---|
//! | `membership` | `Insert` | no false negatives; batch = one by one; keys = their digests; "new" answers |
//! | `refuse` | `Insert` | what a batch says of the keys that a full filter refuses |
//! | `rate` | `Insert`, `Estimate` | measured rate against the promise and the model, at 1, 10, 1 000 and 1 000 000 keys |
//! | `brim` | `Limited` | small filters that hold all they promise to hold |
//! | `estimate` | `Estimate`, `Estimated` | number of keys, rate from the bits, over plan or not |
//! | `estimate_with_room` | `Estimate` | rate from the bits, for filters that can be full |
//! | `combine` | `Merge` | merge = union, clear, empty copies |
//! | `intersect` | `Intersect` | intersection |
//! | `fold` | `Fold`, `Resizable` | fold = built smaller, merge of different sizes |
//! | `combine_copies`, `fold_copies` | `Merge`, `Fold` | the same where copies of a key count: merge = sum |
//! | `extend` | `Extend` | extend = insert |
//! | `bulk` | `Bulk` | bulk = one by one |
//! | `removal` | `Remove`, `Count`, `Persist` | keys that come and go, beside a map of their counts; batch = one by one |
//! | `persist` | `Persist`, `Files` | bytes, streams, files, maps and views; damage of every kind refused |
//!
//! Seeds are fixed and stand in every message, so a failure is the same on every machine. The intervals of
//! the statistical checks are stated in [`interval`]. All of it takes 50 seconds on two cores in the profile
//! `test-release`.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a check that panics has failed, and the numbers here are small"
)]

mod bulk;
mod combine;
mod counting;
mod cuckoo;
mod d_left;
mod damage;
mod dual;
mod estimate;
mod hostile;
mod interval;
mod interval_notices;
mod kernels;
mod keys;
mod membership;
mod persist;
mod rate;
mod removal;
mod scalable;
mod secrets;
mod subject;
mod window;

use counting::Counting;
use cuckoo::{Cuckoo, GrowingCuckoo};
use d_left::DLeft;
use dual::Dual;
use mayhap::Growth;
use mayhap::bloom::Shape;
use mayhap::counting::{CounterShape, CounterWidth};
use mayhap::cuckoo::CuckooLayout;
use scalable::{Growing, OneLayer};
use subject::{Blocked, Classic, Hashing, SharedBlocked, SharedClassic};
use window::{WindowByCount, WindowByTime};

/// Puts filters through the suite: one module of tests for each.
macro_rules! conformance {
    ($($name:ident: $subject:expr => [$($capability:ident),* $(,)?];)*) => {$(
        mod $name {
            use super::*;
            $(conformance! { @ $capability $subject })*
        }
    )*};

    (@ membership $subject:expr) => { conformance! { # membership $subject => [
        no_false_negatives, batch_is_one_by_one, keys_are_their_digests, every_answer_of_insert_is_right,
        new_answers_fall_short_by_the_false_positives,
    ] } };
    (@ refuse $subject:expr) => { conformance! { # membership $subject => [keys_that_are_refused_are_not_new] } };
    (@ rate $subject:expr) => { conformance! { # rate $subject => [
        one_key, ten_keys, a_thousand_keys, a_million_keys,
    ] } };
    (@ brim $subject:expr) => { conformance! { # rate $subject => [small_filters_full_to_the_brim] } };
    (@ estimate $subject:expr) => { conformance! { # estimate $subject => [
        length_is_within_its_standard_error, rate_from_the_bits_is_the_measured_one,
        rate_from_the_bits_is_the_modelled_one_on_average, over_plan_is_told_and_not_too_early, empty_and_filling,
    ] } };
    (@ estimate_with_room $subject:expr) => { conformance! { # estimate $subject => [
        rate_from_the_bits_is_the_measured_one, rate_from_the_bits_is_the_modelled_one_on_average,
    ] } };
    (@ combine $subject:expr) => { conformance! { # combine $subject => [
        merge_is_union, clear_leaves_nothing, an_empty_copy_is_empty_and_fits, different_hashers_do_not_merge,
        different_keys_make_unequal_filters,
    ] } };
    (@ intersect $subject:expr) => { conformance! { # combine $subject => [intersection_keeps_the_common_keys] } };
    (@ fold $subject:expr) => { conformance! { # combine $subject => [
        fold_is_built_smaller, merge_folds_the_larger_one, fold_to_rate_goes_as_far_as_it_can,
        a_fold_that_does_not_divide_is_refused,
    ] } };
    (@ combine_copies $subject:expr) => {
        conformance! { # counting $subject => [merge_is_the_sum] }
        conformance! { # combine $subject => [
            clear_leaves_nothing, an_empty_copy_is_empty_and_fits, different_hashers_do_not_merge,
            different_keys_make_unequal_filters,
        ] }
    };
    (@ fold_copies $subject:expr) => {
        conformance! { # counting $subject => [merge_folds_and_adds_up] }
        conformance! { # combine $subject => [
            fold_is_built_smaller, fold_to_rate_goes_as_far_as_it_can, a_fold_that_does_not_divide_is_refused,
        ] }
    };
    (@ extend $subject:expr) => { conformance! { # membership $subject => [extend_is_insert] } };
    (@ bulk $subject:expr) => { conformance! { # bulk $subject => [bulk_is_one_by_one] } };
    (@ removal $subject:expr) => { conformance! { # removal $subject => [
        no_false_negatives_while_keys_come_and_go, removes_in_a_batch_are_one_by_one,
        removing_what_is_not_there_changes_nothing,
    ] } };
    (@ persist $subject:expr) => {
        conformance! { # persist $subject => [every_road_gives_the_same_filter] }
        conformance! { # damage $subject => [
            every_flipped_header_bit_is_refused, every_flipped_body_byte_is_refused, every_truncation_is_refused,
            a_trailing_byte_is_refused,
        ] }
    };

    (# $module:ident $subject:expr => [$($check:ident),* $(,)?]) => {$(
        #[test]
        fn $check() {
            $module::$check(&$subject);
        }
    )*};
}

conformance! {
    blocked: Blocked::planned() =>
        [membership, rate, brim, estimate, combine, intersect, fold, extend, bulk, persist];
    blocked_four: Blocked::shaped(Shape::Four) =>
        [membership, rate, brim, estimate, combine, intersect, fold, extend, bulk, persist];
    blocked_eight: Blocked::shaped(Shape::Eight) =>
        [membership, rate, brim, estimate, combine, intersect, fold, extend, bulk, persist];
    blocked_sixteen: Blocked::shaped(Shape::Sixteen) =>
        [membership, rate, brim, estimate, combine, intersect, fold, extend, bulk, persist];
    blocked_sixteen_two_lines: Blocked::shaped(Shape::SixteenTwoLines) =>
        [membership, rate, brim, estimate, combine, intersect, fold, extend, bulk, persist];

    // The portable code sets the same bits and gives the same answers (see `kernels`), so its
    // rates are measured in one shape only.
    portable: Blocked::planned().portable() =>
        [membership, rate, brim, estimate, combine, intersect, fold, extend, bulk, persist];
    portable_four: Blocked::shaped(Shape::Four).portable() =>
        [membership, estimate, combine, intersect, fold, extend, bulk, persist];
    portable_eight: Blocked::shaped(Shape::Eight).portable() =>
        [membership, estimate, combine, intersect, fold, extend, bulk, persist];
    portable_sixteen: Blocked::shaped(Shape::Sixteen).portable() =>
        [membership, estimate, combine, intersect, fold, extend, bulk, persist];
    portable_sixteen_two_lines: Blocked::shaped(Shape::SixteenTwoLines).portable() =>
        [membership, estimate, combine, intersect, fold, extend, bulk, persist];

    blocked_sip13: Blocked::planned().hashing(Hashing::Sip13) =>
        [membership, rate, brim, estimate, combine, intersect, fold, extend, bulk, persist];
    blocked_custom: Blocked::planned().hashing(Hashing::Custom) =>
        [membership, rate, brim, estimate, combine, intersect, fold, extend, bulk, persist];

    shared: SharedBlocked(Blocked::planned()) => [membership, rate, brim, estimate];
    shared_four: SharedBlocked(Blocked::shaped(Shape::Four)) => [membership, estimate];
    shared_eight: SharedBlocked(Blocked::shaped(Shape::Eight)) => [membership, estimate];
    shared_sixteen: SharedBlocked(Blocked::shaped(Shape::Sixteen)) => [membership, estimate];
    shared_sixteen_two_lines: SharedBlocked(Blocked::shaped(Shape::SixteenTwoLines)) => [membership, estimate];
    shared_portable: SharedBlocked(Blocked::planned().portable()) => [membership, estimate];
    shared_sip13: SharedBlocked(Blocked::planned().hashing(Hashing::Sip13)) => [membership, estimate];

    classic: Classic::planned() =>
        [membership, rate, brim, estimate, combine, intersect, fold, extend, persist];
    classic_sip13: Classic::planned().hashing(Hashing::Sip13) =>
        [membership, rate, brim, estimate, combine, intersect, fold, extend, persist];
    classic_custom: Classic::planned().hashing(Hashing::Custom) =>
        [membership, rate, brim, estimate, combine, intersect, fold, extend, persist];
    shared_classic: SharedClassic(Classic::planned()) => [membership, rate, brim, estimate];
    shared_classic_sip13: SharedClassic(Classic::planned().hashing(Hashing::Sip13)) => [membership, estimate];

    counting_four_bits: Counting::planned(CounterWidth::Four) =>
        [membership, removal, rate, brim, estimate, combine_copies, fold_copies, extend, persist];
    counting_eight_bits: Counting::planned(CounterWidth::Eight) =>
        [membership, removal, rate, estimate, combine_copies, fold_copies, extend, persist];
    counting_sixteen_bits: Counting::planned(CounterWidth::Sixteen) =>
        [membership, removal, rate, estimate, combine_copies, fold_copies, extend, persist];
    counting_two_lines: Counting::planned(CounterWidth::Four).shaped(CounterShape::EightTwoLines) =>
        [membership, removal, rate, brim, estimate, combine_copies, fold_copies, extend, persist];
    counting_portable: Counting::planned(CounterWidth::Four).portable() =>
        [membership, removal, estimate, combine_copies, fold_copies, extend, persist];
    counting_sip13: Counting::planned(CounterWidth::Four).hashing(Hashing::Sip13) =>
        [membership, removal, rate, estimate, persist];
    dual_bloom: Dual(Hashing::Xxh3) => [membership, rate, combine, persist];
    dual_bloom_sip13: Dual(Hashing::Sip13) => [membership, persist];
    scalable_growing: Growing(Hashing::Xxh3) => [membership, rate, persist];
    scalable_growing_sip13: Growing(Hashing::Sip13) => [membership, persist];
    scalable_of_one_layer: OneLayer(Growth::Saturate) => [membership, rate, estimate, persist];
    scalable_that_refuses: OneLayer(Growth::Refuse) => [refuse];
    window_by_time: WindowByTime(Hashing::Xxh3) => [membership, rate, estimate, combine, extend, persist];
    window_by_time_sip13: WindowByTime(Hashing::Sip13) => [membership, persist];
    window_by_count: WindowByCount => [rate, extend, persist];
    d_left_planned: DLeft::planned() => [rate, refuse, persist];
    d_left_with_room: DLeft::planned().with_room() => [membership, removal, estimate_with_room];
    d_left_wide_counters: DLeft::planned().counter_bits(8).with_room() => [membership, removal, persist];
    d_left_sip13: DLeft::planned().hashing(Hashing::Sip13).with_room() => [membership, persist];
    cuckoo_planned: Cuckoo::planned() => [rate, refuse, persist];
    cuckoo_with_room: Cuckoo::planned().with_room() => [membership, removal];
    cuckoo_sixteen_bits: Cuckoo::planned().layout(CuckooLayout::new(4, 16)).with_room() => [membership, removal, persist];
    cuckoo_single_places: Cuckoo::planned().layout(CuckooLayout::new(1, 12)).with_room() => [removal];
    cuckoo_pairs: Cuckoo::planned().layout(CuckooLayout::new(2, 12)).with_room() => [removal];
    cuckoo_wide_buckets: Cuckoo::planned().layout(CuckooLayout::new(8, 13)).with_room() => [removal];
    cuckoo_semi_sorted: Cuckoo::planned().layout(CuckooLayout::semi_sorted(13)).with_room() => [removal];
    cuckoo_sip13: Cuckoo::planned().hashing(Hashing::Sip13).with_room() => [membership, removal, persist];
    scalable_cuckoo: GrowingCuckoo(Hashing::Xxh3) => [membership, removal, rate, persist];
    scalable_cuckoo_sip13: GrowingCuckoo(Hashing::Sip13) => [membership, persist];
}
