//! Dumps and loads of `BF.*`: large ones, several at a time, forgotten ones, and crafted ones.

#![allow(clippy::unwrap_used, reason = "a check that panics has failed")]

mod memory;

use std::sync::atomic::Ordering;
use std::sync::{Arc, RwLock};

use mayhap::Bitmap;
use mayhap_commands::transfer::{Arriving, TransferError};
use mayhap_commands::{Bits, Keyspace as _, Reply, Transfers, Value, transfer};
use memory::Memory;

const LAYOUTS: [&str; 2] = ["native", "redisbloom"];

/// A piece: what `LOADCHUNK` takes.
type Piece = (Vec<u8>, Vec<u8>);

fn scan(memory: &Memory, key: &str, iterator: &[u8]) -> Result<Option<Piece>, Reply> {
    match memory.reply(&[b"BF.SCANDUMP".as_slice(), key.as_bytes(), iterator]) {
        Reply::Array(parts) => match parts.as_slice() {
            [Reply::Integer(0), Reply::Bulk(bytes)] if bytes.is_empty() => Ok(None),
            [Reply::Integer(next), Reply::Bulk(bytes)] => {
                assert!(*next < 1 << 53 && bytes.len() <= 16 << 20);
                Ok(Some((next.to_string().into_bytes(), bytes.clone())))
            }
            other => panic!("{other:?}"),
        },
        error => Err(error),
    }
}

fn dump(memory: &Memory, key: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    loop {
        let iterator = pieces.last().map_or(b"0".to_vec(), |(iterator, _)| iterator.clone());
        match scan(memory, key, &iterator).unwrap() {
            Some(piece) => pieces.push(piece),
            None => return pieces,
        }
    }
}

fn load(memory: &Memory, key: &str, (iterator, bytes): &Piece) -> Reply {
    memory.reply(&[b"BF.LOADCHUNK".as_slice(), key.as_bytes(), iterator, bytes])
}

fn fill(memory: &Memory, key: &str, count: u32) {
    for number in 0..count {
        memory.run(&format!("BF.ADD {key} item:{number}"));
    }
}

/// A loader may have sent all pieces before it reads the first answer. None of them ends up in a filter that somebody
/// else has made under the key, also if it has the same shape.
#[test]
fn the_rest_of_a_load_leaves_a_filter_that_was_made_meanwhile_alone() {
    let memory = Memory::with_layout("redisbloom");
    assert_eq!(memory.run("BF.RESERVE k 0.01 100"), Reply::OK);
    fill(&memory, "k", 1_000);
    let pieces = dump(&memory, "k");
    assert!(pieces.len() > 3);
    assert_eq!(load(&memory, "l", &pieces[0]), Reply::OK);
    let waiting = memory.transfers.bytes();
    // All its bits are other ones.
    assert_eq!(memory.run("BF.RESERVE l 0.01 100"), Reply::OK);
    let others: Vec<String> = (0..1_000).map(|number| format!("other:{number}")).collect();
    let ask = |name: &str| {
        let words: Vec<&str> = [name, "l"].into_iter().chain(others.iter().map(String::as_str)).collect();
        memory.reply(&words)
    };
    ask("BF.MADD");
    for piece in &pieces[1..] {
        assert_eq!(load(&memory, "l", piece), Reply::error("ERR item exists"));
    }
    assert_eq!(ask("BF.MEXISTS"), Reply::Flags(vec![true; 1_000]));
    assert!(memory.transfers.bytes() < waiting - 1_000, "only that there was a load is kept");
    // Without the filter the pieces still are no load, unless it begins anew.
    memory.remove(b"l");
    assert_eq!(load(&memory, "l", &pieces[1]), Reply::error("ERR not found"));
    for piece in &pieces {
        assert_eq!(load(&memory, "l", piece), Reply::OK);
    }
    assert_eq!(memory.transfers.bytes(), 0);
    // And pieces that nobody began to load may be put over those of a filter.
    assert_eq!(load(&memory, "l", &pieces[1]), Reply::OK);
}

#[test]
fn a_large_filter_goes_in_pieces_and_is_seen_when_it_is_whole() {
    for layout in LAYOUTS {
        let memory = Memory::with_layout(layout);
        // Some 40 MB: three pieces.
        assert_eq!(memory.run("BF.RESERVE k 0.001 20000000"), Reply::OK);
        fill(&memory, "k", 1_000);
        let pieces = dump(&memory, "k");
        assert!(pieces.len() >= 3, "{}", pieces.len());
        assert_eq!(memory.transfers.bytes(), 0, "nothing is left of the dump");
        for (place, piece) in pieces.iter().enumerate() {
            assert!(memory.find(b"copy").is_none());
            assert_eq!(memory.run("BF.EXISTS copy item:7"), Reply::Flag(false));
            assert_eq!(load(&memory, "copy", piece), Reply::OK);
            if place + 2 == pieces.len() {
                // A client that has lost our answer sends it again.
                assert_eq!(load(&memory, "copy", piece), Reply::OK);
            }
        }
        assert_eq!(memory.transfers.bytes(), 0);
        assert!(
            (0..1_000)
                .all(|number| memory.run(&format!("BF.EXISTS copy item:{number}")) == Reply::Flag(true))
        );
        assert_eq!(memory.run("BF.DEBUG copy"), memory.run("BF.DEBUG k"));
        assert_eq!(dump(&memory, "copy").last().unwrap().1, pieces.last().unwrap().1);
    }
}

#[test]
fn a_native_dump_is_a_snapshot_and_two_can_be_under_way() {
    let memory = Memory::new();
    assert_eq!(memory.run("BF.RESERVE k 0.01 20000000"), Reply::OK);
    let first = scan(&memory, "k", b"0").unwrap().unwrap();
    fill(&memory, "k", 1_000);
    let second = scan(&memory, "k", b"0").unwrap().unwrap();
    assert!(memory.transfers.bytes() > 40 << 20);
    assert_ne!(first.0, second.0, "their iterators tell them apart");
    for (key, mut piece, has) in [("early", first, false), ("late", second, true)] {
        while let Some(next) = {
            assert_eq!(load(&memory, key, &piece), Reply::OK);
            scan(&memory, "k", &piece.0).unwrap()
        } {
            piece = next;
        }
        assert_eq!(memory.run(&format!("BF.EXISTS {key} item:1")), Reply::Flag(has));
    }
    assert_eq!(memory.transfers.bytes(), 0);
}

#[test]
fn what_is_idle_is_forgotten() {
    let memory = Memory::new();
    assert_eq!(memory.run("BF.RESERVE k 0.01 20000000"), Reply::OK);
    let first = scan(&memory, "k", b"0").unwrap().unwrap();
    assert_eq!(load(&memory, "copy", &first), Reply::OK);
    memory.clock.fetch_add(transfer::IDLE_MS, Ordering::Relaxed);
    let second = scan(&memory, "k", &first.0).unwrap().unwrap();
    assert_eq!(load(&memory, "copy", &second), Reply::OK, "used in time");
    memory.clock.fetch_add(transfer::IDLE_MS + 1, Ordering::Relaxed);
    assert!(scan(&memory, "k", &second.0).unwrap_err().is_error());
    assert_eq!(load(&memory, "copy", &second), Reply::error("ERR not found"));
    assert_eq!(memory.transfers.bytes(), 0);
}

#[test]
fn what_is_under_way_is_bounded() {
    let mut memory = Memory::new();
    memory.transfers = Transfers::with_limit(30 << 20);
    assert_eq!(memory.run("BF.RESERVE k 0.01 12000000"), Reply::OK);
    let first = scan(&memory, "k", b"0").unwrap().unwrap();
    let Reply::Error(text) = scan(&memory, "k", b"0").unwrap_err() else { panic!() };
    assert!(text.starts_with("ERR dumps and loads under way may take 31457280 bytes"), "{text}");
    assert!(load(&memory, "copy", &first).is_error(), "nor is there room for its load");
    // Filters of one piece are given out all the same, for nothing of them is kept.
    assert_eq!(memory.run("BF.ADD small a"), Reply::Flag(true));
    assert_eq!(dump(&memory, "small").len(), 1);
    memory.transfers.clear();
    assert_eq!(memory.transfers.bytes(), 0);
    // Headers alone, of large filters: counted by what they will take.
    let redisbloom = Memory::with_layout("redisbloom");
    assert_eq!(redisbloom.run("BF.RESERVE k 0.01 10000000"), Reply::OK);
    let piece = scan(&redisbloom, "k", b"0").unwrap().unwrap();
    let accepted = (0..10).filter(|number| load(&memory, &format!("h{number}"), &piece) == Reply::OK).count();
    assert_eq!(accepted, 2, "13.8 MB each");
    // So many tiny ones that their number is the limit.
    memory.transfers = Transfers::default();
    assert_eq!(redisbloom.run("BF.ADD tiny a"), Reply::Flag(true));
    let tiny = scan(&redisbloom, "tiny", b"0").unwrap().unwrap();
    let accepted =
        (0..5_000).filter(|number| load(&memory, &format!("t{number}"), &tiny) == Reply::OK).count();
    assert_eq!(accepted, 4_095);
}

/// A client that lost its connection begins again, and isn't kept out by what it left behind.
#[test]
fn a_load_begun_anew_needs_the_room_of_one() {
    for layout in LAYOUTS {
        let mut memory = Memory::with_layout(layout);
        assert_eq!(memory.run("BF.RESERVE k 0.01 12000000"), Reply::OK);
        assert_eq!(memory.run("BF.ADD k item"), Reply::Flag(true));
        let pieces = dump(&memory, "k");
        let limit = 30 << 20;
        memory.transfers = Transfers::with_limit(limit);
        memory.room.store(limit, Ordering::Relaxed);
        assert_eq!(load(&memory, "copy", &pieces[0]), Reply::OK);
        let Reply::Error(text) = load(&memory, "other", &pieces[0]) else { panic!("{layout}") };
        let refused = "ERR Insufficient memory to create filter: it would take ";
        assert!(text.starts_with(refused), "{layout}: {text}");
        for piece in &pieces {
            assert_eq!(load(&memory, "copy", piece), Reply::OK, "{layout}");
        }
        assert_eq!(memory.run("BF.EXISTS copy item"), Reply::Flag(true));
        assert_eq!(memory.transfers.bytes(), 0);
    }
}

#[test]
fn another_secret_key_is_told_at_the_first_piece() {
    let (ours, theirs) = (Memory::with_key(1), Memory::with_key(2));
    assert_eq!(ours.run("BF.ADD k a"), Reply::Flag(true));
    let pieces = dump(&ours, "k");
    let Reply::Error(text) = load(&theirs, "k", &pieces[0]) else { panic!() };
    assert!(text.starts_with("ERR the filter was built with another secret key: its id is 0x"), "{text}");
    assert!(theirs.find(b"k").is_none());
    assert_eq!(theirs.transfers.bytes(), 0);
}

/// Every byte changed, every length: an answer, and either no filter or one that answers. Never more memory than the
/// limit.
#[test]
fn crafted_dumps_are_refused_or_are_filters() {
    for layout in LAYOUTS {
        let memory = Memory::with_layout(layout);
        memory.set("filter-max-bytes", "1mb");
        assert_eq!(memory.run("BF.RESERVE k 0.01 20"), Reply::OK);
        fill(&memory, "k", 50);
        let pieces = dump(&memory, "k");
        let originals = pieces.clone();
        let mut loaded = 0;
        let mut attempt = |pieces: &[Piece]| {
            memory.remove(b"copy");
            memory.transfers.clear();
            if pieces == originals {
                return; // What was put in was there before.
            }
            for piece in pieces {
                load(&memory, "copy", piece);
            }
            if memory.find(b"copy").is_some() {
                loaded += 1;
                memory.run("BF.MEXISTS copy item:1 item:2 absent");
                memory.run("BF.MADD copy x y z");
                assert!(!memory.run("BF.INFO copy FULL").is_error());
                assert!(!memory.run("BF.DEBUG copy").is_error());
                assert!(!dump(&memory, "copy").is_empty());
            }
            assert!(memory.transfers.bytes() < 2 << 20);
        };
        for (place, (iterator, bytes)) in pieces.iter().enumerate() {
            let changed = |iterator: &[u8], bytes: &[u8]| {
                let mut pieces = pieces.clone();
                pieces[place] = (iterator.to_vec(), bytes.to_vec());
                pieces
            };
            for byte in 0..bytes.len() {
                for change in [1_u8, 0x80, 0xff] {
                    let mut bytes = bytes.clone();
                    bytes[byte] ^= change;
                    attempt(&changed(iterator, &bytes));
                }
            }
            for length in 0..bytes.len() {
                attempt(&changed(iterator, &bytes[..length]));
                attempt(&changed((length + 1).to_string().as_bytes(), &bytes[..length]));
            }
            for length in
                ["0", "1", "2", "-1", "9223372036854775807", "-9223372036854775808", "4611686018427387904"]
            {
                attempt(&changed(length.as_bytes(), bytes));
            }
            // Lengths and counts of 2^63 wherever a number can be.
            for start in 0..bytes.len().saturating_sub(8).min(200) {
                for number in [1_u64 << 63, u64::MAX, 1 << 40] {
                    let mut bytes = bytes.clone();
                    bytes[start..start + 8].copy_from_slice(&number.to_le_bytes());
                    attempt(&changed(iterator, &bytes));
                }
            }
        }
        if layout == "native" {
            assert_eq!(loaded, 0, "checksums notice everything");
        } else {
            assert!(loaded > 0, "other bits are another filter");
        }
    }
}

/// How far a loaded filter may grow is for the host to say, and not for the file.
#[test]
fn a_loaded_filter_has_the_limits_of_its_host() {
    let (large, small) = (Memory::new(), Memory::new());
    assert_eq!(large.run("BF.RESERVE k 0.01 100"), Reply::OK);
    let pieces = dump(&large, "k");
    small.set("filter-max-bytes", "2kb");
    assert_eq!(load(&small, "k", &pieces[0]), Reply::OK);
    let refused = (0..10_000).any(|number| small.run(&format!("BF.ADD k item:{number}")).is_error());
    assert!(refused);
}

/// The bytes of a filter with a seed are the same everywhere, and its dump is all that another server needs.
#[test]
fn a_filter_with_a_seed_is_the_same_on_every_server() {
    let seed = b"0123456789abcdef0123456789abcdef";
    let filled = |memory: &Memory, seed: &[u8]| {
        let mut words: Vec<Vec<u8>> =
            ["BF.INSERT", "k", "CAPACITY", "50", "ERROR", "0.001", "SEED"].map(Vec::from).into();
        words.extend([seed.to_vec(), b"TIGHTENING".to_vec(), b"0.5".to_vec(), b"ITEMS".to_vec()]);
        words.extend((0..500).map(|number| format!("item:{number}").into_bytes()));
        assert!(!memory.reply(&words).is_error());
        dump(memory, "k")
    };
    let (here, there) = (Memory::with_key(1), Memory::with_key(2));
    // What one server has left for a filter is no business of another's.
    there.room.store(1 << 30, Ordering::Relaxed);
    let pieces = filled(&here, seed);
    assert_eq!(pieces, filled(&there, seed));
    assert_ne!(pieces, filled(&Memory::new(), &[7; 32]), "another seed has other bits");
    // Frozen: these bytes are on people's disks.
    let sum = pieces.iter().map(|(_, bytes)| mayhap::hash::KeyHasher::xxh3(0).digest(&**bytes).get());
    assert_eq!(sum.collect::<Vec<_>>(), [0x58a7_f63e_ed1b_d8ce]);

    for piece in &pieces {
        assert_eq!(load(&there, "copy", piece), Reply::OK);
    }
    assert_eq!(there.run("BF.EXISTS copy item:499"), Reply::Flag(true));
    // It grows there as it would have here.
    for memory in [&here, &there] {
        let key = if memory.run("BF.CARD copy") == Reply::Integer(0) { "k" } else { "copy" };
        for number in 500..3_000 {
            memory.run(&format!("BF.ADD {key} item:{number}"));
        }
    }
    assert_eq!(dump(&here, "k"), dump(&there, "copy"));
}

/// Takes any piece for all of it. While it is finished, all keys are removed.
#[derive(Debug)]
struct Late(Arc<Transfers>);

impl Arriving for Late {
    fn bytes(&self) -> u64 {
        0
    }

    fn take(&mut self, _: u64, _: &[u8]) -> Result<bool, Reply> {
        Ok(true)
    }

    fn finish(self: Box<Self>) -> Result<Value, Reply> {
        drop(self.0.clear());
        Ok(Value::Bitmap(RwLock::new(Bits { set: Bitmap::sparse(), bytes: 0 })))
    }
}

#[test]
fn a_load_that_ends_after_all_keys_were_removed_is_none() {
    let transfers = Arc::new(Transfers::default());
    let begin = |transfers: &Arc<Transfers>| {
        transfers.begin_load(0, b"k", Box::new(Late(Arc::clone(transfers)))).unwrap();
    };
    begin(&transfers);
    let taken = transfers.take(0, b"k", 1, b"", || ());
    assert!(matches!(taken, Err(TransferError::NotUnderWay)));
    // Nor is one that ends after another has begun; and what it holds for its end is held before it looks.
    let other = Arc::new(Transfers::default());
    other.begin_load(0, b"k", Box::new(Late(Arc::clone(&transfers)))).unwrap();
    let taken = other.take(0, b"k", 1, b"", || begin(&other));
    assert!(matches!(taken, Err(TransferError::NotUnderWay)));
    assert!(other.is_loading(0, b"k"));
    other.begin_load(0, b"k", Box::new(Late(transfers))).unwrap();
    assert!(matches!(other.take(0, b"k", 1, b"", || 7), Ok(Some((Value::Bitmap(_), 7)))));
    assert_eq!(other.bytes(), 0);
}
