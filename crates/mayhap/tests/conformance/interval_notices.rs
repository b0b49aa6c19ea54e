//! The intervals are tight enough to notice what they are for.

use crate::interval::{Pool, assert_count, poisson_at_least, poisson_at_most};

#[test]
fn poisson_tails_are_those_of_the_tables() {
    assert!((poisson_at_most(3.0, 2) - 0.423_190).abs() < 1e-6);
    assert!((poisson_at_least(3.0, 3) - 0.576_810).abs() < 1e-6);
    assert!((poisson_at_least(0.5, 1) - 0.393_469).abs() < 1e-6);
    assert!((poisson_at_least(0.5, 0) - 1.0).abs() < 1e-15);
}

#[test]
#[should_panic(expected = "the promise")]
fn a_rate_twice_the_promise_is_noticed() {
    let mut pool = Pool::of_questions(1000);
    (0..100).for_each(|i| pool.add(18 + i % 5));
    pool.assert_at_most(0.01, "test");
}

#[test]
#[should_panic(expected = "the model")]
fn a_rate_half_the_model_is_noticed() {
    let mut pool = Pool::of_questions(1000);
    (0..100).for_each(|i| pool.add(3 + i % 5));
    pool.assert_agrees(0.01, "test");
}

#[test]
#[should_panic(expected = "too many")]
fn a_count_twice_the_expected_is_noticed() {
    assert_count(80, 1_000_000, 4e-5, 0.0, "test");
}

#[test]
#[should_panic(expected = "too few")]
fn a_count_of_nothing_is_noticed() {
    assert_count(0, 1_000_000, 2e-5, 0.0, "test");
}
