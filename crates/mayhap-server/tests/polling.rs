//! Looking for the next command before sleeping: it ends by itself, can be turned off, and holds nothing up.

mod running;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mayhap_server::Handle;
use mayhap_server::statistics::Count;
use running::{Client, Running};

/// Commands of a dialogue: many times what is needed to learn from.
const MANY: usize = 2_000;

/// Longer than anything takes that works.
const PATIENCE: Duration = Duration::from_secs(20);

/// One server at a time: the time of a core is counted for all threads of a name.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn talk(client: &mut Client, commands: usize) {
    for _ in 0..commands {
        client.ask("PING\r\n", "+PONG\r\n");
    }
}

/// How often the server has looked, with success or in vain.
fn looks(handle: &Handle) -> u64 {
    let statistics = &handle.shared().statistics;
    statistics.total(Count::PollsCaught) + statistics.total(Count::PollsInVain)
}

#[test]
fn a_server_that_nobody_asks_uses_no_time() {
    let _alone = alone();
    // As long as may be: if it went on looking, that would be seen.
    let server = Running::with(&[("poll-before-sleep", "10000")]);
    let mut clients: Vec<Client> = (0..4).map(|_| server.connect()).collect();
    for client in &mut clients {
        talk(client, MANY);
    }
    thread::sleep(Duration::from_millis(100));
    let (before, looked) = (worker_time(), looks(&server.handle));
    thread::sleep(Duration::from_millis(500));
    // On a machine that is very busy, the last look of each worker may end only now.
    assert!(looks(&server.handle) <= looked + 2);
    if let (Some(before), Some(after)) = (before, worker_time()) {
        // Two workers that looked all the time would have used up to a second.
        assert!(after - before < Duration::from_millis(50), "{:?} while nobody asked", after - before);
    }
}

#[test]
fn it_can_be_turned_off_and_on_while_the_server_runs() {
    let _alone = alone();
    let server = Running::with(&[("poll-before-sleep", "0"), ("threads", "1")]);
    let mut client = server.connect();
    talk(&mut client, MANY);
    assert_eq!(looks(&server.handle), 0);
    client.ask("CONFIG GET poll-before-sleep\r\n", "*2\r\n$17\r\npoll-before-sleep\r\n$1\r\n0\r\n");
    client.ask("CONFIG SET poll-before-sleep 10000\r\n", "+OK\r\n");
    // Where there is only one core, it never looks.
    if thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
        // Whatever else the machine does: some sleeps of a dialogue are shorter than twice ten milliseconds.
        let start = Instant::now();
        while looks(&server.handle) == 0 {
            talk(&mut client, 100);
            assert!(start.elapsed() < PATIENCE, "it never looks");
        }
    }
    client.ask("CONFIG SET poll-before-sleep 0\r\n", "+OK\r\n");
    let looked = looks(&server.handle);
    talk(&mut client, MANY);
    assert_eq!(looks(&server.handle), looked);
    client.send("CONFIG SET poll-before-sleep 10001\r\n");
    let refusal = "-ERR CONFIG SET failed (possibly related to argument 'poll-before-sleep') - ";
    client.expect(refusal);
}

#[test]
fn a_client_is_killed_and_the_server_stops_while_it_looks() {
    let _alone = alone();
    let server = Running::with(&[("poll-before-sleep", "10000"), ("threads", "1")]);
    let (mut killed, mut other) = (server.connect(), server.connect());
    talk(&mut killed, MANY);
    other.ask("CLIENT KILL TYPE normal SKIPME yes\r\n", ":1\r\n");
    killed.expect_end();
    talk(&mut other, MANY);
    server.handle.shutdown();
    other.expect_end();
    server.join();
}

/// The time of a core that workers have used so far, by the scheduler's count; nothing where nobody tells.
fn worker_time() -> Option<Duration> {
    let mut nanoseconds = 0;
    let mut workers = 0;
    for thread in std::fs::read_dir("/proc/self/task").ok()? {
        let path = thread.ok()?.path();
        if std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.starts_with("mayhap-worker")) {
            let text = std::fs::read_to_string(path.join("schedstat")).ok()?;
            nanoseconds += text.split_whitespace().next()?.parse::<u64>().ok()?;
            workers += 1;
        }
    }
    (workers > 0).then(|| Duration::from_nanos(nanoseconds))
}
