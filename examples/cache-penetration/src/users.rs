//! The path of a question: filter, cache, database. This is the part to copy.

use rusqlite::Result;

use crate::cache::Cache;
use crate::database::Database;
use crate::guard::Guard;

/// How long a user stays in the cache, in seconds.
const CACHED_FOR: u64 = 600;

/// Users, behind what protects them.
#[derive(Debug)]
pub struct Users<G> {
    database: Database,
    cache: Cache,
    guard: Option<G>,
    /// For how long "there is none" is cached, in seconds, if at all.
    none_cached_for: Option<u64>,
    /// Written while the filter could not be reached. Until it has them it would say "no" to users that exist.
    owed: Vec<String>,
    refused: u64,
    unguarded: u64,
}

impl<G: Guard> Users<G> {
    /// Of a database, with or without a filter, with or without cached "none".
    pub fn new(database: Database, guard: Option<G>, none_cached_for: Option<u64>) -> Self {
        let cache = Cache::default();
        Self { database, cache, guard, none_cached_for, owed: Vec::new(), refused: 0, unguarded: 0 }
    }

    /// Puts every user of the table into the filter. Do so at the start, after an outage, and now and then into a new
    /// one, because it can't forget users that were deleted. Who writes meanwhile adds to the same filter, so nobody is
    /// missed.
    pub fn warm(&mut self) -> Result<bool> {
        let names = self.database.names()?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let Some(guard) = &mut self.guard else { return Ok(false) };
        Ok(guard.add(&names).and_then(|()| guard.warmed()).is_ok())
    }

    /// The address of a user, if there is such a user.
    pub fn get(&mut self, name: &str, now: u64) -> Result<Option<String>> {
        if !self.may_exist(name) {
            self.refused += 1;
            return Ok(None);
        }
        if let Some(known) = self.cache.get(name) {
            return Ok(known.clone());
        }
        let found = self.database.email(name)?;
        let keep_for = if found.is_some() { Some(CACHED_FOR) } else { self.none_cached_for };
        if let Some(seconds) = keep_for {
            self.cache.put(name, found.clone(), now + seconds);
        }
        Ok(found)
    }

    /// Adds a user: to the filter first. The other way round there would be a moment at which the user exists and is
    /// refused; this way the worst is one more false positive, if the database says no.
    pub fn add(&mut self, name: &str, email: &str) -> Result<()> {
        if self.guard.as_mut().is_some_and(|guard| guard.add(&[name]).is_err()) {
            self.owed.push(name.to_owned());
        }
        self.database.insert(name, email)?;
        self.cache.remove(name);
        Ok(())
    }

    /// Fails open: only a filter that answers, and knows all it should, can refuse a user.
    fn may_exist(&mut self, name: &str) -> bool {
        let Some(guard) = &mut self.guard else { return true };
        if !self.owed.is_empty() {
            let owed: Vec<&str> = self.owed.iter().map(String::as_str).collect();
            if guard.add(&owed).is_ok() {
                self.owed.clear();
            }
        }
        if self.owed.is_empty()
            && let Ok(answer) = guard.may_exist(name)
        {
            return answer;
        }
        self.unguarded += 1;
        true
    }

    /// Lets the time pass.
    pub fn expire(&mut self, now: u64) {
        self.cache.expire(now);
    }

    /// The database, to see how much it was asked.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// The cache, to see how large it was.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The filter.
    pub fn guard(&self) -> Option<&G> {
        self.guard.as_ref()
    }

    /// Questions that the filter answered with "no".
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Questions that it could not be asked.
    pub fn unguarded(&self) -> u64 {
        self.unguarded
    }
}
