//! Prints what a flood of absent keys costs: `cargo run --release -p cache-penetration`.

use std::error::Error;
use std::thread;

use cache_penetration::database::Database;
use cache_penetration::flood::{Flood, present};
use cache_penetration::guard::{Guard, LocalGuard, RemoteGuard};
use cache_penetration::users::Users;
use mayhap::hash::SecretKey;
use mayhap_server::{Server, Settings};

const USERS: u64 = 100_000;
const RATE: f64 = 0.001;

/// Fixed, so that every run prints the same. Yours comes from the system's random numbers, and nobody else knows it.
const SECRET_KEY: [u8; 16] = *b"only an example!";

fn main() -> Result<(), Box<dyn Error>> {
    println!("{USERS} users in SQLite. For 5 minutes, in each second: 100 questions about users that exist,");
    println!("1000 about users that don't.");
    let flood = Flood { users: USERS, seconds: 300, present: 100, absent: 1_000, pool: Some(20_000) };
    println!("\nThe flood repeats itself: 20000 different absent names.\n");
    compare(flood)?;
    println!("\nNo absent name comes twice, as from anybody who means it.\n");
    compare(Flood { pool: None, ..flood })?;
    println!(
        "\nA cached \"none\" costs a query and an entry for each different name, again when it has expired:"
    );
    println!(
        "a long expiry saves queries only where names repeat, and costs memory. The filter costs 20 bits"
    );
    println!("for each user that exists, whatever is asked.");
    println!("\nThe filter on a server, asked over TCP: 10 seconds of that flood each.\n");
    fail_open(Flood { pool: None, seconds: 10, ..flood })
}

/// One row for each way to stand a flood.
fn compare(flood: Flood) -> Result<(), Box<dyn Error>> {
    println!("{:<26} {:>16} {:>13} {:>12}", "", "database queries", "cache at most", "filter");
    let baseline = row("present users alone", None, None, Flood { absent: 0, ..flood }, 0)?;
    row("no guard", None, None, flood, baseline)?;
    row("\"none\" cached for 30 s", None, Some(30), flood, baseline)?;
    row("\"none\" cached for 300 s", None, Some(300), flood, baseline)?;
    let guard = LocalGuard::new(USERS * 5 / 4, RATE, SecretKey::new(SECRET_KEY))?;
    let queries = row("filter at 0.1 %", Some(guard), None, flood, baseline)?;
    let share = (queries - baseline) as f64 / flood.absent_in_all() as f64;
    println!(
        "\nOf the questions about absent users, {:.3} % passed the filter and reached the database. It",
        share * 100.0
    );
    println!("promises 0.1 %, and has room for a quarter more users.");
    Ok(())
}

fn row(
    name: &str,
    guard: Option<LocalGuard>,
    none_cached_for: Option<u64>,
    flood: Flood,
    baseline: u64,
) -> Result<u64, Box<dyn Error>> {
    let mut users = stocked(guard, none_cached_for)?;
    let missed = flood.run(&mut users, 0)?;
    assert_eq!(missed, 0, "no user that exists is ever refused");
    let queries = users.database().queries();
    let filter = users.guard().map_or(0, |guard| guard.filter().len_bytes());
    let more = if baseline > 0 { format!("+{}", queries - baseline) } else { queries.to_string() };
    let kib = |bytes: u64| if bytes > 0 { format!("{} KiB", bytes.div_ceil(1024)) } else { "-".to_owned() };
    println!("{name:<26} {more:>16} {:>13} {:>12}", kib(users.cache().peak_bytes() as u64), kib(filter));
    Ok(queries)
}

/// The same with a server, which goes away in the middle.
fn fail_open(flood: Flood) -> Result<(), Box<dyn Error>> {
    let server = server()?;
    let (address, handle) = (server.local_addr(), server.handle());
    let server = thread::spawn(move || server.run());
    let mut users = stocked(Some(RemoteGuard::new(address, USERS * 5 / 4, RATE)), None)?;
    println!("{:<26} {:>16} {:>13} {:>12}", "", "database queries", "refused", "not asked");
    let mut before = (0, 0, 0);
    let mut report = |name: &str, users: &Users<RemoteGuard>| {
        let after = (users.database().queries(), users.refused(), users.unguarded());
        let [queries, refused, unguarded] = [after.0 - before.0, after.1 - before.1, after.2 - before.2];
        println!("{name:<26} {queries:>16} {refused:>13} {unguarded:>12}");
        before = after;
    };
    assert_eq!(flood.run(&mut users, 0)?, 0);
    report("the server answers", &users);
    handle.shutdown();
    server.join().map_err(|_| "the server failed")??;
    assert_eq!(flood.run(&mut users, 10)?, 0);
    report("it is gone: all pass", &users);
    users.add("new", "new@example.org")?;
    assert_eq!(users.get("new", 20)?.as_deref(), Some("new@example.org"));
    println!(
        "\nNo user that exists was refused, in any row; one that was written a moment ago is found at once."
    );
    Ok(())
}

fn stocked<G: Guard>(guard: Option<G>, none_cached_for: Option<u64>) -> Result<Users<G>, Box<dyn Error>> {
    let mut database = Database::new()?;
    database.fill((0..USERS).map(present))?;
    let mut users = Users::new(database, guard, none_cached_for);
    users.warm()?;
    Ok(users)
}

/// What `mayhap serve` does, on any free port.
fn server() -> Result<Server, Box<dyn Error>> {
    let mut settings = Settings::new()?;
    let key = "6f6e6c7920616e206578616d706c6521";
    for (name, value) in [("port", "0"), ("threads", "1"), ("log-level", "error"), ("secret-key", key)] {
        settings.set(name, value).map_err(|error| error.to_string())?;
    }
    Ok(Server::bind(settings)?)
}
