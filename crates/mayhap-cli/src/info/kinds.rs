//! What the filter itself says, kind by kind.

use mayhap::bits::Blocks;
use mayhap::{AnyFilter, Bitmap, Growth};

use super::facts::Facts;
use crate::numbers::{counted, format_rate, format_size, group_digits};
use crate::over_plan::HidesTooMuch;

/// What all kinds have in common, and then what each has of its own.
pub(super) fn describe<S: Blocks>(facts: &mut Facts, filter: &AnyFilter<S>) {
    facts.set("memory_bytes", filter.len_bytes());
    let census = filter.census();
    let (keys, rate, fill) = (census.estimated_len, census.expected_rate, census.fill_ratio);
    facts.add("keys now", format!("{}{}", about(filter), group_digits(keys)), "keys_now", keys);
    facts.add("rate now", format_rate(rate), "rate_now", rate);
    facts.add("fill", format!("{} of its {}", percent(fill), filled(filter)), "fill", fill);
    let over = match HidesTooMuch::of(filter) {
        Some(hidden) => format!("yes: {}", hidden.text()),
        None if census.is_over_plan => "yes: it holds more than it was made for; build it larger".to_owned(),
        None => "no".to_owned(),
    };
    facts.add("over plan", over, "over_plan", census.is_over_plan);
    describe_kind(facts, filter);
}

fn describe_kind<S: Blocks>(facts: &mut Facts, filter: &AnyFilter<S>) {
    match filter {
        AnyFilter::Bloom(filter) => {
            let (hashes, lines) = (filter.shape().hashes(), filter.shape().lines());
            let lines_text = if lines == 1 { "one block" } else { "two blocks" };
            let shape = format!(
                "{} of 512 bits; a key sets {hashes} bits in {lines_text}",
                counted(filter.block_count(), "block")
            );
            facts.add("shape", shape, "blocks", filter.block_count());
            facts.set("hashes", hashes);
            facts.set("blocks_per_key", lines);
        }
        AnyFilter::Classic(filter) => {
            let shape = format!("{}; a key sets {}", counted(filter.bits(), "bit"), filter.hashes());
            facts.add("shape", shape, "bits", filter.bits());
            facts.set("hashes", filter.hashes());
        }
        AnyFilter::Scalable(filter) => {
            let growth = match filter.growth() {
                Growth::Grow => format!("each layer {} times as large as the last", filter.expansion()),
                Growth::Refuse => "none: it refuses keys when it is full".to_owned(),
                _ => "none: when it is full, its rate rises".to_owned(),
            };
            facts.say("counted", counted(filter.len(), "new key"));
            facts.add("growth", growth, "expansion", filter.expansion());
            facts.set("when_full", when_full(filter.growth()));
            if let Some(ratio) = filter.tightening() {
                let text = format!("each layer has {ratio} times the rate of the last");
                facts.add("tightening", text, "tightening", ratio);
            }
            let end = match filter.growth() {
                Growth::Grow => "grows",
                Growth::Refuse => "refuses more",
                _ => "errs more often",
            };
            facts.add(
                "room",
                format!("{} before it {end}", room(filter.capacity(), filter.len())),
                "capacity",
                filter.capacity(),
            );
        }
        AnyFilter::Counting(filter) => {
            let layout = filter.layout();
            let shape = format!(
                "{} counters up to {}; a key raises {}",
                group_digits(filter.counter_count()),
                filter.max_count(),
                layout.shape.hashes()
            );
            facts.add("shape", shape, "counters", filter.counter_count());
            facts.set("hashes", layout.shape.hashes());
            facts.set("counter_bits", layout.width.bits());
            facts.add("copies", format!("{} in all", group_digits(filter.len())), "copies", filter.len());
            let stuck = filter.stuck_counters();
            facts.add(
                "stuck",
                format!("{} that lost count", counted(stuck, "counter")),
                "stuck_counters",
                stuck,
            );
        }
        AnyFilter::Dual(filter) => {
            let rates = filter.expected_rates();
            let hidden = format!(
                "{} of its keys are answered \"no\" now; made for {} at {}",
                format_rate(rates.false_no),
                format_rate(filter.planned_hidden_rate()),
                counted(filter.planned_removals(), "removal")
            );
            facts.add("hidden", hidden, "hidden_rate", rates.false_no);
            facts.set("planned_hidden_rate", filter.planned_hidden_rate());
            facts.set("planned_removals", filter.planned_removals());
        }
        AnyFilter::DLeft(filter) => {
            let cell = filter.cell();
            let shape = format!(
                "{} of {} cells: {} bits of fingerprint, {} of counter",
                counted(filter.bucket_count(), "bucket"),
                cell.per_bucket(),
                cell.fingerprint_bits(),
                cell.counter_bits()
            );
            facts.add("shape", shape, "buckets", filter.bucket_count());
            facts.set("fingerprint_bits", cell.fingerprint_bits());
            facts.set("counter_bits", cell.counter_bits());
            facts.add("copies", format!("{} in all", group_digits(filter.len())), "copies", filter.len());
        }
        AnyFilter::Cuckoo(filter) => {
            let layout = filter.layout();
            let shape = format!(
                "{} of {} of {} bits{}",
                counted(filter.buckets(), "bucket"),
                counted(u64::from(layout.entries_per_bucket()), "fingerprint"),
                layout.fingerprint_bits(),
                if layout.is_semi_sorted() { ", semi-sorted" } else { "" }
            );
            facts.add("shape", shape, "buckets", filter.buckets());
            facts.set("fingerprint_bits", layout.fingerprint_bits());
            facts.set("entries_per_bucket", layout.entries_per_bucket());
            facts.set("slots", filter.capacity_slots());
        }
        AnyFilter::ScalableCuckoo(filter) => {
            let growth = format!("each layer {} times as large as the last", filter.expansion());
            facts.add("growth", growth, "expansion", filter.expansion());
            facts.add(
                "room",
                format!("{} before it grows", room(filter.capacity(), filter.len())),
                "capacity",
                filter.capacity(),
            );
        }
        AnyFilter::Window(filter) => {
            let length = if filter.is_by_count() {
                counted(filter.window(), "insertion")
            } else {
                counted(filter.window(), "unit") + " of time"
            };
            let slots = counted(u64::from(filter.generations()), "slot");
            let window = format!("the last {length}, in {slots}");
            facts.add("window", window, "window", filter.window());
            if let Some(inserted) = filter.inserted() {
                facts.say("counted", counted(inserted, "insertion"));
            }
            facts.set("by_count", filter.is_by_count());
            facts.set("window_slots", filter.generations());
            facts.set("slot_end", filter.slot_end());
        }
        _ => {}
    }
}

/// A set of numbers: exact.
pub(super) fn describe_bitmap<S: Blocks>(facts: &mut Facts, bitmap: &Bitmap<S>) {
    facts.set("memory_bytes", bitmap.len_bytes());
    facts.add("numbers", group_digits(bitmap.len()), "keys_now", bitmap.len());
    facts.add("rate now", "0: a bitmap is exact", "rate_now", 0.0);
    let universe = match bitmap.universe() {
        Some(universe) => format!("below {}", group_digits(universe)),
        None => "any of 64 bits".to_owned(),
    };
    facts.add("may hold", universe, "universe", bitmap.universe());
    let form = if bitmap.is_dense() { "dense" } else { "sparse" };
    facts.add("form", format!("{form}, {} in memory", format_size(bitmap.len_bytes())), "form", form);
    if let (true, Some(universe)) = (bitmap.is_dense(), bitmap.universe()) {
        let fill = bitmap.len() as f64 / universe as f64;
        facts.add("fill", format!("{} of its bits", percent(fill)), "fill", fill);
    }
}

/// What `build --when-full` calls it.
fn when_full(growth: Growth) -> &'static str {
    match growth {
        Growth::Grow => "grow",
        Growth::Refuse => "refuse",
        _ => "saturate",
    }
}

fn room(capacity: u64, len: u64) -> String {
    counted(capacity.saturating_sub(len), "key")
}

/// Whether the number of keys is an estimate.
fn about<S: Blocks>(filter: &AnyFilter<S>) -> &'static str {
    match filter {
        AnyFilter::Cuckoo(_) | AnyFilter::ScalableCuckoo(_) => "",
        _ => "about ",
    }
}

/// What is in use or not.
fn filled<S: Blocks>(filter: &AnyFilter<S>) -> &'static str {
    match filter {
        AnyFilter::Counting(_) => "counters are above zero",
        AnyFilter::DLeft(_) => "cells are in use",
        AnyFilter::Cuckoo(_) | AnyFilter::ScalableCuckoo(_) => "places are taken",
        AnyFilter::Dual(_) => "added side's bits are set",
        _ => "bits are set",
    }
}

/// A part of a whole: `52.3%`.
pub(super) fn percent(part: f64) -> String {
    format!("{:.1}%", part * 100.0)
}
