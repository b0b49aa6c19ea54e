//! More keys than planned: what is accepted, and what is said.

use mayhap::Growth;

use super::Arguments;
use super::fill::Built;
use super::recipe::{Recipe, Way};
use super::summary::Summary;
use crate::digests::Count;
use crate::failure::Failure;
use crate::numbers::{counted, format_rate, group_digits, parse_rate};

/// Reads a margin: 10%, 0.1 or 0.
pub(super) fn parse_margin(text: &str) -> Result<f64, String> {
    match text.trim() {
        "0" | "0%" => Ok(0.0),
        text => {
            parse_rate(text).map_err(|_| "give a share from 0 to below 1, such as 10% or 0.05".to_owned())
        }
    }
}

/// What needs room in the filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    count: Count,
    /// Keys to plan for, so that they fit.
    room: u64,
    with_copies: bool,
}

impl Load {
    /// Of so many different keys on so many lines.
    pub(super) fn new(arguments: &Arguments, recipe: &Recipe, keys: Count, lines: u64) -> Self {
        let with_copies = arguments.copies && recipe.kind.gives_room_to_copies();
        let count = if with_copies { Count::Exactly(lines) } else { keys };
        Self { count, room: count.at_most(), with_copies }
    }

    /// The same, when it is known that it fits where so many were planned.
    pub(super) fn with_room_for(self, keys: u64) -> Self {
        Self { room: keys, ..self }
    }

    pub(super) fn is_with_copies(self) -> bool {
        self.with_copies
    }

    pub(super) fn count(self) -> Count {
        self.count
    }

    fn text(self) -> String {
        if self.with_copies {
            format!("{}, copies included", self.count.text_of("key"))
        } else {
            self.count.text_of("different key")
        }
    }
}

/// Refuses a filter that holds more than was planned and accepted. What to warn of, if it holds more than was planned.
pub(super) fn check(
    arguments: &Arguments,
    recipe: &Recipe,
    built: &Built,
    summary: &Summary,
) -> Result<Option<String>, Failure> {
    let rate = summary.rate_now();
    let load = |keys| Load::new(arguments, recipe, keys, built.tally.lines);
    check_count(arguments, recipe, load(built.count), Some(rate))?;
    let load = load(summary.keys());
    let above = applies(arguments, recipe).filter(|keys| load.count.get() > *keys && rate > recipe.rate);
    Ok(above.map(|keys| {
        format!(
            "{}, and {} planned: an absent key is now answered \"mayhap\" at a rate of {}, not {}; -n {} would keep it",
            load.text(),
            group_digits(keys),
            format_rate(rate),
            format_rate(recipe.rate),
            load.count.at_most(),
        )
    }))
}

/// Refuses a load above what was planned and accepted; with the rate it would come to, if that is known.
pub(super) fn check_count(
    arguments: &Arguments,
    recipe: &Recipe,
    load: Load,
    rate: Option<f64>,
) -> Result<(), Failure> {
    let Some(keys) = applies(arguments, recipe) else { return Ok(()) };
    let count = load.count;
    // To take them at a worse rate may also be what the filter is for.
    let takes_all = arguments.over_plan || recipe.when_full() == Some(Growth::Saturate);
    if takes_all || count.get() as f64 <= keys as f64 * (1.0 + arguments.margin) {
        return Ok(());
    }
    let more = (count.get() as f64 / keys as f64 - 1.0) * 100.0;
    let accept = match rate {
        // No rate makes room in a table that is full.
        _ if recipe.kind.fills_up() => String::new(),
        _ if recipe.when_full() == Some(Growth::Refuse) => {
            format!(
                ", or --when-full saturate to take them at a worse rate than {}",
                format_rate(recipe.rate)
            )
        }
        Some(rate) => format!(
            ", or --over-plan to accept a rate of {} instead of {}",
            format_rate(rate),
            format_rate(recipe.rate)
        ),
        None => format!(", or --over-plan to try it, at a worse rate than {}", format_rate(recipe.rate)),
    };
    Err(Failure::Message(format!(
        "{}, {more:.0}% more than the {} planned; nothing was written: give -n {}, or --grow to make room for all{accept}",
        load.text(),
        group_digits(keys),
        load.room,
    )))
}

/// What to say when a filter for so many keys can't take all. `most_keys` is what the largest that was tried is for.
pub(super) fn full(arguments: &Arguments, load: Load, keys: u64, most_keys: u64) -> Failure {
    if load.with_copies {
        return Failure::Message(format!(
            "{}, don't fit: the copies of a key have only its two buckets, and even a table planned for {} is full; nothing \
             was written: take --kind counting or d-left with --counter-bits for so many copies, or leave out --copies",
            load.text(),
            counted(most_keys, "key"),
        ));
    }
    if arguments.copies && load.room <= keys {
        return Failure::Message(format!(
            "the filter is full: a key that comes more often than its counter counts takes several, and {} planned leave no room \
             for that; nothing was written: give more --counter-bits (4 count to 16, 8 to 256)",
            counted(keys, "key"),
        ));
    }
    // Of so many as were planned, one may be refused by a chance that another size doesn't repeat.
    let enough = if load.room > keys { load.room } else { keys.saturating_add(keys / 10 + 1) };
    Failure::Message(format!(
        "the filter is full: {}, and {} planned; nothing was written: give -n {enough}",
        load.text(),
        group_digits(keys),
    ))
}

/// What to say when copies don't fit where so many keys are planned, and do where more are.
pub(super) fn full_of_copies(load: Load, keys: u64, enough: u64) -> Failure {
    Failure::Message(format!(
        "the filter is full: {}, and {} planned, but the copies of a key have only its two buckets; nothing was written: give \
         -n {enough}, or --grow",
        load.text(),
        group_digits(keys),
    ))
}

/// The planned keys, where it is of consequence that there are more.
fn applies(arguments: &Arguments, recipe: &Recipe) -> Option<u64> {
    let is_bound = !recipe.grows() && matches!(recipe.kind.way(), Way::Shared | Way::Once);
    arguments.keys.filter(|_| is_bound && !arguments.grow)
}
