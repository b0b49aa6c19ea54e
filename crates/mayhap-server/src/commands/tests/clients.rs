use super::{Desk, NOW, address};

#[test]
fn a_client_says_who_it_is() {
    let mut desk = Desk::new();
    desk.play(&[
        ("CLIENT ID", ":1"),
        ("CLIENT ID x", "-ERR wrong number of arguments for 'client|id' command"),
        ("CLIENT GETNAME", "$-1"),
        ("CLIENT SETNAME worker-1", "+OK"),
        ("CLIENT GETNAME", "$8 worker-1"),
        ("CLIENT SETNAME ''", "+OK"),
        ("CLIENT GETNAME", "$-1"),
        ("CLIENT SETNAME", "-ERR wrong number of arguments for 'client|setname' command"),
        ("CLIENT SETINFO lib-name redis-py", "+OK"),
        ("CLIENT SETINFO LIB-VER 5.0.1", "+OK"),
        ("CLIENT SETINFO lib-foo 5.0.1", "-ERR Unrecognized option 'lib-foo'"),
        ("CLIENT FOO", "-ERR unknown subcommand 'FOO'. Try CLIENT HELP."),
        ("CLIENT TRACKING ON", "-ERR unknown subcommand 'TRACKING'. Try CLIENT HELP."),
        ("CLIENT", "-ERR wrong number of arguments for 'client' command"),
        ("CLIENT NO-EVICT on", "+OK"),
        ("CLIENT NO-TOUCH on", "+OK"),
        ("CLIENT NO-EVICT maybe", "-ERR syntax error"),
        ("CLIENT GETREDIR", ":-1"),
        ("CLIENT UNBLOCK 7", ":0"),
        ("CLIENT UNBLOCK x", "-ERR value is not an integer or out of range"),
        ("CLIENT UNBLOCK 7 foo", "-ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"),
    ]);
    let bad = "-ERR Client names cannot contain spaces, newlines or special characters.\r\n";
    assert_eq!(desk.send(&[b"CLIENT", b"SETNAME", b"two words"]), bad.as_bytes());
    assert_eq!(desk.send(&[b"CLIENT", b"SETNAME", &[b'x'; 2000]]), bad.as_bytes());
    for name in [b"two words".as_slice(), b"\xff", &[b'x'; 2000]] {
        assert_eq!(desk.send(&[b"HELLO", b"3", b"SETNAME", name]), bad.as_bytes());
        assert_eq!(desk.ask("CLIENT GETNAME"), "$-1");
    }
    let bad = "-ERR lib-ver cannot contain spaces, newlines or special characters.\r\n";
    assert_eq!(desk.send(&[b"CLIENT", b"SETINFO", b"lib-ver", b"a\nb"]), bad.as_bytes());
    assert!(desk.ask("CLIENT HELP").contains("CLIENT <subcommand>"));
}

#[test]
fn clients_are_listed() {
    let mut desk = Desk::new();
    desk.shared.clients.add(address(40_002), address(25_666), 0, NOW);
    desk.ask("CLIENT SETNAME worker-1");
    desk.later(3000);
    let line = desk.ask("CLIENT INFO");
    for field in [
        "id=1 ",
        "addr=127.0.0.1:40001 ",
        "laddr=127.0.0.1:25666 ",
        "name=worker-1 ",
        "age=3 ",
        "db=0 ",
        "cmd=client|info ",
        "user=default ",
        "resp=2 ",
    ] {
        assert!(line.contains(field), "{field}: {line}");
    }
    let lines = desk.ask("CLIENT LIST");
    assert!(
        lines.contains("id=1 ") && lines.contains("id=2 ") && lines.contains("cmd=client|list"),
        "{lines}"
    );
    assert!(lines.contains("cmd=NULL"), "the other one has sent nothing: {lines}");
    assert!(desk.ask("CLIENT LIST TYPE normal").contains("id=2 "));
    assert!(!desk.ask("CLIENT LIST ID 1 77").contains("id=2 "));
    desk.play(&[
        ("CLIENT LIST TYPE pubsub", "$0"),
        ("CLIENT LIST TYPE z", "-ERR Unknown client type 'z'"),
        ("CLIENT LIST TYPE", "-ERR syntax error"),
        ("CLIENT LIST ID a", "-ERR Invalid client ID"),
        ("CLIENT LIST ID", "-ERR syntax error"),
        ("CLIENT LIST FOO", "-ERR syntax error"),
    ]);
}

#[test]
fn clients_are_killed() {
    let mut desk = Desk::new();
    let other = desk.shared.clients.add(address(40_002), address(25_666), 0, NOW);
    let third = desk.shared.clients.add(address(40_003), address(25_666), 0, NOW + 5000);
    desk.later(6000);
    desk.play(&[
        ("CLIENT KILL", "-ERR wrong number of arguments for 'client|kill' command"),
        ("CLIENT KILL 1.1.1.1:1", "-ERR No such client"),
        ("CLIENT KILL ID abc", "-ERR client-id should be greater than 0"),
        ("CLIENT KILL ID 0", "-ERR client-id should be greater than 0"),
        ("CLIENT KILL FOO bar", "-ERR syntax error"),
        ("CLIENT KILL ID 1 ADDR", "-ERR syntax error"),
        ("CLIENT KILL TYPE x", "-ERR Unknown client type 'x'"),
        ("CLIENT KILL USER y", "-ERR No such user 'y'"),
        ("CLIENT KILL SKIPME maybe", "-ERR syntax error"),
        ("CLIENT KILL ID 77", ":0"),
        ("CLIENT KILL TYPE pubsub", ":0"),
        ("CLIENT KILL ADDR 127.0.0.1:40001", ":0"),
        ("CLIENT KILL MAXAGE 3", ":1"),
    ]);
    assert!(other.is_killed() && !third.is_killed());
    assert_eq!(desk.ask("CLIENT KILL 127.0.0.1:40003"), "+OK");
    assert!(third.is_killed() && !desk.session.closing);
    assert_eq!(desk.ask("CLIENT KILL ID 1 SKIPME no"), ":1");
    assert!(desk.session.closing, "after the reply");
}

#[test]
fn replies_are_left_out() {
    Desk::new().play(&[
        ("CLIENT REPLY foo", "-ERR syntax error"),
        ("CLIENT REPLY SKIP", ""),
        ("PING", ""),
        ("PING", "+PONG"),
        // Each leaves out the reply to the next.
        ("CLIENT REPLY SKIP", ""),
        ("CLIENT REPLY SKIP", ""),
        ("PING", ""),
        ("PING", "+PONG"),
        ("CLIENT REPLY SKIP", ""),
        ("CLIENT REPLY ON", "+OK"),
        ("CLIENT REPLY SKIP", ""),
        ("CLIENT REPLY foo", ""),
        ("MULTI", "+OK"),
        ("CLIENT REPLY SKIP", "+QUEUED"),
        ("PING", "+QUEUED"),
        ("DISCARD", "+OK"),
        ("CLIENT REPLY OFF", ""),
        ("PING", ""),
        ("CLIENT REPLY SKIP", ""),
        ("PING", ""),
        ("PING", ""),
        ("CLIENT REPLY ON", "+OK"),
        ("PING", "+PONG"),
    ]);
}
