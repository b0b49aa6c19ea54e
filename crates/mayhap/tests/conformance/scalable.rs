//! [`ScalableBloom`]: of one layer that goes on when it is full, and of layers that grow to what a check asks for.

use mayhap::sizing::{self, BlockedPlan, GrowthPlan};
use mayhap::{Growth, ReadOptions, ScalableBloom};

use crate::keys::KeyBytes;
use crate::subject::{Estimated, Hashing, Keyed, Readable, Subject};

/// One layer, and more keys in it when it is full, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneLayer(pub(crate) Growth);

impl Subject for OneLayer {
    type Filter = ScalableBloom;

    fn maker(&self, keys: u64, rate: f64) -> impl Fn(u64) -> ScalableBloom {
        let builder = ScalableBloom::builder().keys(keys).rate(rate).growth(self.0);
        move |seed| builder.clone().hasher(Hashing::Xxh3.hasher(seed)).build().unwrap()
    }

    fn modelled_rate(&self, filter: &ScalableBloom, keys: u64) -> f64 {
        let plan = only_layer(filter);
        sizing::blocked::rate(plan.shape(), keys, plan.blocks())
    }
}

impl Estimated for OneLayer {
    fn standard_error(&self, filter: &ScalableBloom, keys: u64) -> f64 {
        let plan = only_layer(filter);
        sizing::blocked::standard_error(plan.shape(), keys, plan.blocks())
    }
}

impl Readable for OneLayer {
    fn read_options(&self, _seed: u64) -> ReadOptions {
        ReadOptions::new()
    }
}

fn only_layer(filter: &ScalableBloom) -> BlockedPlan {
    let builder = ScalableBloom::builder().keys(filter.planned_keys()).rate(filter.planned_rate());
    let plan = builder.growth(filter.growth()).plan().unwrap();
    assert_eq!(plan.bytes(), filter.len_bytes());
    plan
}

/// Layers of which the first is for a tenth of the keys: four of them hold all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growing(pub(crate) Hashing);

impl Subject for Growing {
    type Filter = ScalableBloom;

    fn maker(&self, keys: u64, rate: f64) -> impl Fn(u64) -> ScalableBloom {
        let builder = ScalableBloom::builder().keys(keys.div_ceil(10)).rate(rate);
        let hashing = self.0;
        move |seed| builder.clone().hasher(hashing.hasher(seed)).build().unwrap()
    }

    /// Keys come one after another. A layer is offered those that no older one takes for its own, counts those that are
    /// new to it, too, and is full when it has counted enough.
    fn modelled_rate(&self, filter: &ScalableBloom, keys: u64) -> f64 {
        let growth =
            GrowthPlan::new(filter.planned_keys(), filter.planned_rate(), filter.expansion()).unwrap();
        let (mut pass, mut left) = (1.0, keys as f64);
        for number in 0.. {
            let (plan, planned) = (growth.layer(number).unwrap(), growth.layer_keys(number).unwrap() as f64);
            let rate_with = |offered: f64| {
                // Between whole numbers of keys.
                let (below, part) = (offered.floor(), offered.fract());
                let rate = |keys: f64| sizing::blocked::rate(plan.shape(), keys as u64, plan.blocks());
                rate(below) * (1.0 - part) + rate(below + 1.0) * part
            };
            let (mut offered, mut counted, step) = (0.0, 0.0, (planned / 50.0).max(0.1));
            while counted < planned && left > 0.0 {
                let new = 1.0 - rate_with(offered + step / 2.0);
                // Of the keys that come, a part `pass` is offered, and of those a part `new` is counted.
                let now = step.min(left * pass).min((planned - counted) / new);
                (offered, counted, left) = (offered + now, counted + now * new, left - now / pass);
                if left < 1e-9 * keys as f64 {
                    left = 0.0;
                }
                if planned - counted < 1e-9 * planned {
                    counted = planned;
                }
            }
            pass *= 1.0 - rate_with(offered);
            if left == 0.0 {
                break;
            }
        }
        1.0 - pass
    }
}

impl Readable for Growing {
    fn read_options(&self, seed: u64) -> ReadOptions {
        self.0.read_options(seed)
    }
}

impl Keyed for ScalableBloom {
    fn insert(&mut self, key: &KeyBytes) -> bool {
        ScalableBloom::insert(self, key).unwrap()
    }
    fn insert_each(&mut self, keys: &[KeyBytes], new: &mut [bool]) {
        ScalableBloom::insert_each(self, keys, new).unwrap();
    }
    fn contains(&self, key: &KeyBytes) -> bool {
        ScalableBloom::contains(self, key)
    }
    fn contains_each(&self, keys: &[KeyBytes], found: &mut [bool]) {
        ScalableBloom::contains_each(self, keys, found);
    }
}
