//! What the commands are.

use crate::spec::{Argument, ArgumentKind, CommandId, Keys, Spec};

const WRITE: &[&str] = &["write", "denyoom"];
const WRITE_FAST: &[&str] = &["write", "denyoom", "fast"];
const READ: &[&str] = &["readonly"];
const READ_FAST: &[&str] = &["readonly", "fast"];

const KEY: Argument = Argument::new("key", ArgumentKind::Key);
const ITEM: Argument = Argument::new("item", ArgumentKind::Text);
const ITEMS: Argument = ITEM.multiple();
const ERROR_RATE: Argument = Argument::new("error_rate", ArgumentKind::Double);
const CAPACITY: Argument = Argument::new("capacity", ArgumentKind::Integer);
const EXPANSION: Argument = Argument::new("expansion", ArgumentKind::Integer).token("EXPANSION").optional();
const NONSCALING: Argument = word("nonscaling", "NONSCALING").optional();
const ITERATOR: Argument = Argument::new("iterator", ArgumentKind::Integer);

const fn word(name: &'static str, token: &'static str) -> Argument {
    Argument::new(name, ArgumentKind::Token).token(token)
}

const fn spec(
    (name, id, arity): (&'static str, CommandId, i32),
    flags: &'static [&'static str],
    since: &'static str,
    (summary, complexity): (&'static str, &'static str),
    arguments: &'static [Argument],
) -> Spec {
    let (keys, categories, group) = (Keys::ONE, &["bloom"], "bf");
    Spec { name, id, arity, flags, keys, categories, group, since, summary, complexity, arguments }
}

/// The commands.
pub const SPECS: &[Spec] = &[
    spec(
        ("BF.RESERVE", CommandId::BfReserve, -4),
        WRITE_FAST,
        "1.0.0",
        ("Makes an empty Bloom filter for an error rate and a first number of items.", "O(1)"),
        &[KEY, ERROR_RATE, CAPACITY, EXPANSION, NONSCALING],
    ),
    spec(
        ("BF.ADD", CommandId::BfAdd, 3),
        WRITE_FAST,
        "1.0.0",
        (
            "Adds an item to a Bloom filter, and makes the filter if there is none. Tells whether the item was new.",
            "O(n), where n is the number of layers",
        ),
        &[KEY, ITEM],
    ),
    spec(
        ("BF.MADD", CommandId::BfMadd, -3),
        WRITE,
        "1.0.0",
        (
            "Adds items to a Bloom filter, and makes the filter if there is none. Tells which items were new.",
            "O(m * n), where m is the number of items and n the number of layers",
        ),
        &[KEY, ITEMS],
    ),
    spec(
        ("BF.INSERT", CommandId::BfInsert, -4),
        WRITE,
        "1.0.0",
        (
            "Adds items to a Bloom filter, which is made as the options say if there is none. Tells which were new.",
            "O(m * n), where m is the number of items and n the number of layers",
        ),
        &[
            KEY,
            CAPACITY.token("CAPACITY").optional(),
            ERROR_RATE.token("ERROR").optional(),
            EXPANSION,
            word("nocreate", "NOCREATE").optional(),
            NONSCALING,
            Argument::new("scale_to", ArgumentKind::Integer).token("VALIDATESCALETO").optional(),
            Argument::new("tightening", ArgumentKind::Double).token("TIGHTENING").optional(),
            Argument::new("seed", ArgumentKind::Text).token("SEED").optional(),
            ITEMS.token("ITEMS"),
        ],
    ),
    spec(
        ("BF.EXISTS", CommandId::BfExists, 3),
        READ_FAST,
        "1.0.0",
        (
            "Tells whether an item may have been added to a Bloom filter. A no is certain.",
            "O(n), where n is the number of layers",
        ),
        &[KEY, ITEM],
    ),
    spec(
        ("BF.MEXISTS", CommandId::BfMexists, -3),
        READ,
        "1.0.0",
        (
            "Tells which items may have been added to a Bloom filter. A no is certain.",
            "O(m * n), where m is the number of items and n the number of layers",
        ),
        &[KEY, ITEMS],
    ),
    spec(
        ("BF.CARD", CommandId::BfCard, 2),
        READ_FAST,
        "2.4.4",
        ("Tells how many items were new when they were added to a Bloom filter.", "O(1)"),
        &[KEY],
    ),
    spec(
        ("BF.INFO", CommandId::BfInfo, -2),
        READ_FAST,
        "1.0.0",
        ("Tells what a Bloom filter is made for and what it holds.", "O(n), where n is the number of layers"),
        &[
            KEY,
            Argument::new(
                "single_value",
                ArgumentKind::OneOf(&[
                    word("capacity", "CAPACITY"),
                    word("size", "SIZE"),
                    word("filters", "FILTERS"),
                    word("items", "ITEMS"),
                    word("expansion", "EXPANSION"),
                    word("error", "ERROR"),
                    word("tightening", "TIGHTENING"),
                    word("full", "FULL"),
                ]),
            )
            .optional(),
        ],
    ),
    spec(
        ("BF.DEBUG", CommandId::BfDebug, 2),
        READ,
        "1.0.0",
        (
            "Tells the bytes, hashes and items of each layer of a Bloom filter.",
            "O(n), where n is the number of layers",
        ),
        &[KEY],
    ),
    spec(
        ("BF.SCANDUMP", CommandId::BfScandump, 3),
        READ,
        "1.0.0",
        (
            "Gives a Bloom filter out in pieces, for BF.LOADCHUNK.",
            "O(n), where n is the length of the piece; the first of a native filter: of the filter",
        ),
        &[KEY, ITERATOR],
    ),
    spec(
        ("BF.LOADCHUNK", CommandId::BfLoadchunk, 4),
        WRITE,
        "1.0.0",
        (
            "Takes a piece of a Bloom filter that BF.SCANDUMP gave out. The filter is there when all pieces have come.",
            "O(n), where n is the length of the piece; the last: of the filter",
        ),
        &[KEY, ITERATOR, Argument::new("data", ArgumentKind::Text)],
    ),
];
