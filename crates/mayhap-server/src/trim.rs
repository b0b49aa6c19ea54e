//! Giving memory that was freed back to the system.
//!
//! The C library of GNU keeps what is freed: pages in the middle of its heaps until somebody asks for them, and those of the
//! threads' heaps even at the end. After `FLUSHALL` a process would be as large as before.

/// A drop of this many bytes is worth a walk through the heaps,
const LEAST_BYTES: u64 = 32 << 20;
/// if it is also this part of what there was,
const LEAST_PART: u64 = 4;
/// and has lasted for so many looks: who removes in order to put others there would have to ask for it again.
const LOOKS: u32 = 8;

/// When to give memory back. Looked at now and then, and only when nothing waits to be freed.
#[derive(Debug, Default)]
pub(crate) struct Trim {
    /// The most that was in use since memory was last given back.
    most: u64,
    /// For how many looks it has been much less.
    looks: u32,
}

impl Trim {
    /// Whether memory is to be given back, now that so many bytes are in use.
    pub(crate) fn is_due(&mut self, used: u64) -> bool {
        self.most = self.most.max(used);
        let dropped = self.most - used;
        self.looks = if dropped >= LEAST_BYTES.max(self.most / LEAST_PART) { self.looks + 1 } else { 0 };
        if self.looks < LOOKS {
            return false;
        }
        *self = Self { most: used, looks: 0 };
        true
    }
}

/// Gives free pages back. Threads that allocate from a heap wait while it is walked through.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub(crate) fn give_back() {
    // SAFETY: that is its declaration, and whoever calls it need promise nothing.
    unsafe extern "C" {
        safe fn malloc_trim(keep: usize) -> std::ffi::c_int;
    }
    // Whether there was something to give back.
    let _ = malloc_trim(0);
}

/// Other C libraries do so by themselves, or have no such call.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back() {}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    #[test]
    fn much_that_stays_free_is_given_back_once() {
        let mut trim = Trim::default();
        assert!((0..100).all(|look| !trim.is_due(look * 10 * MB)));
        // 990 MB were in use. A fifth less is not worth it, and much less for a moment isn't either.
        assert!((0..100).all(|_| !trim.is_due(800 * MB)));
        for _ in 0..20 {
            assert!((1..LOOKS).all(|_| !trim.is_due(100 * MB)));
            assert!(!trim.is_due(980 * MB));
        }
        let due: Vec<bool> = (0..50).map(|_| trim.is_due(500 * MB)).collect();
        assert_eq!(due.iter().position(|due| *due), Some(LOOKS as usize - 1));
        assert_eq!(due.iter().filter(|due| **due).count(), 1);
        // From then on it is compared with what is left.
        assert!((0..50).any(|_| trim.is_due(300 * MB)));
        assert!((0..50).any(|_| trim.is_due(0)));
        // A small server never does it.
        assert!((0..50).all(|look| !trim.is_due(look % 10 * MB)));
    }
}
