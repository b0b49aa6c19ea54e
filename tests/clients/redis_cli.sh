#!/bin/sh
# Checks a mayhap server with redis-cli and redis-benchmark: redis_cli.sh HOST PORT
set -eu
host=$1 port=$2

cli() { redis-cli -h "$host" -p "$port" "$@"; }

# expect WHAT COMMAND…: the command's output is this.
expect() {
    wanted=$1
    shift
    got=$("$@" 2>&1) || true
    [ "$got" = "$wanted" ] || { echo "redis-cli: $*: wanted '$wanted', got '$got'" >&2; exit 1; }
}

# contains TEXT COMMAND…: the command's output has this in it.
contains() {
    wanted=$1
    shift
    got=$("$@" 2>&1) || true
    case $got in *"$wanted"*) ;; *) echo "redis-cli: $*: no '$wanted' in '$got'" >&2; exit 1 ;; esac
}

expect OK cli FLUSHALL
expect PONG cli PING
expect 1 cli BF.ADD users alice
expect 0 cli BF.ADD users alice
expect "(integer) 1" cli --no-raw BF.EXISTS users alice
expect "(true)" cli -3 --no-raw BF.EXISTS users alice
contains "Number of items inserted" cli BF.INFO users
contains "1# Capacity" cli -3 --no-raw BF.INFO users
expect 1 cli CF.ADD names bob
expect "ERR wrong number of arguments for 'bf.add' command" cli BF.ADD users
contains "ERR unknown command 'NOSUCH', with args beginning with: 'a'" cli NOSUCH a
expect MBbloom-- cli TYPE users

# What redis-cli's hints and its help are made of.
help() { cli help "$1" | sed 's/\x1b\[[0-9;]*m//g'; }
contains "BF.ADD key item" help BF.ADD
contains "CF.RESERVE key capacity" help CF.RESERVE
contains "summary" cli COMMAND DOCS BF.RESERVE
[ "$(cli COMMAND COUNT)" = "$(cli COMMAND LIST | wc -l)" ] || { echo "COMMAND COUNT and COMMAND LIST differ" >&2; exit 1; }
contains "bf.insert" cli COMMAND INFO BF.INSERT
expect users cli COMMAND GETKEYS BF.ADD users alice

# Its ways to look around.
expect users cli --scan --pattern 'us*'
contains "1 MBbloom--s" cli --bigkeys
contains "users" cli --memkeys
contains "redis_version" cli INFO server

# Words with any bytes, line by line and as a whole.
expect "1" cli BF.ADD users "two words"
printf 'BF.ADD piped "a b"\nBF.EXISTS piped "a b"\n' | expect "1
1" cli
printf '*3\r\n$6\r\nBF.ADD\r\n$5\r\npiped\r\n$1\r\nx\r\n' | contains "errors: 0, replies: 1" cli --pipe
expect "1" cli BF.EXISTS piped x
printf 'any\0bytes\r\n' | expect 1 cli -x BF.ADD users

# Many at once.
bench() { redis-benchmark -h "$host" -p "$port" -q -c 20 -n 20000 "$@"; }
contains "requests per second" bench -t ping
contains "requests per second" bench -P 16 -r 10000 BF.ADD bench item:__rand_int__
contains "requests per second" bench -P 16 -r 10000 BF.EXISTS bench item:__rand_int__
contains "requests per second" bench -r 10000 CF.ADDNX cuckoo item:__rand_int__
contains "requests per second" bench -3 -P 64 -r 10000 BF.MADD bench item:__rand_int__ item:__rand_int__
card=$(cli BF.CARD bench)
[ "$card" -gt 8000 ] && [ "$card" -le 10000 ] || { echo "after 10000 different items BF.CARD is $card" >&2; exit 1; }
expect OK cli FLUSHALL
echo "$(redis-cli --version): all well"
