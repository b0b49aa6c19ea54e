use super::Desk;
use crate::Shutdown;

#[test]
fn settings_are_told_and_changed() {
    let mut desk = Desk::new();
    desk.play(&[
        ("CONFIG GET maxclients", "*2 $10 maxclients $5 10000"),
        ("CONFIG GET save appendonly", "*4 $10 appendonly $2 no $4 save $0"),
        ("CONFIG GET MAXCLIENT?", "*2 $10 maxclients $5 10000"),
        ("CONFIG GET nothing", "*0"),
        ("CONFIG GET", "-ERR wrong number of arguments for 'config|get' command"),
        ("CONFIG SET maxclients 7 bf-error-rate 0.5", "+OK"),
        ("CONFIG GET maxclients max?lients", "*2 $10 maxclients $1 7"),
        ("CONFIG GET bf-error-rate", "*2 $13 bf-error-rate $3 0.5"),
        ("CONFIG SET a", "-ERR wrong number of arguments for 'config|set' command"),
        ("CONFIG SET a b c", "-ERR wrong number of arguments for 'config|set' command"),
        ("CONFIG SET foo 1", "-ERR Unknown option or number of arguments for CONFIG SET - 'foo'"),
        (
            "CONFIG SET maxclients 8 port 1",
            "-ERR CONFIG SET failed (possibly related to argument 'port') - can't set immutable config",
        ),
        (
            "CONFIG SET maxclients 8 maxclients 9",
            "-ERR CONFIG SET failed (possibly related to argument 'maxclients') - duplicate parameter",
        ),
        (
            "CONFIG SET maxmemory x",
            "-ERR CONFIG SET failed (possibly related to argument 'maxmemory') - maxmemory must be a number of bytes, \
             such as 4096, 64mb or 2gb, and at least 0",
        ),
        ("CONFIG GET maxclients", "*2 $10 maxclients $1 7"),
        ("CONFIG SET MaxMemory 1mb", "+OK"),
        ("CONFIG REWRITE", "-ERR The server is running without a config file"),
        ("CONFIG FOO", "-ERR unknown subcommand 'FOO'. Try CONFIG HELP."),
    ]);
    assert_eq!(desk.shared.keyspace.limit(), 1 << 20);
    assert!(!desk.ask("CONFIG GET *").contains("08090a0b0c0d0e0f"), "the secret key stays secret");
}

#[test]
fn info_has_what_clients_and_exporters_read() {
    let mut desk = Desk::new();
    desk.ask("BF.ADD a x");
    desk.ask("BF.ADD a x y");
    desk.later(90_000);
    let text = String::from_utf8(desk.bulk(&[b"INFO"])).unwrap();
    for line in [
        "# Server",
        "redis_version:8.0.0",
        "redis_mode:standalone",
        "# Clients",
        "connected_clients:1",
        "maxclients:10000",
        "# Memory",
        "maxmemory:0",
        "maxmemory_policy:noeviction",
        "loading:0",
        "role:master",
        "connected_slaves:0",
        "total_commands_processed:2",
        "total_error_replies:1",
        "evicted_keys:0",
        "cluster_enabled:0",
        "# Keyspace",
        "db0:keys=1,expires=0,avg_ttl=0",
    ] {
        assert!(text.contains(&format!("{line}\r\n")), "{line}: {text}");
    }
    let used = desk.shared.keyspace.used_bytes();
    assert!(used > 100 && text.contains(&format!("used_memory:{used}\r\n")));
    assert!(!text.contains("Commandstats"));
    let all = String::from_utf8(desk.bulk(&[b"INFO", b"everything"])).unwrap();
    assert!(all.contains("cmdstat_bf.add:calls=2,usec=") && all.contains(",failed_calls=1\r\n"), "{all}");
    let one = String::from_utf8(desk.bulk(&[b"INFO", b"KEYSPACE"])).unwrap();
    assert_eq!(one, "# Keyspace\r\ndb0:keys=1,expires=0,avg_ttl=0\r\n");
    let two = String::from_utf8(desk.bulk(&[b"INFO", b"cluster", b"replication"])).unwrap();
    assert_eq!(
        two,
        "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n\r\n# Cluster\r\ncluster_enabled:0\r\n"
    );
    assert_eq!(desk.ask("INFO foo"), "$0");
    assert_eq!(desk.ask("CONFIG RESETSTAT"), "+OK");
    assert!(!String::from_utf8(desk.bulk(&[b"INFO", b"commandstats"])).unwrap().contains("bf.add"));
}

#[test]
fn slow_commands_are_told() {
    let mut desk = Desk::with(&[("slowlog-log-slower-than", "0")]);
    desk.ask("PING");
    desk.ask("BF.MADD a x y");
    let newest = desk.ask("SLOWLOG GET 1");
    assert!(newest.starts_with("*1 *6 :") && newest.contains("*4 $7 BF.MADD $1 a $1 x $1 y"), "{newest}");
    assert!(newest.contains("$15 127.0.0.1:40001"), "{newest}");
    assert!(desk.ask("SLOWLOG GET -1").starts_with("*3"));
    assert_eq!(desk.ask("CONFIG SET slowlog-log-slower-than -1"), "+OK");
    desk.play(&[
        ("SLOWLOG LEN", ":4"),
        ("SLOWLOG RESET", "+OK"),
        ("SLOWLOG LEN", ":0"),
        ("SLOWLOG GET", "*0"),
        ("SLOWLOG GET -5", "-ERR count should be greater than or equal to -1"),
        ("SLOWLOG GET a", "-ERR count should be greater than or equal to -1"),
        ("SLOWLOG FOO", "-ERR unknown subcommand 'FOO'. Try SLOWLOG HELP."),
    ]);
}

#[test]
fn values_are_looked_at() {
    let mut desk = Desk::new();
    desk.play(&[
        ("OBJECT ENCODING a", "$-1"),
        ("OBJECT FREQ a", "$-1"),
        ("MEMORY USAGE a", "$-1"),
        ("BF.ADD a x", ":1"),
        ("OBJECT ENCODING a", "$3 raw"),
        ("OBJECT REFCOUNT a", ":1"),
        ("OBJECT IDLETIME a", ":0"),
        ("OBJECT FOO a", "-ERR unknown subcommand 'FOO'. Try OBJECT HELP."),
        ("OBJECT", "-ERR wrong number of arguments for 'object' command"),
        ("OBJECT ENCODING", "-ERR wrong number of arguments for 'object|encoding' command"),
        ("MEMORY USAGE a SAMPLES -1", "-ERR syntax error"),
        ("MEMORY USAGE a SAMPLES x", "-ERR value is not an integer or out of range"),
        ("MEMORY USAGE a FOO 1", "-ERR syntax error"),
        ("MEMORY FOO", "-ERR unknown subcommand 'FOO'. Try MEMORY HELP."),
    ]);
    desk.later(5000);
    assert_eq!(desk.ask("OBJECT IDLETIME a"), ":5");
    desk.ask("TOUCH a");
    assert_eq!(desk.ask("OBJECT IDLETIME a"), ":0");
    assert!(desk.ask("OBJECT FREQ a").starts_with("-ERR An LFU maxmemory policy is not selected"));
    let used = desk.shared.keyspace.used_bytes();
    assert_eq!(desk.ask("MEMORY USAGE a SAMPLES 5"), format!(":{used}"));
}

#[test]
fn a_value_that_is_used_is_not_idle() {
    let uses = [
        ("BF.ADD k x", "BF.EXISTS k x"),
        ("BF.ADD k x", "BF.ADD k x"),
        ("CF.ADD k x", "CF.DEL k x"),
        ("SETBIT k 1 1", "GETBIT k 1"),
        ("SETBIT k 1 1", "SETBIT k 2 1"),
        ("SETBIT k 1 1", "BITCOUNT k"),
        ("SETBIT k 1 1", "DUMP k"),
        ("SETBIT k 1 1", "COPY k l"),
    ];
    for (make, uses) in uses {
        let mut desk = Desk::new();
        desk.ask(make);
        desk.later(5000);
        desk.play(&[("EXISTS k", ":1"), ("TTL k", ":-1"), ("OBJECT IDLETIME k", ":5")]);
        desk.ask("CLIENT NO-TOUCH ON");
        desk.ask(uses);
        assert_eq!(desk.ask("OBJECT IDLETIME k"), ":5", "{uses}, without a trace");
        desk.ask("CLIENT NO-TOUCH OFF");
        desk.ask(uses);
        assert_eq!(desk.ask("OBJECT IDLETIME k"), ":0", "{uses}");
        desk.later(5000);
        desk.play(&[("CLIENT NO-TOUCH ON", "+OK"), ("TOUCH k", ":1"), ("OBJECT IDLETIME k", ":0")]);
    }
}

#[test]
fn the_server_tells_the_time_and_stops() {
    let mut desk = Desk::new();
    assert!(desk.ask("TIME").starts_with("*2 $10 "));
    desk.play(&[
        ("SHUTDOWN ABORT", "-ERR No shutdown in progress."),
        ("SHUTDOWN foo", "-ERR syntax error"),
        ("SHUTDOWN NOSAVE ABORT", "-ERR syntax error"),
        ("SHUTDOWN SAVE", "-ERR This server keeps nothing on disk: it can't save. Use SHUTDOWN NOSAVE."),
    ]);
    assert_eq!(desk.shared.stopping(), None);
    assert_eq!(desk.ask("SHUTDOWN NOSAVE"), "");
    assert!(desk.session.closing);
    assert_eq!(desk.shared.stopping(), Some(Shutdown::Drain));
    let mut desk = Desk::new();
    desk.ask("shutdown nosave now force");
    assert_eq!(desk.shared.stopping(), Some(Shutdown::Now));
}

/// What was sent is executed by a server that drains, until its time is over; and not by one that stops at once.
#[test]
fn a_stop_ends_between_two_commands() {
    for (timeout, how, replies) in
        [("10", Shutdown::Drain, "+PONG\r\n+PONG\r\n"), ("0", Shutdown::Drain, ""), ("10", Shutdown::Now, "")]
    {
        let mut desk = Desk::with(&[("shutdown-timeout", timeout)]);
        desk.shared.shutdown(how);
        assert_eq!(desk.together(b"PING\r\nPING\r\n"), replies.as_bytes(), "{timeout} {how:?}");
    }
}

#[test]
fn debugging_is_off() {
    assert!(Desk::new().ask("DEBUG SLEEP 0").starts_with("-ERR DEBUG command not allowed."));
    Desk::with(&[("enable-debug-command", "yes")]).play(&[
        ("DEBUG SLEEP 0.001", "+OK"),
        ("DEBUG SLEEP -5", "+OK"),
        ("DEBUG JMAP", "-ERR unknown subcommand 'JMAP'. Try DEBUG HELP."),
    ]);
}

#[test]
fn keys_that_were_asked_for_are_counted() {
    let mut desk = Desk::new();
    let counts = |desk: &mut Desk| {
        let info = desk.ask("INFO stats");
        ["keyspace_hits:", "keyspace_misses:"].map(|name| {
            let (_, rest) = info.split_once(name).unwrap();
            rest.split(' ').next().unwrap().parse::<u64>().unwrap()
        })
    };
    for line in ["BF.ADD k a", "CF.ADD c a", "SETBIT b 1 1", "DEL nothing", "EXPIRE nothing 5"] {
        desk.ask(line);
    }
    assert_eq!(counts(&mut desk), [0, 0], "writing is not asking");
    for line in [
        "BF.EXISTS k a",
        "BF.EXISTS k b",
        "BF.MEXISTS k a b",
        "CF.COUNT c a",
        "GETBIT b 7",
        "TTL k",
        "TYPE c",
    ] {
        desk.ask(line);
    }
    assert_eq!(counts(&mut desk), [7, 0]);
    for line in ["BF.EXISTS nothing a", "BF.CARD nothing", "EXISTS k nothing c", "DUMP nothing"] {
        desk.ask(line);
    }
    assert_eq!(counts(&mut desk), [9, 4]);
    desk.ask("CONFIG RESETSTAT");
    assert_eq!(counts(&mut desk), [0, 0]);
}
