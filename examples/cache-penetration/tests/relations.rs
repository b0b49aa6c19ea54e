//! What the example shows, as relations that must hold.

use std::net::SocketAddr;
use std::thread::{self, JoinHandle};

use cache_penetration::database::Database;
use cache_penetration::flood::{Flood, absent, present};
use cache_penetration::guard::{Guard, LocalGuard, RemoteGuard};
use cache_penetration::users::Users;
use mayhap::hash::SecretKey;
use mayhap_server::{Handle, Server, Settings};

const FLOOD: Flood = Flood { users: 5_000, seconds: 60, present: 20, absent: 500, pool: None };

fn users<G: Guard>(guard: Option<G>, none_cached_for: Option<u64>) -> Users<G> {
    let mut database = Database::new().expect("SQLite");
    database.fill((0..FLOOD.users).map(present)).expect("users");
    let mut users = Users::new(database, guard, none_cached_for);
    users.warm().expect("a warm filter");
    users
}

fn local(rate: f64) -> LocalGuard {
    LocalGuard::new(FLOOD.users, rate, SecretKey::new([7; 16])).expect("a filter")
}

/// Database queries and the largest cache, in bytes.
fn cost(guard: Option<LocalGuard>, none_cached_for: Option<u64>, flood: Flood) -> (u64, usize) {
    let mut users = users(guard, none_cached_for);
    assert_eq!(flood.run(&mut users, 0).expect("SQLite"), 0, "no user that exists is refused");
    (users.database().queries(), users.cache().peak_bytes())
}

#[test]
fn only_false_positives_pass_the_filter() {
    let quiet = cost(None, None, Flood { absent: 0, ..FLOOD });
    let rate = 0.01;
    let mut guarded = users(Some(local(rate)), None);
    let expected_rate = guarded.guard().unwrap().filter().expected_rate();
    assert!(expected_rate < rate);
    assert_eq!(FLOOD.run(&mut guarded, 0).unwrap(), 0);
    let passed = (guarded.database().queries() - quiet.0) as f64;
    // Every absent name is asked once, so this is a binomial count; five standard deviations.
    let expected = expected_rate * FLOOD.absent_in_all() as f64;
    assert!((passed - expected).abs() < 5.0 * expected.sqrt(), "{passed} passed, {expected} expected");
    assert_eq!(guarded.cache().peak_bytes(), quiet.1, "and nothing of it is cached");
}

#[test]
fn cached_nones_help_against_repeats_alone() {
    let quiet = cost(None, None, Flood { absent: 0, ..FLOOD });
    let bare = cost(None, None, FLOOD);
    assert_eq!(bare.0, quiet.0 + FLOOD.absent_in_all());
    // Each name once: every one is a query, and the longer they are kept the more memory they take.
    let (short, long) = (cost(None, Some(5), FLOOD), cost(None, Some(50), FLOOD));
    assert_eq!((short.0, long.0), (bare.0, bare.0));
    let (short_bytes, long_bytes) = ((short.1 - quiet.1) as f64, (long.1 - quiet.1) as f64);
    assert!(long_bytes > 8.0 * short_bytes, "{short_bytes} {long_bytes}");
    // The same thousand again and again: one query for each, every time it expires.
    let repeating = Flood { pool: Some(1_000), ..FLOOD };
    let (short, long) = (cost(None, Some(5), repeating), cost(None, Some(50), repeating));
    let (short_queries, long_queries) = (short.0 - quiet.0, long.0 - quiet.0);
    assert!(long_queries >= 1_000 && short_queries > 3 * long_queries, "{short_queries} {long_queries}");
    assert!(short_queries < repeating.absent_in_all() / 2, "{short_queries}");
    assert!(cost(Some(local(0.001)), None, repeating).0 < long.0);
}

#[test]
fn what_was_written_is_found_at_once() {
    let mut users = users(Some(local(0.001)), Some(1_000));
    for number in 0..500 {
        let name = absent(number);
        assert_eq!(users.get(&name, 0).unwrap(), None);
        users.add(&name, "x@example.org").unwrap();
        assert_eq!(users.get(&name, 0).unwrap().as_deref(), Some("x@example.org"));
    }
}

#[test]
fn a_cold_filter_refuses_nobody() {
    let mut database = Database::new().unwrap();
    database.fill([present(0)]).unwrap();
    let mut users = Users::new(database, Some(local(0.001)), None);
    assert!(users.get(&present(0), 0).unwrap().is_some());
    assert_eq!((users.refused(), users.unguarded()), (0, 1));
}

/// A server on this port, or on any for 0.
fn serve(port: u16) -> (SocketAddr, Handle, JoinHandle<std::io::Result<()>>) {
    let mut settings = Settings::new().expect("random bytes");
    for (name, value) in [("port", port.to_string().as_str()), ("threads", "1"), ("log-level", "error")] {
        settings.set(name, value).expect("a setting");
    }
    let server = Server::bind(settings).expect("a free port");
    let (address, handle) = (server.local_addr(), server.handle());
    (address, handle, thread::spawn(move || server.run()))
}

#[test]
fn without_the_server_everything_is_served() {
    let (address, handle, server) = serve(0);
    let mut users = users(Some(RemoteGuard::new(address, FLOOD.users, 0.001)), None);
    let flood = Flood { seconds: 5, ..FLOOD };
    assert_eq!(flood.run(&mut users, 0).unwrap(), 0);
    assert!(users.refused() > flood.absent_in_all() * 98 / 100, "{}", users.refused());
    assert_eq!(users.unguarded(), 0);

    handle.shutdown();
    server.join().unwrap().unwrap();
    let (queries, refused) = (users.database().queries(), users.refused());
    assert_eq!(flood.run(&mut users, 5).unwrap(), 0);
    assert!(users.database().queries() >= queries + flood.absent_in_all(), "all absent names pass");
    assert_eq!(users.refused(), refused, "and nothing is refused");
    users.add("written meanwhile", "x@example.org").unwrap();
    assert!(users.get("written meanwhile", 10).unwrap().is_some());

    // It comes back empty. Nobody believes it before it has been warmed, least of all about what was written meanwhile.
    let (_, handle, server) = serve(address.port());
    thread::sleep(std::time::Duration::from_millis(200));
    assert_eq!(flood.run(&mut users, 10).unwrap(), 0);
    assert_eq!(users.refused(), refused);
    assert!(users.warm().unwrap());
    assert_eq!(flood.run(&mut users, 15).unwrap(), 0);
    assert!(users.refused() > refused);
    assert!(users.get("written meanwhile", 20).unwrap().is_some());
    handle.shutdown();
    server.join().unwrap().unwrap();
}
