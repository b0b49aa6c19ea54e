//! [`WindowBloom`], by time and by count.
//!
//! The suite knows no time. By time, all of its keys fall into the first slot, which is planned for them; by count they
//! go through the slots, and are few enough that none is forgotten. What is forgotten, and when, is tested beside the
//! filter.

use mayhap::{ReadOptions, WindowBloom, sizing};

use crate::subject::{Estimated, Hashing, Readable, Subject};

/// A window of which the suite sees one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowByTime(pub(crate) Hashing);

impl Subject for WindowByTime {
    type Filter = WindowBloom;

    fn maker(&self, keys: u64, rate: f64) -> impl Fn(u64) -> WindowBloom {
        let builder = WindowBloom::builder().window(60).generations(4).keys(keys).rate(rate).burst(4.0);
        let hashing = self.0;
        move |seed| builder.clone().hasher(hashing.hasher(seed)).build().unwrap()
    }

    fn modelled_rate(&self, filter: &WindowBloom, keys: u64) -> f64 {
        let generation = generation(filter);
        sizing::blocked::rate(generation.shape(), keys, generation.blocks())
    }
}

impl Estimated for WindowByTime {
    fn standard_error(&self, filter: &WindowBloom, keys: u64) -> f64 {
        let generation = generation(filter);
        sizing::blocked::standard_error(generation.shape(), keys, generation.blocks())
    }
}

impl Readable for WindowByTime {
    fn read_options(&self, seed: u64) -> ReadOptions {
        self.0.read_options(seed)
    }
}

/// A window of as many insertions as a check plans keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowByCount;

impl Subject for WindowByCount {
    type Filter = WindowBloom;

    fn maker(&self, keys: u64, rate: f64) -> impl Fn(u64) -> WindowBloom {
        let builder = WindowBloom::builder().keys(keys).rate(rate).generations(keys.min(4) as u32);
        move |seed| builder.clone().hasher(Hashing::Xxh3.hasher(seed)).build().unwrap()
    }

    /// Generations hold different keys, and so err independently.
    fn modelled_rate(&self, filter: &WindowBloom, keys: u64) -> f64 {
        let (window, slots) = (filter.window(), u64::from(filter.generations()));
        assert!(keys <= window, "nothing is forgotten");
        let begins = |slot: u64| (slot * window).div_ceil(slots).min(keys);
        let generation = generation(filter);
        let right = |slot| {
            let keys = begins(slot + 1) - begins(slot);
            1.0 - sizing::blocked::rate(generation.shape(), keys, generation.blocks())
        };
        1.0 - (0..slots).map(right).product::<f64>()
    }
}

impl Readable for WindowByCount {
    fn read_options(&self, _seed: u64) -> ReadOptions {
        ReadOptions::new()
    }
}

/// The plan of each generation.
fn generation(filter: &WindowBloom) -> sizing::BlockedPlan {
    let (keys, rate, slots) = (filter.planned_keys(), filter.planned_rate(), filter.generations());
    let burst = if filter.is_by_count() { 1.0 } else { f64::from(slots) };
    let plan = sizing::WindowPlan::for_bursts(keys, rate, slots, burst).unwrap();
    assert_eq!(plan.bytes(), filter.len_bytes());
    plan.generation()
}
