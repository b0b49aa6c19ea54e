"""Checks a mayhap server with redis-py, in both protocols: python redis_py.py HOST PORT"""

import sys

import redis

HOST, PORT = sys.argv[1], int(sys.argv[2])


def main():
    for protocol in (2, 3):
        with redis.Redis(host=HOST, port=PORT, protocol=protocol) as client:
            for check in (
                bloom, bloom_full, bloom_dump, cuckoo, cuckoo_dump, generic, keys, bitmaps, pipelines, transactions, errors
            ):
                client.flushall()
                check(client)
    print(f"redis-py {redis.__version__}: all well")


def bloom(client):
    bf = client.bf()
    assert bf.create("users", 0.001, 1000) in (True, "OK", b"OK")
    assert bf.add("users", "alice") == 1
    assert bf.add("users", "alice") == 0
    assert bf.madd("users", "bob", "alice", "carol") == [1, 0, 1]
    assert bf.exists("users", "bob") == 1
    assert bf.exists("users", "dave") == 0
    assert bf.mexists("users", "alice", "dave") == [1, 0]
    assert bf.mexists("nothing", "alice") == [0]
    assert bf.card("users") == 3
    assert bf.card("nothing") == 0
    assert bf.insert("more", ["a", "b"], capacity=50, error=0.01, expansion=4) == [1, 1]
    assert bf.insert("more", ["b", "c"], noCreate=True) == [0, 1]
    fails("not found", lambda: bf.insert("nothing", ["a"], noCreate=True))
    info = information(bf.info("users"))
    assert info["Capacity"] == 1000, info
    assert info["Number of filters"] == 1
    assert info["Number of items inserted"] == 3
    assert info["Expansion rate"] == 2
    assert information(bf.info("more"))["Expansion rate"] == 4
    # Across growth nobody is forgotten.
    items = [f"item {number}" for number in range(2000)]
    assert sum(bf.madd("grows", *items)) > 1900
    assert all(bf.mexists("grows", *items))
    assert information(bf.info("grows"))["Number of filters"] > 1


def bloom_full(client):
    bf = client.bf()
    bf.create("small", 0.001, 2, noScale=True)
    assert bf.madd("small", "a", "b") == [1, 1]
    fails("non scaling filter is full", lambda: bf.add("small", "c"))
    assert bf.add("small", "a") == 0
    answers = bf.madd("small", "a", "c", "d")
    assert answers[0] == 0 and "full" in str(answers[1]) and len(answers) == 2, answers
    assert information(bf.info("small"))["Expansion rate"] is None
    fails("item exists", lambda: bf.create("small", 0.1, 10))


def bloom_dump(client):
    bf = client.bf()
    items = [f"item {number}" for number in range(500)]
    bf.madd("from", *items)
    position, pieces = 0, []
    while True:
        position, piece = bf.scandump("from", position)
        if position == 0:
            break
        pieces.append((position, piece))
    for position, piece in pieces:
        assert bf.card("to") == 0
        bf.loadchunk("to", position, piece)
    assert bf.card("to") == bf.card("from")
    assert all(bf.mexists("to", *items))


def cuckoo(client):
    cf = client.cf()
    assert cf.create("names", 1000, expansion=2, bucket_size=4, max_iterations=30)
    assert cf.add("names", "alice") == 1
    assert cf.addnx("names", "alice") == 0
    assert cf.addnx("names", "bob") == 1
    assert cf.insert("names", ["carol", "dave"]) == [1, 1]
    assert cf.insertnx("names", ["carol", "erin"]) == [0, 1]
    assert cf.insert("made", ["a"], capacity=100) == [1]
    fails("not found", lambda: cf.insert("nothing", ["a"], nocreate=True))
    assert cf.exists("names", "alice") == 1
    assert cf.mexists("names", "alice", "zoe") == [1, 0]
    assert cf.count("names", "alice") == 1
    assert cf.delete("names", "alice") == 1
    assert cf.delete("names", "alice") == 0
    assert cf.exists("names", "alice") == 0
    fails("not found", lambda: cf.delete("nothing", "alice"))
    info = information(cf.info("names"))
    assert info["Number of items inserted"] == 4, info
    assert info["Number of items deleted"] == 1
    assert info["Bucket size"] == 4
    assert info["Expansion rate"] == 2
    assert info["Max iterations"] == 30


def cuckoo_dump(client):
    cf = client.cf()
    items = [f"item {number}" for number in range(300)]
    cf.insert("from", items)
    position, pieces = 0, []
    while True:
        position, piece = cf.scandump("from", position)
        if position == 0:
            break
        pieces.append((position, piece))
    for position, piece in pieces:
        assert cf.exists("to", items[0]) == 0
        cf.loadchunk("to", position, piece)
    assert all(cf.mexists("to", *items))
    assert cf.delete("to", items[0]) == 1


def generic(client):
    assert client.ping() is True
    assert client.echo("hello") == b"hello"
    assert client.client_id() > 0
    client.client_setname("checker")
    assert client.client_getname() in (b"checker", "checker")
    assert any(other.get("name") == "checker" for other in client.client_list())
    assert client.config_get("bf-error-rate")
    before = client.config_get("bf-initial-size")["bf-initial-size"]
    assert client.config_set("bf-initial-size", 123)
    assert client.config_get("bf-initial-size") == {"bf-initial-size": "123"}
    client.bf().add("k", "a")
    assert information(client.bf().info("k"))["Capacity"] == 123
    client.config_set("bf-initial-size", before)
    assert client.config_resetstat()
    assert len(client.time()) == 2
    assert "redis_version" in client.info()
    assert client.info("server")
    assert client.command_count() > 40
    assert "bf.add" in {name.lower() for name in client.command()}
    docs = client.execute_command("COMMAND DOCS", "BF.ADD")
    assert docs, docs
    client.slowlog_get()
    assert client.slowlog_len() >= 0
    assert client.slowlog_reset()
    assert client.select(0)


def keys(client):
    bf = client.bf()
    bf.add("a", "1")
    client.cf().add("b", "1")
    assert client.dbsize() == 2
    assert client.type("a") == b"MBbloom--"
    assert client.type("b") == b"MBbloomCF"
    assert client.type("nothing") == b"none"
    assert client.exists("a", "b", "c") == 2
    assert sorted(client.keys("*")) == [b"a", b"b"]
    assert sorted(client.scan_iter()) == [b"a", b"b"]
    assert list(client.scan_iter(match="a*", _type="MBbloom--")) == [b"a"]
    assert client.randomkey() in (b"a", b"b")
    assert client.rename("a", "c")
    assert not client.renamenx("c", "b")
    assert bf.exists("c", "1") == 1 and bf.exists("a", "1") == 0
    assert client.expire("c", 100)
    assert 0 < client.ttl("c") <= 100
    assert client.pexpire("c", 50_000)
    assert 0 < client.pttl("c") <= 50_000
    assert client.persist("c")
    assert client.ttl("c") == -1 and client.ttl("nothing") == -2
    assert client.memory_usage("c") > 0
    assert client.object("idletime", "c") >= 0
    payload = client.dump("c")
    client.restore("restored", 0, payload)
    assert bf.exists("restored", "1") == 1
    fails("BUSYKEY|already exists", lambda: client.restore("restored", 0, payload))
    fails("", lambda: client.restore("broken", 0, payload[:-1]))
    assert client.copy("c", "copied")
    assert bf.exists("copied", "1") == 1
    assert client.delete("c", "nothing") == 1
    assert client.unlink("b") == 1
    assert client.flushdb()
    assert client.dbsize() == 0 and client.randomkey() is None


def bitmaps(client):
    assert client.setbit("bits", 7, 1) == 0
    assert client.setbit("bits", 7, 1) == 1
    assert client.getbit("bits", 7) == 1
    assert client.getbit("bits", 8) == 0
    client.setbit("bits", 100, 1)
    assert client.bitcount("bits") == 2
    assert client.bitpos("bits", 1) == 7
    assert client.bf().exists("bits", "a") == 0
    fails("WRONGTYPE|wrong kind", lambda: client.bf().add("bits", "a"))


def pipelines(client):
    pipe = client.pipeline(transaction=False)
    for number in range(1000):
        pipe.execute_command("BF.ADD", "piped", number)
    pipe.execute_command("BF.CARD", "piped")
    answers = pipe.execute()
    assert sum(answers[:-1]) == answers[-1] > 950, answers[-1]


def transactions(client):
    # As it comes: a pipeline is a transaction.
    pipe = client.pipeline()
    bf, cf = pipe.bf(), pipe.cf()
    bf.create("names", 0.01, 1000)
    bf.add("names", "alice")
    bf.madd("names", "alice", "bob")
    bf.exists("names", "bob")
    cf.add("more", "alice")
    pipe.delete("nothing")
    answers = pipe.execute()
    assert answers[0] in (True, "OK", b"OK") and answers[1:] == [1, [0, 1], 1, 1, 0], answers
    with client.pipeline() as pipe:
        for number in range(1000):
            pipe.execute_command("BF.ADD", "piped", number)
        pipe.execute_command("BF.CARD", "piped")
        answers = pipe.execute()
        assert sum(answers[:-1]) == answers[-1] > 950, answers[-1]
    # One that fails is told after all were executed.
    pipe = client.pipeline()
    pipe.setbit("bits", 3, 1)
    pipe.execute_command("BF.ADD", "bits", "a")
    pipe.setbit("bits", 4, 1)
    fails("WRONGTYPE|wrong kind", pipe.execute)
    assert client.bitcount("bits") == 2
    pipe.execute_command("NO.SUCH")
    fails("unknown command|discarded", pipe.execute)
    # Read, decide, write if nobody else has.
    other = redis.Redis(host=HOST, port=PORT)
    rounds = []

    def step(pipe):
        count = pipe.bitcount("bits")
        if not rounds:
            other.setbit("bits", 100, 1)
        rounds.append(count)
        pipe.multi()
        pipe.setbit("bits", 200 + count, 1)

    assert client.transaction(step, "bits") == [0] and rounds == [2, 3], rounds
    with client.pipeline() as pipe:
        pipe.watch("names")
        other.bf().add("names", "carol")
        pipe.multi()
        pipe.ping()
        try:
            pipe.execute()
            raise AssertionError("a change went unnoticed")
        except redis.WatchError:
            pass
    other.close()


def errors(client):
    fails("unknown command", lambda: client.execute_command("NO.SUCH", "a"))
    fails("wrong number of arguments for 'bf.add' command", lambda: client.execute_command("BF.ADD", "a"))
    fails("out of range", lambda: client.execute_command("SELECT", 99))


def information(answer):
    """redis-py makes an object of it in one protocol and a dictionary in the other."""
    if isinstance(answer, dict):
        return {text(name): value for name, value in answer.items()}
    names = {
        "capacity": "Capacity",
        "filterNum": "Number of filters",
        "insertedNum": "Number of items inserted",
        "deletedNum": "Number of items deleted",
        "bucketSize": "Bucket size",
        "expansionRate": "Expansion rate",
        "maxIteration": "Max iterations",
    }
    return {name: getattr(answer, field, None) for field, name in names.items()}


def text(name):
    return name.decode() if isinstance(name, bytes) else name


def fails(message, call):
    """The call must fail, with one of the texts between the bars."""
    try:
        answer = call()
    except redis.ResponseError as error:
        assert any(part.lower() in str(error).lower() for part in message.split("|")), error
    else:
        raise AssertionError(f"{answer!r} instead of: {message}")


main()
