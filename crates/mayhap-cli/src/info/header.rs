//! What the header of a file says.

use mayhap::codec::{HashRecord, Header};
use mayhap::hash::{HashId, NamedHash};
use serde_json::json;

use super::facts::Facts;
use crate::numbers::{counted, format_rate, format_size};

/// Everything in it but the kind, which is the title.
pub(super) fn describe(facts: &mut Facts, header: &Header, file_bytes: u64) {
    facts.set("kind_number", header.kind.get());
    // The recipe is a number that only the file format gives a meaning; what it stands for follows in words.
    facts.add("file", format!("version {}", header.version), "file_version", header.version.to_string());
    facts.set("recipe", header.recipe);
    facts.add("file size", format_size(file_bytes), "file_bytes", file_bytes);
    facts.set("sections", header.sections.len());
    describe_hash(facts, &header.hash);
    if header.planned_keys > 0 {
        let plan = format!(
            "{} at a rate of {}",
            counted(header.planned_keys, "key"),
            format_rate(header.planned_rate)
        );
        facts.add("made for", plan, "planned_keys", header.planned_keys);
        facts.set("planned_rate", header.planned_rate);
    }
    facts.set("counted", header.inserted);
}

/// The function, and its seed or the id of its key. The key itself is in no file.
fn describe_hash(facts: &mut Facts, hash: &HashRecord) {
    let name = match hash.id {
        id if id == HashRecord::NONE.id => None,
        HashId::XXH3 => Some("xxh3".to_owned()),
        HashId::SIP13 => Some("sip13".to_owned()),
        HashId::SIP24 => Some("sip24".to_owned()),
        id => Some(match NamedHash::from_id(id) {
            Some(function) => function.name().to_owned(),
            None => format!("function {}, not one of mayhap's", id.get()),
        }),
    };
    let key_id = hash.key_id.map(|id| format!("{id:#018x}"));
    match (&name, &key_id) {
        (None, _) => {}
        (Some(name), Some(key_id)) => {
            facts.say("hash", format!("{name}, with the secret key of id {key_id}"));
        }
        (Some(name), None) => facts.say("hash", format!("{name}, seed {}", hash.seed)),
    }
    facts.set(
        "hash",
        json!({ "function": name, "function_id": hash.id.get(), "seed": hash.seed, "key_id": key_id }),
    );
}
