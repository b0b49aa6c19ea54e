//! What a filter was made for.

/// The promise: up to `keys` distinct keys, at most `rate` of the absent ones answered "mayhap".
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) keys: u64,
    pub(crate) rate: f64,
}

impl Plan {
    /// The plan of a union: what either was made for, at the rate both keep.
    pub(crate) fn either(self, other: Self) -> Self {
        Self { keys: self.keys.max(other.keys), rate: self.rate.max(other.rate) }
    }

    /// The plan after a change of size: no more keys than the filter holds at the planned rate.
    pub(crate) fn within(self, capacity: impl FnOnce(f64) -> u64) -> Self {
        Self { keys: self.keys.min(capacity(self.rate).max(1)), rate: self.rate }
    }

    /// Whether an estimated count is above the plan by more than the estimate's own error explains.
    pub(crate) fn is_exceeded_by(self, estimated_keys: u64, standard_error: f64) -> bool {
        estimated_keys as f64 > self.keys as f64 + OVER_PLAN_SIGMAS * standard_error
    }
}

/// A filter filled exactly to its plan is called over it less than once in ten thousand times.
pub(crate) const OVER_PLAN_SIGMAS: f64 = 4.0;
