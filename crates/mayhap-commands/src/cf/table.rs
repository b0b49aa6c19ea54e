//! What the commands are.

use crate::spec::{Argument, ArgumentKind, CommandId, Keys, Spec};

const WRITE: &[&str] = &["write", "denyoom"];
const WRITE_FAST: &[&str] = &["write", "denyoom", "fast"];
/// These give memory back, or take none.
const REMOVE: &[&str] = &["write"];
const REMOVE_FAST: &[&str] = &["write", "fast"];
const READ: &[&str] = &["readonly"];
const READ_FAST: &[&str] = &["readonly", "fast"];

const KEY: Argument = Argument::new("key", ArgumentKind::Key);
const ITEM: Argument = Argument::new("item", ArgumentKind::Text);
const ITEMS: Argument = ITEM.multiple();
const CAPACITY: Argument = Argument::new("capacity", ArgumentKind::Integer);
const ITERATOR: Argument = Argument::new("iterator", ArgumentKind::Integer);

const ONE: &str = "O(n), where n is the number of layers";
const MANY: &str = "O(m * n), where m is the number of items and n the number of layers";

const fn option(name: &'static str, kind: ArgumentKind, token: &'static str) -> Argument {
    Argument::new(name, kind).token(token).optional()
}

const INSERT: &[Argument] = &[
    KEY,
    CAPACITY.token("CAPACITY").optional(),
    option("nocreate", ArgumentKind::Token, "NOCREATE"),
    ITEMS.token("ITEMS"),
];

const fn spec(
    (name, id, arity): (&'static str, CommandId, i32),
    flags: &'static [&'static str],
    (summary, complexity): (&'static str, &'static str),
    arguments: &'static [Argument],
) -> Spec {
    let (keys, categories, group, since) = (Keys::ONE, &["cuckoo"], "cf", "1.0.0");
    Spec { name, id, arity, flags, keys, categories, group, since, summary, complexity, arguments }
}

/// The commands.
pub const SPECS: &[Spec] = &[
    spec(
        ("CF.RESERVE", CommandId::CfReserve, -3),
        WRITE,
        ("Makes an empty cuckoo filter for a first number of items.", "O(1)"),
        &[
            KEY,
            CAPACITY,
            option("bucketsize", ArgumentKind::Integer, "BUCKETSIZE"),
            option("maxiterations", ArgumentKind::Integer, "MAXITERATIONS"),
            option("expansion", ArgumentKind::Integer, "EXPANSION"),
            option("error_rate", ArgumentKind::Double, "ERROR"),
        ],
    ),
    spec(
        ("CF.ADD", CommandId::CfAdd, 3),
        WRITE_FAST,
        (
            "Adds an item to a cuckoo filter, once more if it is there, and makes the filter if there is none.",
            ONE,
        ),
        &[KEY, ITEM],
    ),
    spec(
        ("CF.ADDNX", CommandId::CfAddnx, 3),
        WRITE_FAST,
        (
            "Adds an item to a cuckoo filter if it isn't there, and makes the filter if there is none. Tells whether \
             the item was new.",
            ONE,
        ),
        &[KEY, ITEM],
    ),
    spec(
        ("CF.INSERT", CommandId::CfInsert, -4),
        WRITE,
        (
            "Adds items to a cuckoo filter, which is made as the options say if there is none. Tells which were \
             refused.",
            MANY,
        ),
        INSERT,
    ),
    spec(
        ("CF.INSERTNX", CommandId::CfInsertnx, -4),
        WRITE,
        (
            "Adds those items to a cuckoo filter that aren't there; it is made as the options say if there is none. \
             Tells which were new and which refused.",
            MANY,
        ),
        INSERT,
    ),
    spec(
        ("CF.EXISTS", CommandId::CfExists, 3),
        READ_FAST,
        ("Tells whether an item may be in a cuckoo filter. A no is certain.", ONE),
        &[KEY, ITEM],
    ),
    spec(
        ("CF.MEXISTS", CommandId::CfMexists, -3),
        READ,
        ("Tells which items may be in a cuckoo filter. A no is certain.", MANY),
        &[KEY, ITEMS],
    ),
    spec(
        ("CF.DEL", CommandId::CfDel, 3),
        REMOVE_FAST,
        ("Removes an item from a cuckoo filter, once. Only what was added may be removed.", ONE),
        &[KEY, ITEM],
    ),
    spec(
        ("CF.COUNT", CommandId::CfCount, 3),
        READ_FAST,
        ("Tells how often an item is in a cuckoo filter; others that look like it are counted, too.", ONE),
        &[KEY, ITEM],
    ),
    spec(
        ("CF.COMPACT", CommandId::CfCompact, 2),
        REMOVE,
        (
            "Moves items of a cuckoo filter into its older layers and gives the empty ones back.",
            "O(n), where n is the size of the filter",
        ),
        &[KEY],
    ),
    spec(
        ("CF.INFO", CommandId::CfInfo, -2),
        READ_FAST,
        ("Tells what a cuckoo filter is made for and what it holds.", ONE),
        &[KEY, option("full", ArgumentKind::Token, "FULL")],
    ),
    spec(
        ("CF.DEBUG", CommandId::CfDebug, 2),
        READ,
        ("Tells about a cuckoo filter in one line.", ONE),
        &[KEY],
    ),
    spec(
        ("CF.SCANDUMP", CommandId::CfScandump, 3),
        READ,
        (
            "Gives a cuckoo filter out in pieces, for CF.LOADCHUNK.",
            "O(n), where n is the length of the piece; the first of a native filter: of the filter",
        ),
        &[KEY, ITERATOR],
    ),
    spec(
        ("CF.LOADCHUNK", CommandId::CfLoadchunk, 4),
        WRITE,
        (
            "Takes a piece of a cuckoo filter that CF.SCANDUMP gave out. The filter is there when all pieces have \
             come.",
            "O(n), where n is the length of the piece; the last: of the filter",
        ),
        &[KEY, ITERATOR, Argument::new("data", ArgumentKind::Text)],
    ),
];
