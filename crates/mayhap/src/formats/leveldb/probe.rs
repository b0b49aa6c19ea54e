//! One question to a filter as it stands in a file.

use super::recipe::{Flavour, MOST_HASHES, steps};

/// Whether the key of this hash may be in the filter of these bytes. Every input has an answer.
///
/// The remainders are taken by dividing. A division of 32 bits is cheap, and a key that isn't there needs two on average
/// (half the bits are set); a [`Remainder`](super::Remainder) would first have to divide 64 bits.
#[inline]
pub(super) fn hash_may_match(flavour: Flavour, hash: u32, filter: &[u8]) -> bool {
    // No keys were ever put into less than two bytes.
    let Some((&hashes, bits)) = filter.split_last() else { return false };
    if bits.is_empty() {
        return false;
    }
    // Kept for encodings to come: "no" could be wrong. Where badger divides by zero, we can't know either.
    let Some(divisor) = flavour.divisor(bits.len() as u64).filter(|_| hashes <= MOST_HASHES) else {
        return true;
    };
    let is_set = |position: u32| {
        let byte = usize::try_from(position / 8).ok().and_then(|byte| bits.get(byte));
        byte.is_none_or(|byte| byte >> (position % 8) & 1 == 1)
    };
    let mut steps = steps(hash).take(usize::from(hashes));
    match u32::try_from(divisor) {
        Ok(divisor) => steps.all(|step| is_set(step % divisor)),
        // More bits than a 32-bit number reaches: it is its own remainder.
        Err(_) => steps.all(is_set),
    }
}
