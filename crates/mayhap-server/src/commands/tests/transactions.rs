use super::{Desk, NOW};
use crate::session::Replies;

#[test]
fn commands_wait_for_exec() {
    let mut desk = Desk::new();
    desk.play(&[
        ("MULTI", "+OK"),
        ("BF.ADD k a", "+QUEUED"),
        ("BF.ADD k a", "+QUEUED"),
        ("bf.add k b", "+QUEUED"),
        ("BF.MEXISTS k a b c", "+QUEUED"),
        ("CLIENT GETNAME", "+QUEUED"),
        ("CLIENT HELP", "+QUEUED"),
        ("DBSIZE", "+QUEUED"),
    ]);
    assert_eq!(desk.shared.keyspace.len(), 0);
    let reply = desk.ask("EXEC");
    assert!(reply.starts_with("*7 :1 :0 :1 *3 :1 :1 :0 $-1 *"), "{reply}");
    assert!(reply.ends_with(" :1"), "{reply}");
    desk.play(&[
        ("EXEC", "-ERR EXEC without MULTI"),
        ("DISCARD", "-ERR DISCARD without MULTI"),
        ("MULTI", "+OK"),
        ("EXEC", "*0"),
        ("MULTI now", "-ERR wrong number of arguments for 'multi' command"),
        ("BF.CARD k", ":2"),
    ]);
}

#[test]
fn what_fails_in_exec_fails_alone() {
    let mut desk = Desk::new();
    desk.play(&[
        ("SETBIT bits 7 1", ":0"),
        ("MULTI", "+OK"),
        ("BF.ADD k a", "+QUEUED"),
        ("BF.ADD bits a", "+QUEUED"),
        ("BF.RESERVE k x y", "+QUEUED"),
        ("BF.ADD k b", "+QUEUED"),
        (
            "EXEC",
            "*4 :1 -WRONGTYPE Operation against a key holding the wrong kind of value -ERR bad error rate :1",
        ),
    ]);
}

#[test]
fn what_can_t_be_queued_ends_it() {
    let mut desk = Desk::new();
    let aborted = ("EXEC", "-EXECABORT Transaction discarded because of previous errors.");
    for (line, error) in [
        ("NOSUCH k", "-ERR unknown command 'NOSUCH', with args beginning with: 'k' "),
        ("BF.ADD k", "-ERR wrong number of arguments for 'bf.add' command"),
        ("CLIENT FOO", "-ERR unknown subcommand 'FOO'. Try CLIENT HELP."),
        ("CLIENT SETNAME", "-ERR wrong number of arguments for 'client|setname' command"),
        ("SHUTDOWN NOSAVE", "-ERR Command not allowed inside a transaction"),
        ("EXEC now", "-ERR wrong number of arguments for 'exec' command"),
    ] {
        desk.play(&[
            ("MULTI", "+OK"),
            ("BF.ADD k a", "+QUEUED"),
            (line, error),
            ("BF.ADD k b", "+QUEUED"),
            aborted,
            ("EXISTS k", ":0"),
        ]);
    }
    // These are answered at once, and end nothing.
    desk.play(&[
        ("MULTI", "+OK"),
        ("MULTI", "-ERR MULTI calls can not be nested"),
        ("WATCH k", "-ERR WATCH inside MULTI is not allowed"),
        ("BF.ADD k a", "+QUEUED"),
        ("EXEC", "*1 :1"),
    ]);
}

#[test]
fn a_transaction_can_be_given_up() {
    let mut desk = Desk::new();
    desk.play(&[
        ("MULTI", "+OK"),
        ("BF.ADD k a", "+QUEUED"),
        ("DISCARD", "+OK"),
        ("EXISTS k", ":0"),
        ("MULTI", "+OK"),
        ("BF.ADD k a", "+QUEUED"),
        ("RESET", "+RESET"),
        ("EXEC", "-ERR EXEC without MULTI"),
        ("EXISTS k", ":0"),
        ("MULTI", "+OK"),
        ("BF.ADD k a", "+QUEUED"),
        ("QUIT", "+OK"),
    ]);
    assert!(desk.session.closing);
}

#[test]
fn a_changed_key_makes_exec_do_nothing() {
    let mut desk = Desk::new();
    let changes = [
        "BF.ADD k b",
        "BF.MADD k a b",
        "DEL k",
        "UNLINK k",
        "RENAME k l",
        "RENAME other k",
        "COPY other k REPLACE",
        "EXPIRE k 100",
        "EXPIRE k -1",
        "FLUSHALL",
        "CF.ADD cuckoo x",
        "CF.DEL cuckoo a",
        "SETBIT bits 9 1",
        "SETBIT bits 7 0",
        "SETBIT bits 8 0",
        "BF.ADD none a",
        "BF.RESERVE none 0.1 10",
        "PERSIST timed",
        "PEXPIREAT timed 1800000000000",
    ];
    for change in changes {
        for line in [
            "FLUSHALL",
            "BF.ADD k a",
            "BF.ADD other a",
            "CF.ADD cuckoo a",
            "SETBIT bits 7 1",
            "BF.ADD timed a",
        ] {
            desk.ask(line);
        }
        desk.play(&[("EXPIRE timed 100", ":1"), ("WATCH k cuckoo bits none timed k", "+OK")]);
        let reply = desk.ask(change);
        assert!(!reply.starts_with('-'), "{change}: {reply}");
        desk.play(&[("MULTI", "+OK"), ("BF.ADD new a", "+QUEUED"), ("EXEC", "*-1"), ("EXISTS new", ":0")]);
        // Over with that: the keys are watched no more.
        desk.play(&[("BF.ADD k z", ":1"), ("MULTI", "+OK"), ("PING", "+QUEUED"), ("EXEC", "*1 +PONG")]);
    }
}

#[test]
fn what_changes_no_key_changes_nothing() {
    let mut desk = Desk::new();
    let quiet = [
        "BF.ADD k a",
        "BF.EXISTS k b",
        "BF.ADD other b",
        "BF.INFO k",
        "DEL nothing",
        "RENAMENX other k",
        "COPY other k",
        "EXPIRE nothing 100",
        "PERSIST k",
        "CF.DEL cuckoo b",
        "GETBIT bits 3",
        "SETBIT bits 7 1",
        "SETBIT bits 3 0",
        "TYPE k",
        "DUMP k",
        "TOUCH k",
        "BF.SCANDUMP k 0",
    ];
    for line in
        ["BF.ADD k a", "BF.ADD other a", "CF.ADD cuckoo a", "SETBIT bits 7 1", "WATCH k cuckoo bits none"]
    {
        desk.ask(line);
    }
    for line in quiet {
        desk.ask(line);
    }
    desk.play(&[("MULTI", "+OK"), ("PING", "+QUEUED"), ("EXEC", "*1 +PONG")]);
    // And what changed is forgotten by those who don't want to know.
    for forget in ["UNWATCH", "RESET", "DISCARD"] {
        desk.play(&[("WATCH k", "+OK")]);
        desk.ask("DEL k");
        if forget == "DISCARD" {
            desk.ask("MULTI");
        }
        desk.ask(forget);
        desk.play(&[("MULTI", "+OK"), ("BF.ADD k a", "+QUEUED"), ("EXEC", "*1 :1")]);
    }
}

#[test]
fn a_key_whose_time_comes_has_changed() {
    let mut desk = Desk::new();
    let exec = [("MULTI", "+OK"), ("PING", "+QUEUED")];
    desk.play(&[("BF.ADD k a", ":1"), ("PEXPIRE k 500", ":1"), ("WATCH k", "+OK")]);
    desk.later(501);
    desk.play(&exec);
    desk.play(&[("EXEC", "*-1")]);
    // One that was over already, and only not removed, is one that isn't there.
    desk.play(&[("BF.ADD l a", ":1"), ("PEXPIRE l 500", ":1")]);
    desk.later(501);
    desk.play(&[("WATCH l", "+OK")]);
    assert_eq!(desk.shared.keyspace.remove_expired(NOW + 5_000, || ()), 0);
    desk.play(&exec);
    desk.play(&[("EXEC", "*1 +PONG")]);
    // Nor does it matter who removed it.
    desk.play(&[("BF.ADD m a", ":1"), ("PEXPIRE m 500", ":1"), ("WATCH m", "+OK")]);
    assert_eq!(desk.shared.keyspace.remove_expired(NOW + 5_000, || ()), 1);
    desk.play(&exec);
    desk.play(&[("EXEC", "*-1")]);
}

#[test]
fn the_other_protocol_and_no_replies() {
    let mut desk = Desk::new();
    desk.ask("HELLO 3");
    desk.play(&[
        ("MULTI", "+OK"),
        ("BF.ADD k a", "+QUEUED"),
        ("BF.ADD k a", "+QUEUED"),
        ("EXEC", "*2 #t #f"),
        ("WATCH k", "+OK"),
        ("BF.ADD k b", "#t"),
        ("MULTI", "+OK"),
        ("EXEC", "_"),
        ("MULTI", "+OK"),
        ("CLIENT REPLY OFF", "+QUEUED"),
        ("DISCARD", "+OK"),
        ("CLIENT REPLY OFF", ""),
        ("MULTI", ""),
        ("BF.ADD k c", ""),
        ("PING", ""),
        ("EXEC", ""),
        ("CLIENT REPLY ON", "+OK"),
        ("BF.EXISTS k c", "#t"),
        ("MULTI", "+OK"),
        ("PING", "+QUEUED"),
    ]);
    desk.session.replies = Replies::SkipNext;
    desk.play(&[("EXEC", ""), ("PING", "+PONG")]);
}

#[test]
fn what_waits_is_bounded() {
    let mut desk = Desk::with(&[("max-request-bytes", "2kb"), ("client-output-limit", "64kb")]);
    desk.ask("MULTI");
    let mut replies = (0..40).map(|number| desk.ask(&format!("BF.ADD k item:{number}")));
    let error = replies.find(|reply| reply.starts_with('-')).unwrap();
    assert_eq!(
        error,
        "-ERR a transaction may take 2048 bytes, and this is more: max-request-bytes is the limit"
    );
    assert!(replies.all(|reply| reply == "+QUEUED"));
    assert_eq!(desk.session.kept_bytes(), 0);
    desk.play(&[
        ("EXEC", "-EXECABORT Transaction discarded because of previous errors."),
        ("EXISTS k", ":0"),
    ]);
    let watched = desk.ask("WATCH a b c d e f g h i j k l m");
    assert!(watched.starts_with("-ERR a transaction may take 2048 bytes"), "{watched}");
    desk.play(&[("UNWATCH", "+OK")]);
    assert_eq!(desk.session.kept_bytes(), 0);

    // Replies that may not wait are lost, and the connection with them; what was asked for is done.
    let long = vec![b'x'; 1_000];
    desk.shared.change_setting("max-request-bytes", "1mb").unwrap();
    desk.ask("MULTI");
    for _ in 0..100 {
        desk.send(&[b"ECHO", &long]);
    }
    desk.ask("BF.ADD k last");
    assert_eq!(desk.send(&[b"EXEC"]), b"");
    assert!(desk.session.has_lost_replies && desk.shared.keyspace.len() == 1);
}

#[test]
fn the_list_of_clients_shows_who_waits() {
    let mut desk = Desk::new();
    desk.play(&[("WATCH a b", "+OK"), ("MULTI", "+OK"), ("PING", "+QUEUED")]);
    let client = &desk.session.client;
    client.note_transaction(Some(1), 2, desk.session.kept_bytes());
    let line = super::super::client_list::line(client, NOW, None);
    assert!(line.contains(" flags=x ") && line.contains(" multi=1 watch=2 "), "{line}");
    assert!(!line.contains(" multi-mem=0 "), "{line}");
}
