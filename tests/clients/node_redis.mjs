// Checks a mayhap server with node-redis, in both protocols: node node_redis.mjs HOST PORT
// The package is looked for where this is started, not beside this file.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(process.cwd() + "/");
const { createClient, RESP_TYPES } = require("redis");
const [host, port] = process.argv.slice(2);

for (const RESP of [2, 3]) {
  const client = createClient({ socket: { host, port: Number(port) }, RESP });
  client.on("error", (error) => {
    throw error;
  });
  await client.connect();
  for (const check of [bloom, bloomDump, cuckoo, cuckooDump, generic, manyAtOnce, transactions, errors]) {
    await client.flushAll();
    await check(client);
  }
  await client.quit();
}
console.log(`node-redis ${require("redis/package.json").version}: all well`);

async function bloom(client) {
  assert.equal(await client.bf.reserve("users", 0.001, 1000, { EXPANSION: 4 }), "OK");
  assert.equal(await client.bf.add("users", "alice"), true);
  assert.equal(await client.bf.add("users", "alice"), false);
  assert.deepEqual(await client.bf.mAdd("users", ["bob", "alice"]), [true, false]);
  assert.equal(await client.bf.exists("users", "bob"), true);
  assert.equal(await client.bf.exists("users", "dave"), false);
  assert.deepEqual(await client.bf.mExists("users", ["alice", "dave"]), [true, false]);
  assert.equal(await client.bf.card("users"), 2);
  assert.deepEqual(await client.bf.insert("more", ["a", "b", "a"], { CAPACITY: 50, ERROR: 0.01 }), [true, true, false]);
  await assert.rejects(client.bf.insert("nothing", "a", { NOCREATE: true }), /not found/);
  const info = await client.bf.info("users");
  assert.equal(info["Capacity"], 1000);
  assert.equal(info["Number of filters"], 1);
  assert.equal(info["Number of items inserted"], 2);
  assert.equal(info["Expansion rate"], 4);
  assert.equal(await client.bf.reserve("small", 0.01, 1, { NONSCALING: true }), "OK");
  await client.bf.add("small", "a");
  await assert.rejects(client.bf.add("small", "b"), /non scaling filter is full/);
  await assert.rejects(client.bf.reserve("small", 0.01, 1), /item exists/);
}

async function bloomDump(client) {
  const items = Array.from({ length: 500 }, (_, number) => `item ${number}`);
  await client.bf.mAdd("from", items);
  await copy(client, client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).bf, "BF.LOADCHUNK");
  assert.equal(await client.bf.card("to"), await client.bf.card("from"));
  assert.ok((await client.bf.mExists("to", items)).every(Boolean));
}

async function cuckoo(client) {
  assert.equal(await client.cf.reserve("names", 1000, { BUCKETSIZE: 4, MAXITERATIONS: 30, EXPANSION: 2 }), "OK");
  assert.equal(await client.cf.add("names", "alice"), true);
  assert.equal(await client.cf.addNX("names", "alice"), false);
  assert.deepEqual(await client.cf.insert("names", ["bob", "carol"]), [true, true]);
  assert.deepEqual((await client.cf.insertNX("names", ["bob", "dave"])).map(Boolean), [false, true]);
  assert.equal(await client.cf.exists("names", "dave"), true);
  assert.equal(await client.cf.count("names", "alice"), 1);
  assert.equal(await client.cf.del("names", "alice"), true);
  assert.equal(await client.cf.del("names", "alice"), false);
  const info = await client.cf.info("names");
  assert.equal(info["Number of items inserted"], 3);
  assert.equal(info["Number of items deleted"], 1);
  assert.equal(info["Bucket size"], 4);
  assert.equal(info["Max iterations"], 30);
}

async function cuckooDump(client) {
  const items = Array.from({ length: 300 }, (_, number) => `item ${number}`);
  await client.cf.insert("from", items);
  await copy(client, client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).cf, "CF.LOADCHUNK");
  for (const item of items) {
    assert.equal(await client.cf.exists("to", item), true);
  }
}

// Dumps `from` and loads it as `to`, which nobody sees before it is whole.
async function copy(client, filters, load) {
  for (let iterator = 0; ; ) {
    const piece = await filters.scanDump("from", iterator);
    iterator = piece.iterator;
    if (iterator === 0) {
      break;
    }
    assert.equal(await client.exists("to"), 0);
    assert.equal(await client.sendCommand([load, "to", String(iterator), piece.chunk]), "OK");
  }
  assert.equal(await client.exists("to"), 1);
}

async function generic(client) {
  assert.equal(await client.ping(), "PONG");
  assert.equal(await client.echo("hello"), "hello");
  assert.ok((await client.clientId()) > 0);
  await client.bf.add("a", "1");
  await client.cf.add("b", "1");
  assert.equal(await client.dbSize(), 2);
  assert.equal(await client.type("a"), "MBbloom--");
  assert.deepEqual((await client.keys("*")).sort(), ["a", "b"]);
  const seen = [];
  for await (const keys of client.scanIterator({ MATCH: "?" })) {
    seen.push(...[keys].flat());
  }
  assert.deepEqual(seen.sort(), ["a", "b"]);
  assert.ok(await client.expire("a", 100));
  assert.ok((await client.ttl("a")) > 0);
  assert.ok(await client.persist("a"));
  assert.equal(await client.rename("a", "c"), "OK");
  assert.equal(await client.bf.exists("c", "1"), true);
  assert.equal(await client.del(["c", "nothing"]), 1);
  assert.equal(await client.unlink("b"), 1);
  assert.match(await client.info(), /redis_version:/);
  assert.ok((await client.configGet("bf-*"))["bf-error-rate"]);
  assert.ok((await client.commandCount()) > 40);
  assert.equal(await client.setBit("bits", 7, 1), 0);
  assert.equal(await client.getBit("bits", 7), 1);
  assert.equal(await client.bitCount("bits"), 1);
}

// What is sent in one turn goes out in one write: node-redis pipelines by itself.
async function manyAtOnce(client) {
  const names = Array.from({ length: 1000 }, (_, number) => `name ${number % 500}`);
  const added = await Promise.all(names.map((name) => client.bf.add("names", name)));
  assert.equal(added.filter(Boolean).length, await client.bf.card("names"));
  assert.ok(added.slice(500).every((isNew) => !isNew));
}

async function transactions(client) {
  const answers = await client
    .multi()
    .bf.reserve("names", 0.01, 1000)
    .bf.add("names", "alice")
    .bf.mAdd("names", ["alice", "bob"])
    .cf.add("more", "alice")
    .bf.card("names")
    .exec();
  assert.deepEqual(answers, ["OK", true, [false, true], true, 2]);
  assert.deepEqual(await client.multi().ping().bf.exists("names", "bob").execAsPipeline(), ["PONG", true]);
  // A change by somebody else between reading and writing.
  const other = client.duplicate();
  await other.connect();
  await client.watch("names");
  await other.bf.add("names", "carol");
  await assert.rejects(client.multi().bf.add("names", "dave").exec(), { name: "Error" });
  assert.equal(await client.bf.exists("names", "dave"), false);
  await client.watch("names");
  assert.deepEqual(await client.multi().bf.add("names", "dave").exec(), [true]);
  await other.quit();
}

async function errors(client) {
  await assert.rejects(client.sendCommand(["NO.SUCH", "a"]), /unknown command/);
  await assert.rejects(client.sendCommand(["BF.ADD", "a"]), /wrong number of arguments for 'bf.add' command/);
}
