//! The table that everything else protects.

use std::cell::Cell;

use rusqlite::{Connection, OptionalExtension as _, params};

/// Users by their name, in SQLite.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    queries: Cell<u64>,
}

impl Database {
    /// An empty table, in memory. A file or a server would only make each query dearer.
    pub fn new() -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection
            .execute_batch("CREATE TABLE users (name TEXT PRIMARY KEY, email TEXT NOT NULL) WITHOUT ROWID")?;
        Ok(Self { connection, queries: Cell::new(0) })
    }

    /// Adds many users at once.
    pub fn fill(&mut self, names: impl IntoIterator<Item = String>) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        for name in names {
            let email = format!("{name}@example.org");
            transaction.prepare_cached("INSERT INTO users VALUES (?1, ?2)")?.execute(params![name, email])?;
        }
        transaction.commit()
    }

    /// Adds a user.
    pub fn insert(&self, name: &str, email: &str) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached("INSERT INTO users VALUES (?1, ?2)")?;
        statement.execute(params![name, email]).map(drop)
    }

    /// Looks a user up: the query that a flood is made of.
    pub fn email(&self, name: &str) -> rusqlite::Result<Option<String>> {
        self.queries.set(self.queries.get() + 1);
        let mut statement = self.connection.prepare_cached("SELECT email FROM users WHERE name = ?1")?;
        statement.query_row([name], |row| row.get(0)).optional()
    }

    /// Every name: what a filter is warmed from.
    pub fn names(&self) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.connection.prepare("SELECT name FROM users")?;
        statement.query_map([], |row| row.get(0))?.collect()
    }

    /// How many times a user was looked up.
    pub fn queries(&self) -> u64 {
        self.queries.get()
    }
}
