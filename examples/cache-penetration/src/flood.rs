//! What users and attackers ask for: made up, but the same every time.

use crate::guard::Guard;
use crate::users::Users;

/// So much in each second, for so long.
#[derive(Clone, Copy, Debug)]
pub struct Flood {
    /// Users that exist: `user 0`, `user 1`, …
    pub users: u64,
    /// How long it lasts.
    pub seconds: u64,
    /// Questions about users that exist, in each second.
    pub present: u64,
    /// Questions about users that don't, in each second.
    pub absent: u64,
    /// How many different absent names there are, or `None` if none comes twice.
    pub pool: Option<u64>,
}

impl Flood {
    /// Lets it loose, from a second on. Returns how many present users were not found, which should be none.
    pub fn run<G: Guard>(&self, users: &mut Users<G>, start: u64) -> rusqlite::Result<u64> {
        // One for each, so that the users that exist ask the same, flood or none.
        let (mut of_present, mut of_absent) = (Random(start), Random(!start));
        let mut missed = 0;
        let mut fresh = start * self.absent;
        for now in start..start + self.seconds {
            users.expire(now);
            for _ in 0..self.present {
                missed += u64::from(users.get(&present(of_present.below(self.users)), now)?.is_none());
            }
            for _ in 0..self.absent {
                fresh += 1;
                users.get(&absent(self.pool.map_or(fresh, |pool| of_absent.below(pool))), now)?;
            }
        }
        Ok(missed)
    }

    /// Questions about absent users, in all.
    pub fn absent_in_all(&self) -> u64 {
        self.seconds * self.absent
    }
}

/// A user that exists.
pub fn present(number: u64) -> String {
    format!("user {number}")
}

/// One that doesn't.
pub fn absent(number: u64) -> String {
    format!("nobody {number}")
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}
