//! Many keys and several layers: each layer, the newest first, sees all keys of a group before the next one does. Also adding to
//! layers of which the newest may be full in the middle of a group.

use core::iter;

use crate::bloom::kernel::count_true;
use crate::filter::InsertError;

/// Keys in a group, at most: few enough for the first-level cache, and so many that a layer's batch is worth its beginning
/// even for the few that are left for the oldest.
pub(crate) const TOGETHER: usize = 1024;

/// Asks one layer after another for the keys of a group that are not `found` yet.
#[inline(always)]
pub(crate) fn look_in<L, D: Copy>(
    mut layers: impl Iterator<Item = L>,
    digests: &[D],
    found: &mut [bool],
    ask: impl Fn(L, &[D], &mut [bool]),
) {
    let mut answers = [false; TOGETHER];
    let answers = &mut answers[..digests.len()];
    while let Some(layer) = layers.next() {
        let there = count_true(found);
        if there == found.len() {
            return;
        }
        if is_worth_leaving_out(there, found.len()) {
            if let Some(missing) = Missing::of(digests, found) {
                missing.look_in(iter::once(layer).chain(layers), found, ask);
            }
            return;
        }
        ask(layer, digests, answers);
        for (found, answer) in found.iter_mut().zip(&*answers) {
            *found |= answer;
        }
    }
}

/// Has one layer after another do something with the keys of a group, until one says that it has: `done[i]` for the i-th.
#[inline(always)]
pub(crate) fn do_in<L, D: Copy>(
    mut layers: impl Iterator<Item = L>,
    digests: &[D],
    done: &mut [bool],
    act: impl Fn(L, &[D], &mut [bool]),
) {
    done.fill(false);
    // As long as none of them has been somewhere, there is no list to make: keys that came together are in one layer, and
    // when they go they go together, too.
    for layer in layers.by_ref() {
        act(layer, digests, done);
        if done.contains(&true) {
            break;
        }
    }
    let Some(mut missing) = Missing::of(digests, done) else { return };
    for layer in layers {
        missing.ask(done, |digests, done| act(layer, digests, done));
    }
}

/// Layers of which the newest takes new keys, until it is full and another one is put on top.
pub(crate) trait Growing {
    type Digest: Copy;

    /// Which keys a layer before the newest has.
    fn ask_older(&self, digests: &[Self::Digest], found: &mut [bool]);
    /// Which keys the newest layer has.
    fn ask_newest(&self, digests: &[Self::Digest], found: &mut [bool]);
    /// New keys that it has room for.
    fn room_in_newest(&self) -> u64;
    /// Adds keys that no older layer has, and for all of which there is room: `new[i]` tells whether the i-th was.
    fn add_to_newest(&mut self, digests: &[Self::Digest], new: &mut [bool]);
    /// Puts a layer on top, or says why not. Changes nothing if it fails.
    fn grow(&mut self) -> Result<(), InsertError>;
}

/// Adds the keys of a group, with the same outcome as one by one in order: `new[i]`, all false before, tells whether the
/// i-th was new. An error comes with the place of the key that found no room; from there on nothing was added.
///
/// What older layers have is left out first; the rest goes to the newest layer in order, as many at a time as it has room
/// for, so that it is never more than full.
pub(crate) fn add_to<G: Growing>(
    layers: &mut G,
    digests: &[G::Digest],
    new: &mut [bool],
) -> Result<(), (usize, InsertError)> {
    let (mut found, mut answers) = ([false; TOGETHER], [false; TOGETHER]);
    let found = &mut found[..digests.len()];
    layers.ask_older(digests, found);
    let Some(mut missing) = Missing::of(digests, found) else { return Ok(()) };
    while !missing.digests().is_empty() {
        let room = usize::try_from(layers.room_in_newest()).unwrap_or(usize::MAX);
        if room < missing.digests().len() {
            // Those that it has need no room. So no key after them comes one by one, however little room there is.
            missing.ask(found, |digests, found| layers.ask_newest(digests, found));
        }
        let count = missing.digests().len().min(room);
        let answers = &mut answers[..count];
        layers.add_to_newest(&missing.digests()[..count], answers);
        for (place, answer) in missing.places.iter().zip(answers) {
            new[*place] = *answer;
        }
        missing.drop_first(count);
        if let (0, Some(place)) = (room, missing.places[..missing.len].first()) {
            layers.grow().map_err(|error| (*place, error))?;
        }
    }
    Ok(())
}

/// Whether so many of the keys were found that it takes less time to make a list of the others than to ask for all again.
/// (Of a filter that doubles, the newest layer has half of the keys. And a list is some work however short it is.)
fn is_worth_leaving_out(found: usize, keys: usize) -> bool {
    found > (keys * 3 / 8).max(16)
}

/// Keys of a group that no layer has, in their order.
struct Missing<D> {
    digests: [D; TOGETHER],
    /// Where in the group each of them stands.
    places: [usize; TOGETHER],
    len: usize,
}

impl<D: Copy> Missing<D> {
    /// Those of at most [`TOGETHER`] that were not found, if there are any.
    fn of(digests: &[D], found: &[bool]) -> Option<Self> {
        let mut missing = Self { digests: [*digests.first()?; TOGETHER], places: [0; TOGETHER], len: 0 };
        let mut kept = 0;
        for (place, (digest, found)) in digests.iter().zip(found).enumerate() {
            // Written always and kept if missing: a branch here would be as unpredictable as the answers.
            missing.digests[kept] = *digest;
            missing.places[kept] = place;
            kept += usize::from(!*found);
        }
        missing.len = kept;
        (kept > 0).then_some(missing)
    }

    fn digests(&self) -> &[D] {
        &self.digests[..self.len]
    }

    /// Asks somebody for them, and keeps those to whom the answer is no; the others are `found`.
    #[inline(always)]
    fn ask(&mut self, found: &mut [bool], ask: impl FnOnce(&[D], &mut [bool])) {
        let mut answers = [false; TOGETHER];
        let answers = &mut answers[..self.len];
        ask(self.digests(), answers);
        if answers.contains(&true) {
            self.leave_out(answers, found);
        }
    }

    #[inline(always)]
    fn leave_out(&mut self, answers: &[bool], found: &mut [bool]) {
        let mut kept = 0;
        for (i, answer) in answers.iter().enumerate() {
            let (digest, place) = (self.digests[i], self.places[i]);
            found[place] |= answer;
            self.digests[kept] = digest;
            self.places[kept] = place;
            kept += usize::from(!*answer);
        }
        self.len = kept;
    }

    /// Leaves out the first `count`.
    fn drop_first(&mut self, count: usize) {
        self.digests.copy_within(count..self.len, 0);
        self.places.copy_within(count..self.len, 0);
        self.len -= count;
    }

    /// Asks one layer after another. Who was found is left out where that is worth it, and else asked for once more.
    #[inline(always)]
    fn look_in<L>(
        mut self,
        layers: impl Iterator<Item = L>,
        found: &mut [bool],
        ask: impl Fn(L, &[D], &mut [bool]),
    ) {
        let mut answers = [false; TOGETHER];
        for layer in layers {
            if self.len == 0 {
                return;
            }
            let answers = &mut answers[..self.len];
            ask(layer, self.digests(), answers);
            let count = count_true(answers);
            if is_worth_leaving_out(count, self.len) {
                self.leave_out(answers, found);
            } else if count > 0 {
                for (place, answer) in self.places.iter().zip(&*answers) {
                    // A branch, which is mostly foreseen: few were found.
                    if *answer {
                        found[*place] = true;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::HashSet;
    use std::vec::Vec;

    /// Layers of numbers below 1000: the newest, which comes first, has half of so many percent of them, and each other half as
    /// many as the one before it. Some numbers are in several.
    fn layers(percent: u64) -> Vec<HashSet<u64>> {
        (0..5_u64)
            .map(|layer| {
                let most = (percent * 10) >> (layer + 1);
                (0..1_000).filter(|n| (n * 7_919 + layer * 411) % 1_000 < most).collect()
            })
            .collect()
    }

    fn groups() -> Vec<Vec<u64>> {
        let lengths = [0, 1, 2, 15, 40, 100, TOGETHER - 1, TOGETHER];
        lengths.iter().map(|len| (0..*len as u64).map(|i| i * 31 % 997 % 450).collect()).collect()
    }

    #[test]
    fn every_key_is_found_that_any_layer_has() {
        for percent in [0, 2, 10, 50, 75, 90, 100] {
            let layers = layers(percent);
            for digests in groups() {
                // Some were found before, by somebody else.
                for every in [1, 2, 3, 1_000] {
                    let mut found: Vec<_> = (0..digests.len()).map(|i| i % every == every / 2).collect();
                    let expected: Vec<_> = digests
                        .iter()
                        .zip(&found)
                        .map(|(digest, found)| *found || layers.iter().any(|layer| layer.contains(digest)))
                        .collect();
                    look_in(layers.iter(), &digests, &mut found, |layer, digests, found| {
                        assert_eq!(digests.len(), found.len());
                        for (found, digest) in found.iter_mut().zip(digests) {
                            *found = layer.contains(digest);
                        }
                    });
                    assert_eq!(found, expected, "{percent} % of {} keys", digests.len());
                }
            }
        }
    }

    /// Any layers, not only those of a filter that grows: the newest may have few of the keys, or an older one most of them.
    #[test]
    fn however_the_keys_are_spread_over_the_layers() {
        let mut state = 1_u64;
        let mut below = |most: usize| {
            state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9_7f4a_7c15);
            (state >> 33) as usize % most
        };
        for round in 0..3_000 {
            // Enough that some are left when most were found, and now and then as few as make no list.
            let len = if round % 8 == 0 { below(40) } else { TOGETHER / 2 + below(TOGETHER / 2 + 1) };
            let parts: [usize; 6] = core::array::from_fn(|_| [0, 2, 10, 20, 40, 50, 90, 100][below(8)]);
            let layers = parts.map(|percent| (0..len).map(|_| below(100) < percent).collect::<Vec<_>>());
            let before = [0, 0, 5, 45, 95][below(5)];
            let mut found: Vec<_> = (0..len).map(|_| below(100) < before).collect();
            let expected: Vec<_> =
                (0..len).map(|key| found[key] || layers.iter().any(|layer| layer[key])).collect();
            let digests: Vec<_> = (0..len).collect();
            look_in(layers.iter(), &digests, &mut found, |layer, digests, found| {
                for (found, digest) in found.iter_mut().zip(digests) {
                    *found = layer[*digest];
                }
            });
            assert_eq!(found, expected, "{before} % found before, in the layers {parts:?} %");
        }
    }

    /// How many keys each layer is asked for. Asking for too many finds the same, only later.
    #[test]
    fn keys_that_were_found_are_left_out_where_that_is_worth_it() {
        type Has = fn(usize) -> bool;
        let asked = |keys: usize, before: Has, layers: &[Has]| {
            let digests: Vec<_> = (0..keys).collect();
            let asked = RefCell::new(Vec::new());
            let mut found: Vec<_> = digests.iter().map(|key| before(*key)).collect();
            look_in(layers.iter(), &digests, &mut found, |has, digests, found| {
                asked.borrow_mut().push(digests.len());
                for (found, digest) in found.iter_mut().zip(digests) {
                    *found = has(*digest);
                }
            });
            asked.into_inner()
        };
        let (none, all): (Has, Has) = (|_| false, |_| true);
        let (third, most, eighth): (Has, Has, Has) =
            (|key| key % 3 == 0, |key| key % 4 != 0, |key| key % 8 == 0);
        for keys in [0, 1, 16, 17, TOGETHER] {
            assert!(asked(keys, all, &[none, none]).is_empty(), "nobody is asked for nothing");
            assert_eq!(
                asked(keys, none, &[all, none]).len(),
                usize::from(keys > 0),
                "the first had them all"
            );
        }
        // Up to three eighths are too few for a list, and 16 are, too.
        assert_eq!(asked(512, none, &[third, none]), [512, 512]);
        assert_eq!(asked(512, |key| key % 8 < 3, &[none]), [512]);
        assert_eq!(asked(512, |key| key % 8 < 3 || key == 3, &[none]), [512 - 193]);
        assert_eq!(asked(24, |key| key < 16, &[none]), [24]);
        assert_eq!(asked(24, |key| key < 17, &[none]), [7]);
        // The same of those on the list.
        assert_eq!(asked(512, none, &[most, third, none]), [512, 128, 128]);
        assert_eq!(asked(512, none, &[most, eighth, none]), [512, 128, 64]);
        assert_eq!(asked(512, none, &[most, all, none]), [512, 128]);
    }

    #[test]
    fn the_first_of_a_list_can_be_dropped() {
        let found = [false, true, false, false, true, false];
        let mut missing = Missing::of(&[10, 11, 12, 13, 14, 15], &found).unwrap();
        missing.drop_first(1);
        assert_eq!((missing.digests(), &missing.places[..missing.len]), (&[12, 13, 15][..], &[2, 3, 5][..]));
        missing.drop_first(0);
        missing.drop_first(3);
        assert!(missing.digests().is_empty());
        assert!(Missing::of(&[10, 11], &[true, true]).is_none() && Missing::<u8>::of(&[], &[]).is_none());
    }

    #[test]
    fn without_layers_nothing_is_done() {
        let mut done = [true; 3];
        do_in([(); 0].iter(), &[1, 2, 3], &mut done, |_, _, _| unreachable!());
        assert_eq!(done, [false; 3]);
    }

    #[test]
    fn what_one_layer_does_no_other_does_again() {
        for percent in [0, 10, 50, 100] {
            for digests in groups() {
                let layers: Vec<_> = layers(percent).into_iter().map(RefCell::new).collect();
                let mut expected = layers.clone();
                let one_by_one: Vec<_> = digests
                    .iter()
                    .map(|digest| expected.iter_mut().any(|layer| layer.get_mut().remove(digest)))
                    .collect();
                let mut done = std::vec![true; digests.len()];
                do_in(layers.iter(), &digests, &mut done, |layer, digests, done| {
                    for (done, digest) in done.iter_mut().zip(digests) {
                        *done = layer.borrow_mut().remove(digest);
                    }
                });
                assert_eq!(done, one_by_one, "{percent} % of {} keys", digests.len());
                assert_eq!(layers, expected);
            }
        }
    }
}
