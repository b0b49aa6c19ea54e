//! What `COMMAND` and `COMMAND INFO` say about a command.

use mayhap_commands::spec::Keys;
use mayhap_commands::{Reply, Spec};

use super::command::Known;

/// Every access control category that a command can have.
const CATEGORIES: &[&str] = &[
    "@keyspace",
    "@read",
    "@write",
    "@bitmap",
    "@bloom",
    "@cuckoo",
    "@admin",
    "@fast",
    "@slow",
    "@dangerous",
    "@connection",
    "@transaction",
];

/// Name, arity, flags, keys, categories, hints, where its keys are, subcommands.
pub(super) fn info(known: Known) -> Reply {
    let Known { spec, subcommands } = known;
    let Keys { first, last, step } = spec.keys;
    let place = |place: i32| Reply::Integer(place.into());
    Reply::Array(vec![
        name(spec),
        place(spec.arity),
        Reply::Set(spec.flags.iter().map(|flag| Reply::Simple(flag)).collect()),
        place(first),
        place(last),
        place(step),
        Reply::Set(categories(spec).map(Reply::Simple).collect()),
        Reply::Set(vec![]),
        Reply::Set(key_specs(spec)),
        Reply::Array(subcommands.iter().map(|sub| info(sub.into())).collect()),
    ])
}

/// The name in small letters, as Redis tells names.
pub(super) fn name(spec: &Spec) -> Reply {
    Reply::text(&spec.name.to_ascii_lowercase())
}

/// The categories a command has of itself, and those that follow from its flags.
pub(super) fn categories(spec: &'static Spec) -> impl Iterator<Item = &'static str> {
    let has = |flag: &str| spec.flags.contains(&flag);
    let is_fast = has("fast");
    CATEGORIES.iter().copied().filter(move |category| match category.trim_start_matches('@') {
        "read" => has("readonly"),
        "write" => has("write"),
        "fast" => is_fast,
        "slow" => !is_fast,
        "admin" => has("admin"),
        "dangerous" => has("admin") || spec.categories.contains(&"dangerous"),
        name => spec.categories.contains(&name),
    })
}

/// Where the keys are, in the words of Redis 7: where to begin, and how to go on.
fn key_specs(spec: &Spec) -> Vec<Reply> {
    let Keys { first, last, step } = spec.keys;
    if spec.keys == Keys::NONE {
        return vec![];
    }
    let field = |name: &str, value| (Reply::text(name), value);
    let number = |number: i32| Reply::Integer(number.into());
    let flags: &[&'static str] =
        if spec.flags.contains(&"write") { &["RW", "access", "update"] } else { &["RO", "access"] };
    // Counted from the first key, unless it is counted from the end.
    let last = if last < 0 { last } else { last - first };
    vec![Reply::Map(vec![
        field("flags", Reply::Set(flags.iter().copied().map(Reply::Simple).collect())),
        field(
            "begin_search",
            Reply::Map(vec![
                field("type", Reply::text("index")),
                field("spec", Reply::Map(vec![field("index", number(first))])),
            ]),
        ),
        field(
            "find_keys",
            Reply::Map(vec![
                field("type", Reply::text("range")),
                field(
                    "spec",
                    Reply::Map(vec![
                        field("lastkey", number(last)),
                        field("keystep", number(step)),
                        field("limit", number(0)),
                    ]),
                ),
            ]),
        ),
    ])]
}

#[cfg(test)]
mod tests {
    use super::super::table;
    use super::*;

    #[test]
    fn every_category_is_a_known_one() {
        for (place, spec) in table().specs().enumerate() {
            let subs = table().subcommands(place).iter().map(|sub| &sub.spec);
            for spec in std::iter::once(spec).chain(subs) {
                for category in spec.categories {
                    assert!(CATEGORIES.contains(&&*format!("@{category}")), "{} {category}", spec.name);
                }
            }
        }
    }
}
