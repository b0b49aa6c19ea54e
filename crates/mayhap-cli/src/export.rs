//! `mayhap export`: the other system's bytes out of a mayhap file.

use std::path::PathBuf;

use clap::Args;
use mayhap::codec::Kind;
use mayhap::formats::ForeignFile;

use crate::columns::pairs;
use crate::failure::{Answer, Failure, print_of, say};
use crate::filter_file::kind_of;
use crate::flags::SummaryFlags;
use crate::foreign::{
    FormatName, Shape, claim, how_to_load, is_standard_output, save, title, with_rdb_version,
};
use crate::numbers::format_size;
use crate::output::Output;

/// Give another system its filter back, out of a mayhap file
///
/// Writes what the other system reads: byte for byte what was imported, and with the keys that were added since. The
/// form is the system's own; RedisBloom's filters can also be written as SCANDUMP chunks.
///
/// Only what was taken in by `mayhap import` can be given out. mayhap's own kinds of filters hash keys in a way that no
/// other system knows, and bits can't be hashed again: build a filter for that system from the keys, or let its programs
/// ask `mayhap serve`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The mayhap file
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    #[command(flatten)]
    output: Output,

    /// Refuse if the filter is of another system than this
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<FormatName>,

    /// Write RedisBloom's SCANDUMP chunks, one on a line, instead of a DUMP payload
    #[arg(long)]
    chunks: bool,

    /// The version of RDB that a DUMP payload says it follows: 10 for Redis 7.0 and later, 12 for 7.4 and later [default:
    /// as it came]
    #[arg(long, value_name = "NUMBER", conflicts_with = "chunks")]
    rdb_version: Option<u16>,

    #[command(flatten)]
    summary: SummaryFlags,
}

const EXAMPLES: &str = r#"Examples:
  mayhap export users.mayhap -o users.bin             for Guava's BloomFilter.readFrom
  mayhap export urls.mayhap -o - | redis-cli -x RESTORE urls 0
  mayhap export urls.mayhap --chunks -o urls.chunks   for filters above 512 MiB

Each line of chunks is an iterator and Base64:
    while read -r iterator data; do
      printf %s "$data" | base64 -d | redis-cli -x BF.LOADCHUNK urls "$iterator"
    done < urls.chunks

Exit codes: 0 done, 2 error."#;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let _claim = claim(&arguments.output, arguments.summary.quiet())?;
    let shown = arguments.filter.display();
    // Before it is opened, which may take a secret key that is of no use here.
    let kind = kind_of(&arguments.filter)?;
    if kind != Kind::FOREIGN {
        return Err(Failure::Message(format!(
            "{shown} is a {kind} of mayhap's own: no other system hashes keys as it does, and bits can't be hashed \
             again; build a filter for that system from the keys, or let its programs ask `mayhap serve`"
        )));
    }
    let file = ForeignFile::open(&arguments.filter)?;
    let format = file.filter.format();
    if let Some(wanted) = arguments.format.filter(|wanted| !wanted.is_of(format)) {
        return Err(Failure::Message(format!(
            "{shown} holds {}, which can't be written as --format {}: the two hash keys in different ways, and bits \
             can't be hashed again; build a filter for that system from the keys",
            title(format),
            wanted.name()
        )));
    }
    let filter = with_rdb_version(file.filter, arguments.rdb_version)?;
    let shape = if arguments.chunks { Shape::Chunks } else { Shape::Whole };
    let bytes = save(&filter, shape, &arguments.output)?;
    if arguments.summary.quiet() {
        return Ok(Answer::Yes);
    }
    let load = how_to_load(&filter, shape, &arguments.output.output, bytes);
    let text = if arguments.summary.json {
        let json = serde_json::json!({
            "output": arguments.output.output.to_string_lossy(),
            "format": shape.name_of(format),
            "file_bytes": bytes,
            "load": load,
        });
        format!("{json}\n")
    } else {
        let mut rows = vec![
            ["written".to_owned(), arguments.output.output.display().to_string()],
            ["format".to_owned(), format.name().to_owned()],
            ["size".to_owned(), format_size(bytes)],
        ];
        rows.extend(load.map(|load| ["load it with".to_owned(), load]));
        pairs(&rows)
    };
    if is_standard_output(&arguments.output.output) {
        // The filter is there.
        say(text.trim_end());
        return Ok(Answer::Yes);
    }
    print_of(Some(&arguments.output.output), &text).map(|()| Answer::Yes)
}
