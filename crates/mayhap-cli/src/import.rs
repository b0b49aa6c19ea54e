//! `mayhap import`: the filter of another system, in a mayhap file.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use mayhap::codec::{Header, save_bytes};
use mayhap::formats::ForeignFilter;

use crate::columns::pairs;
use crate::failure::{Answer, Failure, print, print_of, say};
use crate::flags::Quiet;
use crate::foreign::{Details, Facts, FormatName, Item, KeyType, Selection, native_file, read};
use crate::kind_word::kind_word;
use crate::numbers::format_size;
use crate::output::Output;

/// Take another system's filter into a mayhap file
///
/// The bits stay as they are, and so does the way keys are hashed: what is asked here is answered as the other system
/// would. What the file adds is what the other system's bytes lack: what they are, what their keys are, and checksums.
/// So `check`, `info`, `verify` and `add` need no --format for it, and `export` gives the same bytes back.
///
/// Whole files of the other systems may hold several filters: --list shows them, and how to say which. A filter of
/// mayhap's own kinds can't be made of another system's, because bits can't be hashed again; build one from the keys.
/// From one form of the other system to another, without a mayhap file between: `mayhap convert`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The other system's file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The system, and the form of the file
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: FormatName,

    /// Mayhap file to write; it appears when it is complete, and not before
    #[arg(short = 'o', long, value_name = "FILE", required_unless_present = "list")]
    output: Option<PathBuf>,

    /// Replace the file if there is one
    #[arg(long)]
    force: bool,

    /// Show the filters that the file holds, and write nothing
    #[arg(short, long, conflicts_with_all = ["output", "quiet"])]
    list: bool,

    /// Print what was found as JSON, one object per filter
    #[arg(long, conflicts_with = "quiet")]
    json: bool,

    #[command(flatten)]
    quiet: Quiet,

    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    key_type: KeyType,

    #[command(flatten)]
    details: Details,
}

const EXAMPLES: &str = r#"Examples:
  mayhap import --format guava users.bin -o users.mayhap
  mayhap import --format guava ids.bin --key-type i64 -o ids.mayhap   put with Funnels.longFunnel()
  mayhap import --format redis dump.rdb --list                        which filters are in it?
  mayhap import --format redis dump.rdb --key urls -o urls.mayhap
  mayhap import --format parquet events.parquet --column url -o url.mayhap
  mayhap import --format parquet sales.parquet --column price --key-type hex -o price.mayhap   asked by the stored bytes
  mayhap import --format leveldb 000005.ldb --block 0 -o block.mayhap

From a running Redis, one filter as a payload (up to 512 MiB):
  redis-cli --raw DUMP urls | mayhap import --format redis - -o urls.mayhap

or in chunks, of any size, with a few lines of Python (CF.SCANDUMP for a cuckoo filter):
  import base64, redis
  connection, iterator = redis.Redis(), 0
  while True:
      iterator, data = connection.execute_command("BF.SCANDUMP", "urls", iterator)
      if iterator == 0: break
      print(iterator, base64.b64encode(data).decode())

Dumps of `mayhap serve` are taken in the same ways. Those of its own layout become the mayhap file that they are.

Exit codes: 0 done, 2 error."#;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let Arguments { file, format, selection, details, .. } = arguments;
    let Some(output) = &arguments.output else {
        return details.with_items(*format, file, selection, |items| list(arguments, items));
    };
    let output = Output { output: output.clone(), force: arguments.force };
    let _claim = output.claim(arguments.quiet.quiet)?;
    let imported = if *format == FormatName::Redis {
        let bytes = read(file)?;
        if let Some(native) = native_file(file, &bytes)? {
            return save_native(arguments, &output, &native);
        }
        let imported = details.open_bytes(*format, file, &bytes, selection)?;
        if !arguments.quiet.quiet && !is_same(&bytes, &imported.filter)? {
            say(
                "mayhap: the filter is kept as today's RedisBloom writes it; the bytes of this payload were others, for \
                 the same keys",
            );
        }
        imported
    } else {
        details.open(*format, file, selection)?
    };
    let facts = Facts::of_loaded(&imported, &arguments.key_type);
    let imported = arguments.key_type.apply(imported)?;
    imported.save(&output.output, output.existing())?;
    if arguments.quiet.quiet {
        return Ok(Answer::Yes);
    }
    if arguments.json {
        let mut json = facts.json();
        json.insert("output".to_owned(), output.output.to_string_lossy().into());
        return print_of(Some(&output.output), &format!("{}\n", serde_json::Value::from(json)))
            .map(|()| Answer::Yes);
    }
    let written = [["written".to_owned(), output.output.display().to_string()]];
    print_of(Some(&output.output), &pairs(&[&written[..], &facts.rows()].concat())).map(|()| Answer::Yes)
}

/// Whether a payload would come out as it came in. Older versions of RedisBloom wrote others.
fn is_same(bytes: &[u8], imported: &ForeignFilter) -> Result<bool, Failure> {
    // Only a payload begins with this byte; whole files and chunks have other bytes in any case.
    if bytes.first() != Some(&7) {
        return Ok(true);
    }
    let ours = imported.to_bytes().map_err(mayhap::Error::from)?;
    Ok(ours == bytes || bytes.strip_suffix(b"\n") == Some(&ours))
}

/// Writes the mayhap file that a mayhap server sent.
fn save_native(arguments: &Arguments, output: &Output, file: &[u8]) -> Result<Answer, Failure> {
    save_bytes(&output.output, output.existing(), |out| out.write_all(file)).map_err(mayhap::Error::from)?;
    let header = Header::parse(file).map_err(mayhap::Error::from)?;
    if arguments.quiet.quiet {
        return Ok(Answer::Yes);
    }
    let needs_key = header.hash.key_id.is_some();
    if arguments.json {
        let json = serde_json::json!({
            "output": output.output.to_string_lossy(),
            "format": "mayhap",
            "kind": kind_word(header.kind),
            "file_bytes": file.len(),
            "needs_key": needs_key,
        });
        return print_of(Some(&output.output), &format!("{json}\n")).map(|()| Answer::Yes);
    }
    let mut rows = vec![
        ["written".to_owned(), output.output.display().to_string()],
        ["kind".to_owned(), format!("{}, of mayhap serve", header.kind)],
        ["size".to_owned(), format_size(file.len() as u64)],
    ];
    if needs_key {
        rows.push(["to be asked with".to_owned(), "--key-file and the secret key of that server".to_owned()]);
    }
    print_of(Some(&output.output), &pairs(&rows)).map(|()| Answer::Yes)
}

fn list(arguments: &Arguments, items: &[Item<'_>]) -> Result<Answer, Failure> {
    let mut text = String::new();
    for item in items.iter().filter(|item| item.is_selected()) {
        let facts = Facts::of_loaded(&item.load()?, &arguments.key_type);
        if arguments.json {
            let mut json = facts.json();
            json.insert("select".to_owned(), item.selector.as_str().into());
            text += &format!("{}\n", serde_json::Value::from(json));
        } else {
            let selector = if item.selector.is_empty() { "the only one" } else { &item.selector };
            text += &format!("{selector}: {}\n", facts.title);
            for line in pairs(&facts.rows()).lines() {
                text += &format!("  {line}\n");
            }
        }
    }
    if text.is_empty() {
        return Err(Failure::Message(format!(
            "{} has no such filter; --list alone shows those it has",
            arguments.file.display()
        )));
    }
    print(&text).map(|()| Answer::Yes)
}
