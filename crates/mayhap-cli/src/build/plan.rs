//! More keys than planned: what is accepted, and what is said.

use super::Arguments;
use super::fill::Built;
use super::recipe::{Recipe, Way};
use super::summary::Summary;
use crate::digests::Count;
use crate::failure::{Failure, say};
use crate::numbers::{format_rate, group_digits, parse_rate};

/// Reads a margin: 10%, 0.1 or 0.
pub(super) fn parse_margin(text: &str) -> Result<f64, String> {
    match text.trim() {
        "0" | "0%" => Ok(0.0),
        text => {
            parse_rate(text).map_err(|_| "give a share from 0 to below 1, such as 10% or 0.05".to_owned())
        }
    }
}

/// Refuses a filter that holds more than was planned and accepted; warns of one that holds more than was planned.
pub(super) fn check(
    arguments: &Arguments,
    recipe: &Recipe,
    built: &Built,
    summary: &Summary,
) -> Result<(), Failure> {
    let rate = summary.rate_now();
    check_count(arguments, recipe, built.count, Some(rate))?;
    let Some(keys) = applies(arguments, recipe) else { return Ok(()) };
    if summary.keys().get() > keys && rate > recipe.rate && !arguments.summary.quiet() {
        say(&format!(
            "mayhap: warning: {} different keys, and {} planned: an absent key is now answered \"mayhap\" at a rate of \
             {}, not {}; -n {} would keep it",
            summary.keys().text(),
            group_digits(keys),
            format_rate(rate),
            format_rate(recipe.rate),
            summary.keys().at_most(),
        ));
    }
    Ok(())
}

/// Refuses more keys than were planned and accepted; with the rate it would come to, if that is known.
pub(super) fn check_count(
    arguments: &Arguments,
    recipe: &Recipe,
    count: Count,
    rate: Option<f64>,
) -> Result<(), Failure> {
    let Some(keys) = applies(arguments, recipe) else { return Ok(()) };
    if arguments.over_plan || count.get() as f64 <= keys as f64 * (1.0 + arguments.margin) {
        return Ok(());
    }
    let more = (count.get() as f64 / keys as f64 - 1.0) * 100.0;
    let accept = match rate {
        Some(rate) => format!(
            "--over-plan to accept a rate of {} instead of {}",
            format_rate(rate),
            format_rate(recipe.rate)
        ),
        None => format!("--over-plan to try it, at a worse rate than {}", format_rate(recipe.rate)),
    };
    Err(Failure::Message(format!(
        "{} different keys, {more:.0}% more than the {} planned; nothing was written: give -n {}, or --grow to make \
         room for all, or {accept}",
        count.text(),
        group_digits(keys),
        count.at_most(),
    )))
}

/// What to say when a filter can't take all keys.
pub(super) fn full(count: Count, keys: u64) -> Failure {
    Failure::Message(format!(
        "the filter is full: {} different keys, and {} planned; nothing was written: give -n {}, or --grow",
        count.text(),
        group_digits(keys),
        count.at_most(),
    ))
}

/// The planned keys, where it is of consequence that there are more.
fn applies(arguments: &Arguments, recipe: &Recipe) -> Option<u64> {
    let is_bound = !recipe.grows() && matches!(recipe.kind.way(), Way::Shared | Way::Once);
    arguments.keys.filter(|_| is_bound && !arguments.grow)
}
