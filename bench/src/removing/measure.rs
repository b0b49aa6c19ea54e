//! The timed loop of filters that forget.

use crate::Failure;
use crate::contestants::Removing;
use crate::keys::{self, BenchKey};
use crate::measure::{Sample, Workload, ask, ask_loop, cpu_time};

/// What one contestant did in one round, with keys taken out again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RemovalSample {
    /// Its inserts are those up to half of the slots, where there are slots, and all of them otherwise.
    pub(crate) sample: Sample,
    /// Inserts from there on; NaN where there are none.
    pub(crate) late_insert_ns: f64,
    /// Asking for the keys that are removed next, in the same order; NaN for a filter that can't remove.
    pub(crate) doomed_hit_ns: f64,
    /// NaN for a filter that can't remove.
    pub(crate) remove_ns: f64,
    /// Keys that went in: fewer than asked for when the filter was full before.
    pub(crate) held: usize,
    pub(crate) bits_per_slot: f64,
    /// Keys that were in and answered "no", of a filter that says it does so.
    pub(crate) lost: u64,
    /// Out of so many: those asked for or removed while they were in.
    pub(crate) known_asked: u64,
}

impl RemovalSample {
    /// Of a filter that can't remove.
    pub(crate) fn without_removal(sample: Sample, held: usize) -> Self {
        let nan = f64::NAN;
        Self {
            sample,
            late_insert_ns: nan,
            doomed_hit_ns: nan,
            remove_ns: nan,
            held,
            bits_per_slot: nan,
            lost: 0,
            known_asked: 0,
        }
    }
}

/// Builds, asks, removes a part of the keys, and looks whether the others are still there; CPU time of this
/// thread.
pub(crate) fn run_removing<K: BenchKey, C: Removing<K>>(
    work: &Workload<'_, K>,
    seed: u64,
) -> Result<RemovalSample, Failure> {
    let mut early = Phase::default();
    let mut late = Phase::default();
    let mut last = None;
    for keys in work.inserted.chunks_exact(work.n) {
        drop(last.take());
        let mut filter = C::new(work.n, work.p, seed)?;
        let half_full = filter.slots().map_or(Ok(keys.len()), |slots| usize::try_from(slots / 2))?;
        let (first, rest) = keys.split_at(half_full.min(keys.len()));
        let mut held = early.time(|| fill_loop(&mut filter, first));
        if held == first.len() {
            held += late.time(|| fill_loop(&mut filter, rest));
        }
        last = Some((filter, &keys[..held]));
    }
    let (mut filter, held) = last.ok_or("a workload has at least one filter of keys")?;
    if held.is_empty() {
        return Err(format!("{} takes no key at all", C::NAME).into());
    }

    // A filter that was full early is asked for the keys it took.
    let drawn: Vec<K>;
    let hits = if held.len() == work.n {
        work.hits
    } else {
        drawn = keys::draws(held.len(), work.hits.len()).map(|index| held[index]).collect();
        &drawn
    };
    let (sample, found) = ask(&filter, early.ns(), held.len(), hits, work.misses);
    let mut lost = hits.len() as u64 - found;

    // Half of the keys, so that the others can be asked for; of a large filter no more than are asked for
    // elsewhere.
    let (gone, kept) = held.split_at((held.len() / 2).min(hits.len()));
    keys::fetch(gone);
    let (present, doomed_time) = cpu_time(|| ask_loop(&filter, gone));
    let (removed, remove_time) = cpu_time(|| remove_loop(&mut filter, gone));
    lost += 2 * gone.len() as u64 - present - removed;
    let kept = &kept[..kept.len().min(hits.len())];
    lost += kept.len() as u64 - filter.count_present(kept);
    if lost > 0 && C::LOSES.is_none() {
        return Err(format!(
            "{} lost keys: found {found} of {}; removed {removed} of {}; {lost} answers \"no\" in all, those \
             for the {} keys left included",
            C::NAME,
            hits.len(),
            gone.len(),
            kept.len()
        )
        .into());
    }

    Ok(RemovalSample {
        sample,
        late_insert_ns: late.ns(),
        doomed_hit_ns: doomed_time as f64 / gone.len() as f64,
        remove_ns: remove_time as f64 / gone.len() as f64,
        held: held.len(),
        bits_per_slot: filter.slots().map_or(f64::NAN, |slots| filter.bits() as f64 / slots as f64),
        lost,
        known_asked: (hits.len() + 2 * gone.len() + kept.len()) as u64,
    })
}

/// Time summed over several filters.
#[derive(Default)]
struct Phase {
    keys: usize,
    cpu_ns: u64,
}

impl Phase {
    /// Runs `work`, which tells how many keys it has done.
    #[inline(always)]
    fn time(&mut self, work: impl FnOnce() -> usize) -> usize {
        let (done, time) = cpu_time(work);
        self.keys += done;
        self.cpu_ns += time;
        done
    }

    /// NaN when there were no keys.
    fn ns(&self) -> f64 {
        if self.keys == 0 { f64::NAN } else { self.cpu_ns as f64 / self.keys as f64 }
    }
}

// Functions of their own, as in `crate::measure`.

#[inline(never)]
fn fill_loop<K, C: Removing<K>>(filter: &mut C, keys: &[K]) -> usize {
    filter.insert_until_full(keys)
}

#[inline(never)]
fn remove_loop<K, C: Removing<K>>(filter: &mut C, keys: &[K]) -> u64 {
    filter.remove_all(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestants::Contestant;

    /// A list that has room for `ROOM` keys, and with `CARELESS` forgets two for one.
    struct List<const ROOM: usize, const CARELESS: bool>(Vec<u64>);

    impl<const ROOM: usize, const CARELESS: bool> Contestant<u64> for List<ROOM, CARELESS> {
        const NAME: &'static str = "list";

        fn new(_n: usize, _p: f64, _seed: u64) -> Result<Self, Failure> {
            Ok(Self(Vec::new()))
        }

        fn insert(&mut self, key: &u64) -> bool {
            self.0.push(*key);
            true
        }

        fn contains(&self, key: &u64) -> bool {
            self.0.contains(key)
        }

        fn bits(&self) -> u64 {
            ROOM as u64 * 64
        }
    }

    impl<const ROOM: usize, const CARELESS: bool> Removing<u64> for List<ROOM, CARELESS> {
        const WHEN_FULL: &'static str = "error";

        fn slots(&self) -> Option<u64> {
            Some(ROOM as u64)
        }

        fn insert_until_full(&mut self, keys: &[u64]) -> usize {
            let taken = keys.len().min(ROOM - self.0.len());
            self.0.extend_from_slice(&keys[..taken]);
            taken
        }

        fn remove(&mut self, key: &u64) -> bool {
            let found = self.0.iter().position(|held| held == key);
            if let Some(index) = found {
                self.0.remove(index);
                if CARELESS {
                    self.0.pop();
                }
            }
            found.is_some()
        }
    }

    #[test]
    fn a_full_filter_is_asked_for_what_it_took_and_a_lost_key_ends_the_run() {
        let inserted: Vec<u64> = (0..20).collect();
        let hits: Vec<u64> = (10..20).chain(10..20).collect();
        let work = Workload { n: 10, p: 0.01, inserted: &inserted, hits: &hits, misses: &[100, 101] };
        let sample = run_removing::<u64, List<16, false>>(&work, 1).expect("nothing is lost");
        assert_eq!((sample.held, sample.lost, sample.sample.false_positives), (10, 0, 0));
        assert!(!sample.late_insert_ns.is_nan());
        let sample = run_removing::<u64, List<8, false>>(&work, 1).expect("full, and nothing is lost");
        assert_eq!((sample.held, sample.lost), (8, 0));
        assert!(run_removing::<u64, List<16, true>>(&work, 1).is_err());
    }
}
