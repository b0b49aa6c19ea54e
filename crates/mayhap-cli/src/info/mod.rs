//! `mayhap info`: what is in a filter file.

mod facts;
mod header;
mod histogram;
mod kinds;
mod loads;
mod parts;

use std::path::{Path, PathBuf};

use clap::Args;
use mayhap::codec::{self, FileError, Kind};
use mayhap::formats::ForeignFile;
use serde_json::Value;

use crate::failure::{self, Answer, Failure, print};
use crate::filter_file::{self, FilterFile, Unlock};
use crate::foreign::{self, ForeignOptions};
use crate::kind_word::kind_word;
use crate::numbers::group_digits;
use facts::Facts;
use histogram::Histogram;
use loads::Loads;
use parts::Parts;

/// Say what is in a filter file
///
/// The header, how full the filter is, how many keys it holds, how often it is wrong now, and how evenly its blocks are
/// filled. All of it is read and its checksums are checked, unless --quick is given. A secret key isn't needed, and is
/// never shown.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Filter files
    #[arg(value_name = "FILTER", required = true)]
    filters: Vec<PathBuf>,

    /// Look at the header alone: nothing that would need the filter to be read
    #[arg(long)]
    quick: bool,

    /// Write one JSON object for each file
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    foreign: ForeignOptions,
}

const EXAMPLES: &str = "\
Examples:
  mayhap info seen.mayhap                    all there is to say
  mayhap info --quick *.mayhap               headers only, at once
  mayhap info --json seen.mayhap | jq .rate_now
  mayhap info --format guava users.bloom     a filter that Guava wrote

Exit codes: 0 all is well, 1 a checksum is wrong, 2 error.";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let mut answer = Answer::Yes;
    let mut failed = None;
    for (number, path) in arguments.filters.iter().enumerate() {
        match describe(arguments, path) {
            Ok(description) => {
                if description.damage.is_some() {
                    answer = Answer::No;
                }
                let gap = if number > 0 && !arguments.json { "\n" } else { "" };
                print(&format!("{gap}{}", description.show(arguments.json)))?;
            }
            // The others are still worth a look; the last failure is the one that ends the command.
            Err(failure) => {
                if let Some(Failure::Message(message)) = failed.replace(failure) {
                    failure::say(&format!("mayhap: {message}"));
                }
            }
        }
    }
    failed.map_or(Ok(answer), Err)
}

/// What there is to say about a file.
struct Description {
    name: String,
    kind: Kind,
    title: String,
    facts: Facts,
    parts: Option<Parts>,
    loads: Option<Loads>,
    damage: Option<String>,
}

fn describe(arguments: &Arguments, path: &Path) -> Result<Description, Failure> {
    let name = path.display().to_string();
    let mut facts = Facts::default();
    if arguments.foreign.is_given() {
        let filter = arguments.foreign.open(&Unlock::default(), path)?;
        let kind = filter.kind();
        let title = match &filter {
            FilterFile::Foreign(file) => add_foreign(&mut facts, file),
            _ => kind.to_string(),
        };
        return Ok(Description { name, kind, title, facts, parts: None, loads: None, damage: None });
    }
    let (header, file_bytes) = filter_file::header_of(path)?;
    let (kind, title) = (header.kind, header.kind.to_string());
    header::describe(&mut facts, &header, file_bytes);
    let mut description = Description { name, kind, title, facts, parts: None, loads: None, damage: None };
    if arguments.quick {
        if let Some(counted) = header.inserted {
            description.facts.say("counted", format!("{} in all", group_digits(counted)));
        }
        description.facts.add(
            "checksums",
            "of the header right, of the rest not checked",
            "checksums",
            "not checked",
        );
        return Ok(description);
    }
    description.damage = damage(path)?;
    let facts = &mut description.facts;
    match filter_file::inspect(path) {
        Ok(FilterFile::Filter(filter)) => {
            kinds::describe(facts, &filter);
            description.parts = Parts::of(&filter);
            description.loads = Loads::of(&filter);
        }
        Ok(FilterFile::Bitmap(bitmap)) => kinds::describe_bitmap(facts, &bitmap),
        Ok(FilterFile::Foreign(file)) => description.title = add_foreign(facts, &file),
        // What is known to be damaged needn't open.
        Err(_) if description.damage.is_some() => {}
        Err(failure) => return Err(failure),
    }
    match &description.damage {
        None => facts.add("checksums", "all are right", "checksums", "good"),
        Some(damage) => {
            facts.add("checksums", format!("DAMAGED: {damage}"), "checksums", "damaged");
            facts.set("damage", damage.as_str());
        }
    }
    Ok(description)
}

/// What is wrong with the bodies, if anything is. The header has been read already.
fn damage(path: &Path) -> Result<Option<String>, Failure> {
    match codec::verify(path) {
        Ok(_) => Ok(None),
        Err(FileError::Format { source, .. }) => Ok(Some(source.to_string())),
        Err(error) => Err(Failure::from(mayhap::Error::from(error))),
    }
}

/// The facts of another system's filter, and what it is called.
fn add_foreign(facts: &mut Facts, file: &ForeignFile) -> String {
    let theirs = foreign::Facts::of(file);
    for [label, text] in theirs.rows() {
        facts.say(label, text);
    }
    for (name, value) in theirs.json() {
        facts.set(&name, value);
    }
    theirs.title.to_owned()
}

impl Description {
    fn show(self, as_json: bool) -> String {
        if !as_json {
            let parts = self.parts.as_ref().map_or(String::new(), Parts::text);
            let histogram = self.loads.as_ref().and_then(Histogram::of).map_or(String::new(), |it| it.text());
            return format!("{}: {}\n{}{parts}{histogram}", self.name, self.title, self.facts.text());
        }
        let mut values = self.facts.values();
        values.insert("file".to_owned(), self.name.into());
        values.insert("kind".to_owned(), kind_word(self.kind).into());
        if let Some(parts) = &self.parts {
            values.insert(parts.name().to_owned(), parts.json());
        }
        if let Some(loads) = &self.loads {
            values.insert("loads".to_owned(), loads.json());
        }
        format!("{}\n", Value::Object(values))
    }
}
