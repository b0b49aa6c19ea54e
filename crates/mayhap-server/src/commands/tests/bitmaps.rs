use super::Desk;

#[test]
fn bits_are_set_and_counted() {
    // Each reply is that of a Redis 7.0.15.
    Desk::new().play(&[
        ("GETBIT a 5", ":0"),
        ("BITCOUNT a", ":0"),
        ("BITPOS a 1", ":-1"),
        ("BITPOS a 0", ":0"),
        ("SETBIT a 7 1", ":0"),
        ("SETBIT a 7 1", ":1"),
        ("GETBIT a 7", ":1"),
        ("GETBIT a 100", ":0"),
        ("SETBIT a 100 0", ":0"),
        ("BITCOUNT a", ":1"),
        ("BITPOS a 1", ":7"),
        ("BITPOS a 1 1", ":-1"),
        ("BITPOS a 0", ":0"),
        ("SETBIT a 100 1", ":0"),
        ("BITCOUNT a 0 0", ":1"),
        ("BITCOUNT a -1 -1", ":1"),
        ("BITCOUNT a -2 -1", ":1"),
        ("BITCOUNT a 1 -2", ":0"),
        ("BITCOUNT a 7 100 BIT", ":2"),
        ("BITCOUNT a 8 99 bit", ":0"),
        ("BITCOUNT a -1 -2", ":0"),
        ("BITCOUNT a -100 -99", ":1"),
        ("BITCOUNT a -99 -100", ":0"),
        ("BITCOUNT a 0 -1 BYTE", ":2"),
        ("BITPOS a 1 1", ":100"),
        ("BITPOS a 1 8 99 BIT", ":-1"),
        ("BITPOS a 1 8 100 BIT", ":100"),
        ("SETBIT a 7 0", ":1"),
        ("BITPOS a 1", ":100"),
        ("SETBIT a 4294967295 1", ":0"),
        ("BITCOUNT a", ":2"),
        ("BITPOS a 1 -1", ":4294967295"),
    ]);
}

#[test]
fn the_length_decides_where_zeros_are() {
    let mut desk = Desk::new();
    for bit in 0..16 {
        desk.ask(&format!("SETBIT a {bit} 1"));
    }
    desk.play(&[
        ("BITPOS a 0", ":16"),
        ("BITPOS a 0 0", ":16"),
        ("BITPOS a 0 1", ":16"),
        ("BITPOS a 0 0 -1", ":-1"),
        ("BITPOS a 0 0 100", ":-1"),
        ("BITPOS a 0 2", ":-1"),
        ("BITPOS a 0 0 -1 BIT", ":-1"),
        ("SETBIT a 24 0", ":0"),
        ("BITPOS a 0 0 -1", ":16"),
        ("BITPOS a 0 3", ":24"),
        ("BITPOS a 1 2", ":-1"),
        ("SETBIT zeros 10 0", ":0"),
        ("EXISTS zeros", ":1"),
        ("BITPOS zeros 1", ":-1"),
        ("BITPOS zeros 0 1 1", ":8"),
    ]);
}

#[test]
fn what_is_no_bit_is_refused() {
    Desk::new().play(&[
        ("SETBIT a -1 1", "-ERR bit offset is not an integer or out of range"),
        ("SETBIT a 4294967296 1", "-ERR bit offset is not an integer or out of range"),
        ("SETBIT a b 1", "-ERR bit offset is not an integer or out of range"),
        ("SETBIT a 1 2", "-ERR bit is not an integer or out of range"),
        ("SETBIT a 1 x", "-ERR bit is not an integer or out of range"),
        ("GETBIT a x", "-ERR bit offset is not an integer or out of range"),
        ("BITCOUNT a 1", "-ERR syntax error"),
        ("BITCOUNT a 1 b", "-ERR value is not an integer or out of range"),
        ("BITCOUNT a 1 2 foo", "-ERR syntax error"),
        ("BITCOUNT a 1 2 BIT 3", "-ERR syntax error"),
        ("BITPOS a 2", "-ERR The bit argument must be 1 or 0."),
        ("BITPOS a x", "-ERR value is not an integer or out of range"),
        ("BITPOS a 1 x", "-ERR value is not an integer or out of range"),
        ("BITPOS a 1 1 1 z", "-ERR syntax error"),
        ("EXISTS a", ":0"),
        ("BF.ADD f x", ":1"),
        ("SETBIT f 1 1", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
        ("GETBIT f 1", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
        ("BITCOUNT f", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
        ("BITPOS f 1", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
        ("SETBIT a 1 1", ":0"),
        ("BF.ADD a x", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
    ]);
}

#[test]
fn bits_are_counted_as_memory() {
    let mut desk = Desk::with(&[("maxmemory", "100kb")]);
    let mut refused = 0;
    for bit in 0..200_000_u64 {
        let reply = desk.ask(&format!("SETBIT a {} 1", bit * 64 % (1 << 32)));
        refused += u64::from(reply.starts_with("-OOM"));
        if refused > 0 {
            break;
        }
    }
    assert_eq!(refused, 1);
    assert!(desk.shared.keyspace.used_bytes() <= 100 << 10);
    assert_eq!(desk.ask("SETBIT a 0 0"), ":1");
}

/// A string of bytes, looked at bit by bit.
fn counted(bits: &[bool], start: i64, end: i64, unit: usize, wanted: bool) -> (i64, i64) {
    let length = i64::try_from(bits.len() / unit).unwrap();
    let place = |place: i64| if place < 0 { (length + place).max(0) } else { place };
    let (first, last) = (place(start), place(end).min(length - 1));
    if first > last {
        return (0, -1);
    }
    let [first, last] = [first, last + 1].map(|place| usize::try_from(place).unwrap() * unit);
    let ones = bits[first..last].iter().filter(|bit| **bit).count();
    let found = bits[first..last].iter().position(|bit| *bit == wanted).map(|at| first + at);
    (i64::try_from(ones).unwrap(), found.map_or(-1, |at| i64::try_from(at).unwrap()))
}

#[test]
fn ranges_are_those_of_a_plain_string() {
    let desk = &mut Desk::new();
    let (mut model, mut state) = (vec![], 1_u64);
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for round in 0..3000 {
        let (offset, value) = (usize::try_from(random(200)).unwrap(), random(4) > 0);
        model.resize(model.len().max((offset / 8 + 1) * 8), false);
        let before = std::mem::replace(&mut model[offset], value);
        let reply = desk.ask(&format!("SETBIT a {offset} {}", u8::from(value)));
        assert_eq!(reply, format!(":{}", u8::from(before)), "round {round}");

        let [start, end] = [random(500), random(500)].map(|place| place.cast_signed() - 250);
        let (unit, name) = if random(2) == 0 { (1, "BIT") } else { (8, "BYTE") };
        let wanted = random(2) == 1;
        let (ones, found) = counted(&model, start, end, unit, wanted);
        // Two places before the start, the later first: none for BITCOUNT.
        let ones = if start < 0 && end < 0 && start > end { 0 } else { ones };
        assert_eq!(
            desk.ask(&format!("BITCOUNT a {start} {end} {name}")),
            format!(":{ones}"),
            "round {round}"
        );
        let question = format!("BITPOS a {} {start} {end} {name}", u8::from(wanted));
        assert_eq!(desk.ask(&question), format!(":{found}"), "round {round}: {question}");
    }
}

/// There may be many small sets, and each of their bits may have a container of its own.
#[test]
fn bits_that_are_far_apart_are_counted() {
    for bits in [2, 9, 31, 100, 255_u64] {
        let mut desk = Desk::new();
        for bit in 0..bits {
            assert_eq!(desk.ask(&format!("SETBIT a {} 1", bit << 16)), ":0");
        }
        let counted = desk.shared.keyspace.used_bytes();
        desk.ask("MEMORY USAGE a");
        let real = desk.shared.keyspace.used_bytes();
        assert!(counted * 4 >= real * 3, "{bits} bits: {counted} counted of {real}");
    }
}
