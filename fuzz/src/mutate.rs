//! Changing good input into bad.

use crate::random::Random;

/// No input grows beyond this: small inputs run fast, and length fields can lie at any size.
pub const LONGEST: usize = 1 << 16;

/// One of the seeds with one to eight changes, or, now and then, no seed at all.
#[must_use]
pub fn mutated(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    if random.below(50) == 0 {
        let length = random.below(300);
        return (0..length).map(|_| random.byte()).collect();
    }
    let mut input = random.choose(seeds).cloned().unwrap_or_default();
    for _ in 0..=random.below(8) {
        change(&mut input, seeds, random);
    }
    input.truncate(LONGEST);
    input
}

fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    match random.below(10) {
        0 | 1 => {
            let at = position(input, random);
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        2 => {
            let at = position(input, random);
            if let Some(byte) = input.get_mut(at) {
                *byte = *random.choose(&[0, 1, 0x7f, 0x80, 0xff]).unwrap_or(&0);
            }
        }
        3 | 4 => edit_number(input, random),
        5 => {
            let length = random.below(input.len() + 1);
            input.truncate(length);
        }
        6 => {
            let more = random.below(64);
            input.extend((0..more).map(|_| random.byte()));
        }
        7 => {
            let at = position(input, random);
            let bytes: Vec<u8> = (0..=random.below(16)).map(|_| random.byte()).collect();
            input.splice(at..at, bytes);
        }
        8 => {
            let at = position(input, random);
            let length = random.below(32).min(input.len() - at);
            input.drain(at..at + length);
        }
        _ => {
            // The front of this one, the back of another.
            let Some(other) = random.choose(seeds) else { return };
            let (front, back) = (random.below(input.len() + 1), random.below(other.len() + 1));
            input.truncate(front);
            input.extend_from_slice(&other[back..]);
        }
    }
}

/// Overwrites a little-endian number: the lengths, counts and offsets of a format.
fn edit_number(input: &mut [u8], random: &mut Random) {
    let width = *random.choose(&[2, 4, 8]).unwrap_or(&8);
    if input.len() < width {
        return;
    }
    let mut at = position(input, random).min(input.len() - width);
    if random.below(4) > 0 {
        at -= at % width;
    }
    let mut bytes = [0; 8];
    bytes[..width].copy_from_slice(&input[at..at + width]);
    let old = u64::from_le_bytes(bytes);
    let length = input.len() as u64;
    let new = match random.below(8) {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << random.below(64),
        3 => (1u64 << random.below(64)).wrapping_sub(1),
        4 => old.wrapping_add(1),
        5 => old.wrapping_sub(1),
        6 => length.wrapping_add(random.below(129) as u64).wrapping_sub(64),
        _ => random.next_u64() >> random.below(64),
    };
    input[at..at + width].copy_from_slice(&new.to_le_bytes()[..width]);
}

/// Somewhere in the input, and in every second case near its start, where headers are.
fn position(input: &[u8], random: &mut Random) -> usize {
    let limit = if random.below(2) == 0 { input.len().min(256) } else { input.len() };
    random.below(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_input() {
        let seeds = [vec![1; 100], vec![2; 300]];
        let inputs = |seed: u64| {
            (0..500).map(|case| mutated(&seeds, &mut Random::new(seed + case))).collect::<Vec<_>>()
        };
        assert_eq!(inputs(1), inputs(1));
        assert_ne!(inputs(1), inputs(10_000));
    }

    #[test]
    fn inputs_are_many_and_bounded() {
        let seeds = [vec![7; LONGEST], vec![]];
        let mut random = Random::new(3);
        let mut inputs: Vec<_> = (0..2_000).map(|_| mutated(&seeds, &mut random)).collect();
        assert!(inputs.iter().all(|input| input.len() <= LONGEST));
        inputs.sort();
        inputs.dedup();
        assert!(inputs.len() > 1_000, "{}", inputs.len());
    }
}
