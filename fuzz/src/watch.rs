//! Knowing which case is running, for findings that can't be caught: an endless loop, or an allocation gone wild.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use mayhap_fuzz::Target;

/// No case takes a thousandth of this.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// What runs now. Locked only between cases and when something has gone wrong.
static RUNNING: Mutex<Option<(Target, u64, Option<u64>)>> = Mutex::new(None);
/// Counts cases, so that the watcher sees whether the same one is still running.
static CASES: AtomicU64 = AtomicU64::new(0);
/// The allocation limit of the running target; none between cases.
static LARGEST_ALLOCATION: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Starts the thread that ends the program when a case doesn't end.
pub(crate) fn start() {
    thread::spawn(|| {
        loop {
            let before = CASES.load(Ordering::Relaxed);
            thread::sleep(TIME_LIMIT);
            if CASES.load(Ordering::Relaxed) == before {
                give_up("runs for over 20 seconds");
            }
        }
    });
}

pub(crate) fn begin(target: &Target, seed: u64, case: Option<u64>) {
    CASES.fetch_add(1, Ordering::Relaxed);
    if let Ok(mut running) = RUNNING.lock() {
        *running = Some((*target, seed, case));
    }
    LARGEST_ALLOCATION.store(target.largest_allocation, Ordering::Relaxed);
}

pub(crate) fn end() {
    LARGEST_ALLOCATION.store(usize::MAX, Ordering::Relaxed);
}

/// Whether the running target may have an allocation of this size.
pub(crate) fn allows(bytes: usize) -> bool {
    bytes <= LARGEST_ALLOCATION.load(Ordering::Relaxed)
}

/// Says which case it was and ends the program.
pub(crate) fn give_up(what_it_did: &str) -> ! {
    LARGEST_ALLOCATION.store(usize::MAX, Ordering::Relaxed);
    match RUNNING.lock().as_deref() {
        Ok(Some((target, seed, Some(case)))) => {
            eprintln!("fuzz: target `{}` {what_it_did}", target.name);
            eprintln!("fuzz: repeat it with: cargo xtask fuzz {} --seed {seed} --case {case}", target.name);
        }
        Ok(Some((target, _, None))) => {
            eprintln!("fuzz: target `{}` {what_it_did}, on one of its seeds", target.name);
        }
        _ => eprintln!("fuzz: something {what_it_did}"),
    }
    std::process::abort();
}
