//! The parameters of one cuckoo filter.

use super::load::{can_grow, capacity};
use super::{MAX_BUCKETS, rate};
use crate::bits::BLOCK_BYTES;
use crate::cuckoo::CuckooLayout;
use crate::sizing::error::SizingError;
use crate::sizing::limits::{
    BEYOND_COUNTING, MAX_BYTES, advised_rate, check_bytes, check_promise, check_rate, lowest_rate,
};
use crate::sizing::search::least;

/// A cuckoo filter on paper: keys, rate, layout and buckets that go together.
///
/// ```
/// use mayhap::sizing::CuckooPlan;
///
/// let plan = CuckooPlan::for_rate(1_000_000, 0.001)?;
/// assert!(plan.expected_rate() <= plan.rate());
/// assert!(plan.bits_per_key() < 13.5);
/// # Ok::<(), mayhap::sizing::SizingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CuckooPlan {
    keys: u64,
    rate: f64,
    layout: CuckooLayout,
    buckets: u64,
}

impl CuckooPlan {
    /// The least memory in which `keys` keys fit and have a rate of at most `rate`.
    ///
    /// A table may be twice as large as the keys need to fit, and so half as full, but no larger: that halves the rate, as
    /// one more bit in every fingerprint does for far less. So there is a lowest rate, that of fingerprints of 32 bits,
    /// about 6 · 10⁻¹¹ for many keys; the error for lower ones names it.
    ///
    /// Fails for 0 keys, a rate outside (0, 1) or below [`lowest_rate`] or below what fingerprints of 32 bits give, and
    /// sizes above [`MAX_BYTES`].
    pub fn for_rate(keys: u64, rate: f64) -> Result<Self, SizingError> {
        Self::for_rate_with(None, keys, rate)
    }

    /// The same with a given layout, if there is one. Fails as [`for_rate`](Self::for_rate) does, and for rates below what
    /// the fingerprints of that layout give.
    pub fn for_rate_with(layout: Option<CuckooLayout>, keys: u64, rate: f64) -> Result<Self, SizingError> {
        check_promise(keys, rate).map_err(|error| match error {
            // The lowest rate of digests is no advice where fingerprints can't give it.
            SizingError::RateTooLow { asked, lowest, .. } if lowest < 1.0 => {
                match Self::for_rate_with(layout, keys, lowest) {
                    Err(SizingError::RateOutOfReach { lowest, keys, of, instead, .. }) => {
                        SizingError::RateOutOfReach { asked, lowest, keys, of, instead }
                    }
                    _ => error,
                }
            }
            error => error,
        })?;
        let plan = |layout| Self::least(layout, keys, rate);
        match layout {
            Some(layout) => plan(layout),
            None => best(layouts(), plan, |plan, best| plan.bytes() < best.bytes()).map_err(of_all_layouts),
        }
    }

    /// The same for the first of many layers: only layouts whose fingerprints find their way in far larger tables, too, and
    /// of those only plans that `will_do`.
    pub(crate) fn for_growing(
        keys: u64,
        rate: f64,
        will_do: impl Fn(&Self) -> bool,
    ) -> Result<Self, SizingError> {
        check_promise(keys, rate)?;
        let too_low = || out_of_reach(rate, 1.0, keys);
        let plan = |layout| Self::least(layout, keys, rate)?.some_if(&will_do).ok_or_else(too_low);
        best(layouts().filter(|layout| can_grow(*layout)), plan, |plan, best| plan.bytes() < best.bytes())
            .map_err(of_all_layouts)
    }

    fn some_if(self, will_do: impl Fn(&Self) -> bool) -> Option<Self> {
        will_do(&self).then_some(self)
    }

    /// `keys` keys in at most `bytes` bytes, in the layout with the lowest rate. The promised rate is the expected one.
    ///
    /// Fails for 0 keys, memory in which so many don't fit in any layout, and sizes above [`MAX_BYTES`].
    pub fn for_bytes(keys: u64, bytes: u64) -> Result<Self, SizingError> {
        Self::for_bytes_with(None, keys, bytes)
    }

    /// The same with a given layout, if there is one. Fails as [`for_bytes`](Self::for_bytes) does.
    pub fn for_bytes_with(layout: Option<CuckooLayout>, keys: u64, bytes: u64) -> Result<Self, SizingError> {
        check_bytes(bytes, MAX_BYTES)?;
        let plan = |layout| {
            let buckets = buckets_in(layout, bytes);
            if capacity(layout, buckets) < keys {
                return Err(SizingError::TooSmall { bytes, needed: bytes_for(layout, keys) });
            }
            Self::with_buckets(layout, buckets, keys)
        };
        match layout {
            Some(layout) => plan(layout),
            None => best(layouts(), plan, |plan, best| plan.rate < best.rate),
        }
    }

    /// As many keys as at most `bytes` bytes hold at a rate of at most `rate`, in the layout that holds the most.
    ///
    /// Fails for a rate outside (0, 1) or below what fingerprints of 32 bits give, sizes above [`MAX_BYTES`], and too little
    /// memory for one key at that rate.
    pub fn for_capacity(bytes: u64, rate: f64) -> Result<Self, SizingError> {
        Self::for_capacity_with(None, bytes, rate)
    }

    /// The same with a given layout, if there is one. Fails as [`for_capacity`](Self::for_capacity) does.
    pub fn for_capacity_with(
        layout: Option<CuckooLayout>,
        bytes: u64,
        rate: f64,
    ) -> Result<Self, SizingError> {
        check_rate(rate)?;
        check_bytes(bytes, MAX_BYTES)?;
        let plan = |layout| {
            let buckets = buckets_in(layout, bytes);
            let full = capacity(layout, buckets);
            let keeps = |keys| super::rate(layout, keys, buckets) <= rate && lowest_rate(keys) <= rate;
            let keys = match least(full, 1..=full.max(1), |keys| !keeps(keys)) {
                None => full,
                Some(first) => (first - 1).min(full),
            };
            if keys == 0 {
                let needed = Self::for_rate_with(Some(layout), 1, rate)?.bytes();
                return Err(SizingError::TooSmall { bytes, needed });
            }
            // A table that would be nearly empty is refused, as it is when keys and rate are given.
            Self::least(layout, keys, rate)?;
            Ok(Self { keys, rate, layout, buckets })
        };
        match layout {
            Some(layout) => plan(layout),
            None => best(layouts(), plan, |plan, best| plan.keys > best.keys).map_err(of_all_layouts),
        }
    }

    /// `keys` keys in exactly `buckets` buckets. The promised rate is the expected one.
    ///
    /// Whether so many fit is not asked. Fails for 0 keys, no buckets, sizes above [`MAX_BYTES`], and more keys than
    /// there are places.
    pub fn with_buckets(layout: CuckooLayout, buckets: u64, keys: u64) -> Result<Self, SizingError> {
        check_buckets(layout, buckets)?;
        if keys == 0 {
            return Err(SizingError::ZeroKeys);
        }
        let plan = Self { keys, rate: 0.5, layout, buckets };
        let rate = rate(layout, keys, buckets).max(lowest_rate(keys));
        if keys > plan.slots() {
            let what = "the number of keys for so few places in buckets";
            return Err(SizingError::OutOfRange { what, got: keys, least: 1, most: plan.slots() });
        }
        if rate >= 1.0 {
            return Err(SizingError::TooSmall { bytes: plan.bytes(), needed: bytes_for(layout, keys) });
        }
        Ok(Self { rate, ..plan })
    }

    /// As many keys as fit into exactly `buckets` buckets. The promised rate is the expected one.
    ///
    /// Fails for no buckets, too few of them for one key, and sizes above [`MAX_BYTES`].
    pub fn filled(layout: CuckooLayout, buckets: u64) -> Result<Self, SizingError> {
        check_buckets(layout, buckets)?;
        Self::with_buckets(layout, buckets, capacity(layout, buckets).max(1))
    }

    /// This plan, if it needs at most `limit` bytes.
    pub fn within(self, limit: u64) -> Result<Self, SizingError> {
        check_bytes(self.bytes(), limit).map(|()| self)
    }

    /// The keys it is planned for.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The promised rate: with the planned keys inserted, false positives are at most this frequent.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The rate the model expects with the planned keys inserted.
    #[must_use]
    pub fn expected_rate(&self) -> f64 {
        rate(self.layout, self.keys, self.buckets)
    }

    /// How fingerprints lie in buckets.
    #[must_use]
    pub fn layout(&self) -> CuckooLayout {
        self.layout
    }

    /// The number of buckets.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.buckets
    }

    /// The places for fingerprints.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.buckets * u64::from(self.layout.entries_per_bucket())
    }

    /// The part of the places that is taken when the planned keys are in.
    #[must_use]
    pub fn load(&self) -> f64 {
        self.keys as f64 / self.slots() as f64
    }

    /// The cache lines that one key touches.
    #[must_use]
    pub fn lines(&self) -> u64 {
        2
    }

    /// The blocks of 512 bits.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        blocks(self.layout, self.buckets)
    }

    /// The bytes of all blocks.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.blocks().saturating_mul(BLOCK_BYTES as u64)
    }

    /// The bits of the filter for each planned key.
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        self.bytes() as f64 * 8.0 / self.keys as f64
    }

    /// The least memory of a layout, all of it used for buckets.
    fn least(layout: CuckooLayout, keys: u64, rate: f64) -> Result<Self, SizingError> {
        let per_line = u64::from(layout.buckets_per_line());
        let most = MAX_BUCKETS / per_line;
        let guess = keys / (per_line * u64::from(layout.entries_per_bucket())) + 1;
        let full = least(guess, 1..=most, |blocks| capacity(layout, blocks * per_line) >= keys)
            .ok_or(BEYOND_COUNTING)?;
        let emptiest = full.saturating_mul(EMPTIEST).min(most);
        let rate_in = |blocks: u64| super::rate(layout, keys, blocks * per_line);
        let blocks = least(full, full..=emptiest, |blocks| rate_in(blocks) <= rate).ok_or_else(|| {
            out_of_reach(rate, advised_rate(rate_in(emptiest).max(lowest_rate(keys))), keys)
        })?;
        let plan = Self { keys, rate, layout, buckets: blocks * per_line };
        check_bytes(plan.bytes(), MAX_BYTES)?;
        Ok(plan)
    }
}

/// How many times as large as its keys need to fit a table may be, to keep a rate by being emptier. Twice is one bit of a
/// fingerprint. Without a limit, fingerprints that are too short for the rate would be paid for with tables that are
/// nearly empty: gigabytes for a thousand keys.
const EMPTIEST: u64 = 2;

/// Every layout, those that are faster first: of two that need the same memory the first is chosen.
fn layouts() -> impl Iterator<Item = CuckooLayout> {
    let bits = || CuckooLayout::MIN_BITS..=CuckooLayout::MAX_BITS;
    let packed = [4, 2, 8, 1]
        .into_iter()
        .flat_map(move |entries| bits().filter_map(move |f| CuckooLayout::new(entries, f)));
    packed.chain(bits().filter_map(CuckooLayout::semi_sorted))
}

/// The best plan of all layouts; if none has one, the reason that is nearest to having one.
fn best(
    layouts: impl Iterator<Item = CuckooLayout>,
    plan: impl Fn(CuckooLayout) -> Result<CuckooPlan, SizingError>,
    better: impl Fn(&CuckooPlan, &CuckooPlan) -> bool,
) -> Result<CuckooPlan, SizingError> {
    let mut best = Err(SizingError::ZeroKeys);
    for layout in layouts {
        best = match (best, plan(layout)) {
            (Ok(best), Ok(plan)) if better(&plan, &best) => Ok(plan),
            (Err(before), Err(error)) => Err(nearer(before, error)),
            (Err(_), plan) => plan,
            (best, _) => best,
        };
    }
    best
}

/// Of two layouts' reasons, that of the lower rate. Where another is too large, or too small, its rate was low enough.
fn nearer(before: SizingError, error: SizingError) -> SizingError {
    use SizingError::{RateOutOfReach, ZeroKeys};
    match (before, error) {
        (ZeroKeys, error) => error,
        (RateOutOfReach { lowest, .. }, RateOutOfReach { lowest: other, .. }) if lowest <= other => before,
        (before, RateOutOfReach { .. }) if !matches!(before, RateOutOfReach { .. }) => before,
        (_, error) => error,
    }
}

fn out_of_reach(asked: f64, lowest: f64, keys: u64) -> SizingError {
    let (of, instead) = ("in a table of this layout", "choose one with longer fingerprints");
    SizingError::RateOutOfReach { asked, lowest, keys, of, instead }
}

/// The same reason, where no layout was asked for.
fn of_all_layouts(error: SizingError) -> SizingError {
    match error {
        SizingError::RateOutOfReach { asked, lowest, keys, .. } => SizingError::RateOutOfReach {
            asked,
            lowest,
            keys,
            of: "in a cuckoo filter, whose fingerprints have 32 bits at most",
            instead: "use a Bloom filter",
        },
        error => error,
    }
}

fn blocks(layout: CuckooLayout, buckets: u64) -> u64 {
    buckets.div_ceil(u64::from(layout.buckets_per_line()))
}

/// The buckets that fit into so many bytes.
fn buckets_in(layout: CuckooLayout, bytes: u64) -> u64 {
    (bytes / BLOCK_BYTES as u64 * u64::from(layout.buckets_per_line())).min(MAX_BUCKETS)
}

/// The bytes in which so many keys fit, at whatever rate.
fn bytes_for(layout: CuckooLayout, keys: u64) -> u64 {
    let per_line = u64::from(layout.buckets_per_line());
    least(keys / per_line, 1..=MAX_BUCKETS / per_line, |blocks| capacity(layout, blocks * per_line) >= keys)
        .map_or(u64::MAX, |blocks| blocks.saturating_mul(BLOCK_BYTES as u64))
}

/// Refuses a number of buckets that no table has.
fn check_buckets(layout: CuckooLayout, buckets: u64) -> Result<(), SizingError> {
    if buckets == 0 {
        let what = "the number of buckets";
        return Err(SizingError::OutOfRange { what, got: 0, least: 1, most: MAX_BUCKETS });
    }
    let bytes = blocks(layout, buckets).saturating_mul(BLOCK_BYTES as u64);
    if buckets > MAX_BUCKETS {
        return Err(SizingError::TooLarge { bytes, limit: MAX_BYTES });
    }
    check_bytes(bytes, MAX_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_keeps_its_promise_at_every_size() {
        for keys in [1, 2, 5, 10, 100, 1_000, 1_000_000, 1_000_000_000] {
            for rate in [0.5, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6, 1e-8] {
                let plan = CuckooPlan::for_rate(keys, rate).unwrap();
                assert_eq!((plan.keys(), plan.rate()), (keys, rate));
                assert!(plan.expected_rate() <= rate, "{plan:?}");
                assert!(capacity(plan.layout(), plan.buckets()) >= keys, "{plan:?}");
            }
        }
    }

    #[test]
    fn the_chosen_layout_has_the_least_memory() {
        for rate in [0.3, 0.1, 0.03, 0.01, 1e-3, 1e-5] {
            let best = CuckooPlan::for_rate(1_000_000, rate).unwrap();
            for layout in layouts() {
                if let Ok(plan) = CuckooPlan::for_rate_with(Some(layout), 1_000_000, rate) {
                    assert!(plan.bytes() >= best.bytes(), "{plan:?} {best:?}");
                }
            }
        }
    }

    #[test]
    fn bits_per_key_of_a_million_keys() {
        for (rate, bits) in [(0.03, 7.5), (0.01, 9.63), (1e-3, 13.5), (1e-4, 16.85)] {
            let plan = CuckooPlan::for_rate(1_000_000, rate).unwrap();
            assert!((plan.bits_per_key() - bits).abs() < 0.05, "{plan:?}: {}", plan.bits_per_key());
        }
    }

    #[test]
    fn any_two_numbers_lead_to_the_same_plan() {
        for rate in [0.1, 0.01, 1e-6] {
            let plan = CuckooPlan::for_rate(1_000_000, rate).unwrap();
            let by_bytes = CuckooPlan::for_bytes(1_000_000, plan.bytes()).unwrap();
            assert!(by_bytes.rate() <= rate && by_bytes.bytes() <= plan.bytes());
            let by_capacity = CuckooPlan::for_capacity(plan.bytes(), rate).unwrap();
            assert!(by_capacity.keys() >= 1_000_000 && by_capacity.keys() < 1_020_000, "{by_capacity:?}");
            assert!(by_capacity.expected_rate() <= rate && by_capacity.bytes() <= plan.bytes());
        }
    }

    /// The lowest rate that is left, if the one asked for is out of reach.
    fn lowest(plan: Result<CuckooPlan, SizingError>) -> f64 {
        match plan {
            Err(SizingError::RateOutOfReach { lowest, .. }) => lowest,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn no_table_is_nearly_empty_to_keep_a_rate() {
        for keys in [1, 3, 10, 100, 1_000, 1_000_000, 100_000_000] {
            let none = 1e-15_f64.max(lowest_rate(keys));
            let least = lowest(CuckooPlan::for_rate(keys, none));
            assert!(least < 3e-10, "{keys}: {least}");
            let plan = CuckooPlan::for_rate(keys, least).unwrap();
            assert!(keys < 1_000 || plan.bits_per_key() < 300.0, "{plan:?}");
            assert!(CuckooPlan::for_capacity(plan.bytes(), least).is_ok(), "{plan:?}");
            lowest(CuckooPlan::for_capacity(plan.bytes(), none));
            for layout in layouts() {
                let none = least / 4.0;
                if none < lowest_rate(keys) {
                    continue;
                }
                let least = lowest(CuckooPlan::for_rate_with(Some(layout), keys, none));
                assert!(least >= 1.0 || CuckooPlan::for_rate_with(Some(layout), keys, least).is_ok());
            }
        }
        let short = CuckooLayout::new(4, 4).unwrap();
        assert!(lowest(CuckooPlan::for_rate_with(Some(short), 100, 0.001)) > 0.1);
        // A bit less of a fingerprint is still made up for.
        let layout = CuckooLayout::new(4, 12).unwrap();
        let plan = CuckooPlan::for_rate_with(Some(layout), 1_000_000, 0.001).unwrap();
        assert!(plan.load() > 0.47 && plan.load() < 0.55, "{plan:?}");
    }

    #[test]
    fn impossible_plans_are_refused_with_the_reason() {
        use SizingError::{OutOfRange, RateOutOfRange, RateTooLow, TooLarge, TooSmall, ZeroKeys};
        let layout = CuckooLayout::new(4, 16).unwrap();
        assert_eq!(CuckooPlan::for_rate(0, 0.01), Err(ZeroKeys));
        assert_eq!(CuckooPlan::with_buckets(layout, 10, 0), Err(ZeroKeys));
        assert!(matches!(CuckooPlan::for_rate(10, 1.0), Err(RateOutOfRange { .. })));
        assert!(matches!(CuckooPlan::for_capacity(640, f64::NAN), Err(RateOutOfRange { .. })));
        assert!(matches!(CuckooPlan::for_rate(1 << 40, 1e-9), Err(RateTooLow { .. })));
        assert!(matches!(CuckooPlan::for_bytes(1_000, 64), Err(TooSmall { bytes: 64, needed: 65.. })));
        assert!(matches!(CuckooPlan::for_capacity(63, 0.01), Err(TooSmall { bytes: 63, needed: 64 })));
        let what = "the number of keys for so few places in buckets";
        let too_many = OutOfRange { what, got: 41, least: 1, most: 40 };
        assert_eq!(CuckooPlan::with_buckets(layout, 10, 41), Err(too_many));
        assert!(matches!(CuckooPlan::filled(layout, 0), Err(OutOfRange { got: 0, least: 1, .. })));
        assert!(matches!(CuckooPlan::filled(layout, u64::MAX), Err(TooLarge { .. })));
        assert!(matches!(CuckooPlan::for_rate(1 << 60, 0.5), Err(TooLarge { .. } | RateTooLow { .. })));
        let plan = CuckooPlan::for_rate(1_000_000, 0.01).unwrap();
        assert_eq!(plan.within(plan.bytes()), Ok(plan));
        assert_eq!(plan.within(1_000_000), Err(TooLarge { bytes: plan.bytes(), limit: 1_000_000 }));
    }
}
