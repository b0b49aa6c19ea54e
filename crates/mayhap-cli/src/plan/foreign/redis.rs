//! RedisBloom: sized for half the rate, unless it is told not to grow.

use mayhap::formats::redisbloom::RedisBloom;
use mayhap::formats::redisbloom::bloom::{
    DEFAULT_CAPACITY, DEFAULT_ERROR_RATE, DEFAULT_EXPANSION, MAX_CAPACITY, MAX_ERROR_RATE, RedisLink,
};
use mayhap::sizing::{SizingError, classic};

use super::{Offer, Wish};
use crate::numbers::{format_rate, group_digits};

pub(super) fn offers(Wish { keys, rate }: Wish) -> Result<(Vec<Offer>, Vec<String>), SizingError> {
    let mut offers = Vec::new();
    let mut remarks = Vec::new();
    let capacity = keys.min(MAX_CAPACITY);
    let grown = RedisBloom::planned_links(rate, capacity, DEFAULT_EXPANSION, true, keys)?;
    offers.push(offer("BF.RESERVE", vec![format!("BF.RESERVE key {rate} {capacity}")], &grown));
    if keys <= MAX_CAPACITY {
        let fixed = RedisBloom::planned_links(rate, capacity, DEFAULT_EXPANSION, false, keys)?;
        let call = format!("BF.RESERVE key {rate} {capacity} NONSCALING");
        offers.push(offer("BF.RESERVE … NONSCALING", vec![call], &fixed));
        remarks.push(format!(
            "A filter that may grow is sized for half the rate, {}, so that the sum over all links keeps what was asked \
             for. If the number of keys is known, NONSCALING saves that; it refuses keys beyond it.",
            format_rate(rate.min(MAX_ERROR_RATE) / 2.0)
        ));
    } else {
        remarks.push(format!(
            "BF.RESERVE takes at most {} keys, so this one has to grow to {} links, and each question asks them all. \
             NONSCALING is out of the question.",
            group_digits(MAX_CAPACITY),
            grown.len()
        ));
    }
    let from_nothing =
        RedisBloom::planned_links(DEFAULT_ERROR_RATE, DEFAULT_CAPACITY, DEFAULT_EXPANSION, true, keys);
    if let Ok(links) = from_nothing
        && keys > DEFAULT_CAPACITY
    {
        let name = format!("BF.ADD alone, {} links", links.len());
        offers.push(offer(&name, Vec::new(), &links));
        remarks.push(format!(
            "Without BF.RESERVE the first BF.ADD makes a filter for {DEFAULT_CAPACITY} keys at {}, which then doubles: \
             {} links for these keys, and each question asks them all.",
            format_rate(DEFAULT_ERROR_RATE),
            links.len()
        ));
    }
    remarks.push(
        "EXPANSION n makes each further link n times as large as the one before; its rate is half of the one before."
            .to_owned(),
    );
    if rate > MAX_ERROR_RATE {
        remarks
            .push(format!("Rates above {} are lowered to it, without a word.", format_rate(MAX_ERROR_RATE)));
    }
    Ok((offers, remarks))
}

fn offer(name: &str, calls: Vec<String>, links: &[RedisLink]) -> Offer {
    let no_link_errs: f64 =
        links.iter().map(|link| 1.0 - classic::rate(link.size, link.bits, link.hashes)).product();
    Offer {
        name: name.to_owned(),
        calls,
        bytes: links.iter().map(|link| link.bytes).sum(),
        hashes: links.first().map_or(0, |link| link.hashes),
        rate: 1.0 - no_link_errs,
    }
}
