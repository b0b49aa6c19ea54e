//! What is executed together answers as if it had been executed one by one.

mod running;

use std::io::Read as _;
use std::sync::Barrier;
use std::thread;

use running::{Client, Running, array};

/// A request for each line, in one piece, and the replies to all of them.
fn pipeline(client: &mut Client, lines: &[(&str, &str)]) {
    let request: Vec<u8> = lines
        .iter()
        .flat_map(|(line, _)| array(&line.split(' ').map(str::as_bytes).collect::<Vec<_>>()))
        .collect();
    let replies: String = lines.iter().map(|(_, reply)| format!("{reply}\r\n")).collect();
    client.ask(request, replies);
}

#[test]
fn runs_keep_their_order() {
    let server = Running::new();
    let mut client = server.connect();
    let wrong_type = "-WRONGTYPE Operation against a key holding the wrong kind of value";
    pipeline(
        &mut client,
        &[
            ("BF.ADD a one", ":1"),
            ("BF.ADD a one", ":0"),
            ("bf.add a two", ":1"),
            ("BF.ADD b one", ":1"),
            ("BF.EXISTS a two", ":1"),
            ("BF.EXISTS a three", ":0"),
            ("PING", "+PONG"),
            ("BF.ADD a three", ":1"),
            ("BF.EXISTS a three", ":1"),
            ("BF.ADD a", "-ERR wrong number of arguments for 'bf.add' command"),
            ("BF.EXISTS nothing three", ":0"),
            ("CF.ADD c one", ":1"),
            ("BF.ADD c one", wrong_type),
            ("BF.ADD c two", wrong_type),
            ("CF.EXISTS c one", ":1"),
            ("CF.DEL c one", ":1"),
            ("CF.DEL c one", ":0"),
            ("CF.EXISTS c one", ":0"),
            ("NOSUCH c one", "-ERR unknown command 'NOSUCH', with args beginning with: 'c' 'one' "),
            ("BF.CARD a", ":3"),
        ],
    );
    client.send("HELLO 3\r\n");
    let mut hello = [0; 4096];
    assert!(client.stream.read(&mut hello).unwrap() > 0);
    pipeline(&mut client, &[("BF.ADD a one", "#f"), ("BF.ADD a four", "#t"), ("BF.EXISTS a four", "#t")]);
}

#[test]
fn a_long_run_answers_each_item() {
    let server = Running::new();
    let mut client = server.connect();
    client.ask("BF.RESERVE f 0.0001 100000\r\n", "+OK\r\n");
    let request = |name: &str| -> Vec<u8> {
        (0..5000).flat_map(|item| array(&[name.as_bytes(), b"f", item.to_string().as_bytes()])).collect()
    };
    client.ask(request("BF.ADD"), ":1\r\n".repeat(5000));
    client.ask(request("BF.ADD"), ":0\r\n".repeat(5000));
    client.ask(request("BF.EXISTS"), ":1\r\n".repeat(5000));
    let shared = server.handle.shared();
    let place = mayhap_server::commands::table().find(b"BF.ADD").unwrap();
    assert_eq!(shared.statistics.command(place).calls, 10_000);
}

#[test]
fn questions_of_any_width_are_answered_in_order() {
    let server = Running::new();
    let mut client = server.connect();
    client.ask("BF.RESERVE f 0.000001 1000\r\n", "+OK\r\n");
    client.ask("BF.MADD f 0 2 4 6 8\r\n", "*5\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n");
    // Around what fits one run, and with other commands in between; the last is too short.
    let widths = [1, 16, 16, 255, 256, 257, 1, 300, 128, 128, 127, 2, 0];
    let (mut request, mut replies) = (Vec::new(), String::new());
    for (number, width) in widths.into_iter().enumerate() {
        let items: Vec<String> = (0..width).map(|item| ((item * 7 + number) % 10).to_string()).collect();
        let words: Vec<&[u8]> =
            [&b"BF.MEXISTS"[..], b"f"].into_iter().chain(items.iter().map(String::as_bytes)).collect();
        request.extend(array(&words));
        if width == 0 {
            replies += "-ERR wrong number of arguments for 'bf.mexists' command\r\n";
        } else {
            replies += &format!("*{width}\r\n");
        }
        for item in &items {
            replies += if matches!(item.as_str(), "0" | "2" | "4" | "6" | "8") { ":1\r\n" } else { ":0\r\n" };
        }
        if number % 5 == 4 {
            request.extend(array(&[b"BF.ADD", b"f", b"0"]));
            replies += ":0\r\n";
        }
    }
    client.ask(request, replies);
    let place = mayhap_server::commands::table().find(b"BF.MEXISTS").unwrap();
    assert_eq!(server.handle.shared().statistics.command(place).calls, widths.len() as u64);
}

#[test]
fn of_many_who_add_one_name_exactly_one_is_first() {
    let server = Running::new();
    let clients = 4;
    let barrier = Barrier::new(clients);
    let rounds = 200;
    let add = |_| {
        let mut client = server.connect();
        let mut firsts = Vec::new();
        for round in 0..rounds {
            barrier.wait();
            // The first rounds create the filter, later ones make it grow.
            client.send(array(&[b"BF.ADD", b"names", format!("name {round}").as_bytes()]));
            let mut reply = [0; 4];
            client.stream.read_exact(&mut reply).unwrap();
            firsts.push(usize::from(&reply == b":1\r\n"));
        }
        firsts
    };
    let firsts: Vec<Vec<usize>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..clients).map(|number| scope.spawn(move || add(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let false_positives =
        (0..rounds).filter(|round| firsts.iter().map(|of| of[*round]).sum::<usize>() == 0).count();
    assert!((0..rounds).all(|round| firsts.iter().map(|of| of[round]).sum::<usize>() <= 1));
    // At one percent, two are expected; fifteen have a chance of one in 10^8.
    assert!(false_positives < 15, "{false_positives}");
}

#[test]
fn a_command_that_takes_long_keeps_its_place() {
    let server = Running::with(&[("threads", "1")]);
    let mut client = server.connect();
    client.ask("BF.RESERVE large 0.001 10000000\r\n", "+OK\r\n");
    client.send("PING\r\nBF.SCANDUMP large 0\r\nECHO between\r\nBF.SCANDUMP large 0\r\nECHO end\r\nQUIT\r\n");
    // Others of the same worker go on meanwhile.
    server.connect().ask("PING\r\n", "+PONG\r\n");
    let mut all = Vec::new();
    client.stream.read_to_end(&mut all).unwrap();
    let between = b"$7\r\nbetween\r\n";
    let middle = all.windows(between.len()).position(|window| window == between).unwrap();
    assert!(all.starts_with(b"+PONG\r\n*2\r\n:"));
    let (first, second) = (&all[7..middle], &all[middle + between.len()..]);
    assert!(first.len() > 10 && second.starts_with(b"*2\r\n:"));
    assert!(all.ends_with(b"$3\r\nend\r\n+OK\r\n"));
    let place = mayhap_server::commands::table().find(b"BF.SCANDUMP").unwrap();
    assert_eq!(server.handle.shared().statistics.command(place).calls, 2);
}

#[test]
fn values_have_a_limit_together() {
    let server = Running::with(&[("maxmemory", "1mb")]);
    let mut client = server.connect();
    client.ask("BF.RESERVE small 0.01 1000\r\n", "+OK\r\n");
    client.send("BF.RESERVE large 0.01 10000000\r\n");
    let mut reply = [0; 1];
    client.stream.read_exact(&mut reply).unwrap();
    assert_eq!(&reply, b"-");
    let used = server.handle.shared().keyspace.used_bytes();
    assert!((1000..100_000).contains(&used), "{used}");
}
