//! Of many clients that add one nickname at once exactly one is told that it is new, whatever the filter is doing
//! meanwhile.

mod running;

use std::io::{Read as _, Write as _};
use std::sync::{Barrier, Mutex};
use std::thread;

use running::{Running, array};

const ROUNDS: usize = 1000;
const CLIENTS: usize = 8;
/// Of the filter that grows. So small that none of all rounds is a false positive: in one of a million runs.
const RATE: &str = "0.000000001";

/// Counted for a reply that is none.
const WRONG: u32 = 1000;

#[test]
fn exactly_one_while_the_filter_is_made() {
    // Each round has a filter of its own, with nothing in it: there are no false positives.
    for layout in ["native", "redisbloom"] {
        let server = with_layout(layout);
        let firsts =
            race(&server, ROUNDS, 1, |round, _| words(&["BF.ADD", &format!("round {round}"), "nickname"]));
        assert_exactly_one(&firsts, 0);
    }
}

#[test]
fn exactly_one_while_the_filter_grows() {
    for (layout, expansion) in [("native", "1"), ("native", "2"), ("redisbloom", "1"), ("redisbloom", "2")] {
        let server = with_layout(layout);
        let mut client = server.connect();
        client.ask(format!("BF.RESERVE names {RATE} 20 EXPANSION {expansion}\r\n"), "+OK\r\n");
        let firsts =
            race(&server, ROUNDS, 1, |round, _| words(&["BF.ADD", "names", &format!("nickname {round}")]));
        assert_exactly_one(&firsts, false_positives(layout));
        client.ask("BF.CARD names\r\n", format!(":{}\r\n", firsts.iter().sum::<u32>()));
    }
}

#[test]
fn exactly_one_of_many_names_in_one_read() {
    // What comes together is executed together, and each client has its names in another order.
    for layout in ["native", "redisbloom"] {
        let server = with_layout(layout);
        let mut client = server.connect();
        client.ask(format!("BF.RESERVE names {RATE} 20\r\n"), "+OK\r\n");
        let firsts = race(&server, ROUNDS / 20, 20, |round, name| {
            words(&["BF.ADD", "names", &format!("nickname {round} {name}")])
        });
        assert_exactly_one(&firsts, false_positives(layout));
        client.ask("BF.CARD names\r\n", format!(":{}\r\n", firsts.iter().sum::<u32>()));
    }
}

#[test]
fn exactly_one_whichever_command_adds() {
    let server = with_layout("native");
    server.connect().ask(format!("BF.RESERVE names {RATE} 20\r\n"), "+OK\r\n");
    let firsts = race(&server, ROUNDS, 1, |round, _| {
        words(&["BF.INSERT", "names", "ITEMS", &format!("nickname {round}")])
    });
    assert_exactly_one(&firsts, 0);
    // Cuckoo filters, which are asked before they are added to.
    for layout in ["native", "redisbloom"] {
        let server = with_layout(layout);
        let firsts =
            race(&server, ROUNDS, 1, |round, _| words(&["CF.ADDNX", &format!("round {round}"), "nickname"]));
        assert_exactly_one(&firsts, 0);
    }
}

/// Never more than one, and none only for false positives, which are this few.
fn assert_exactly_one(firsts: &[u32], false_positives: usize) {
    let wrong: Vec<_> = firsts.iter().enumerate().filter(|(_, count)| **count > 1).collect();
    assert!(wrong.is_empty(), "names and how often they were new: {wrong:?}");
    let lost = firsts.iter().filter(|count| **count == 0).count();
    assert!(lost <= false_positives, "{lost} names were new to nobody");
}

/// Small links of RedisBloom's layout don't keep their rate: where the second hash and the number of bits have a common
/// factor, the positions of an item are few. About five of a thousand names in links for twenty are false positives.
fn false_positives(layout: &str) -> usize {
    if layout == "native" { 0 } else { 25 }
}

fn with_layout(layout: &str) -> Running {
    Running::with(&[("bf-layout", layout), ("cf-layout", layout), ("threads", "4")])
}

/// In each round every client sends the commands for all names of the round in one piece. How many of them were told that
/// a name is new, for each name.
fn race(
    server: &Running,
    rounds: usize,
    names: usize,
    command: impl Fn(usize, usize) -> Vec<u8> + Sync,
) -> Vec<u32> {
    let barrier = Barrier::new(CLIENTS);
    let firsts = Mutex::new(vec![0; rounds * names]);
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (barrier, firsts, command) = (&barrier, &firsts, &command);
            scope.spawn(move || {
                let mut client = server.connect();
                for round in 0..rounds {
                    let order = (0..names).map(|name| (name + number * 3) % names);
                    let request: Vec<u8> = order.clone().flat_map(|name| command(round, name)).collect();
                    // An array of one has its length before it.
                    let is_array = request.windows(9).any(|window| window == b"BF.INSERT");
                    barrier.wait();
                    // A panic here would leave the others waiting: what goes wrong is counted, too.
                    let mut is_well = client.stream.write_all(&request).is_ok();
                    for name in order {
                        let mut reply = vec![0; if is_array { 8 } else { 4 }];
                        is_well &= client.stream.read_exact(&mut reply).is_ok();
                        let count = match reply[reply.len() - 3] {
                            digit @ (b'0' | b'1') if is_well => u32::from(digit - b'0'),
                            _ => WRONG,
                        };
                        firsts.lock().expect("no panic")[round * names + name] += count;
                    }
                }
            });
        }
    });
    firsts.into_inner().expect("no panic")
}

fn words(words: &[&str]) -> Vec<u8> {
    array(&words.iter().map(|word| word.as_bytes()).collect::<Vec<_>>())
}
