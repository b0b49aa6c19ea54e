//! `mayhap convert`: the same bits in another form.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mayhap::Bitmap;

use crate::columns::pairs;
use crate::failure::{Answer, Failure, print_of, say};
use crate::filter_file::{FilterFile, Unlock};
use crate::flags::SummaryFlags;
use crate::foreign::{
    Details, FormatName, Selection, Shape, claim, how_to_load, is_standard_output, save, title,
    with_rdb_version,
};
use crate::numbers::{format_size, parse_count};
use crate::output::Output;

/// Write a filter in another form of the same system
///
/// Between the forms in which one system keeps the same bits: a Redis filter out of an .rdb file as a DUMP payload or as
/// chunks, a filter of a LevelDB table or a Parquet file by itself, a bitmap with a bit for every number (dense) or a list
/// (sparse), an old mayhap file as this version writes it.
///
/// Not between systems, nor between kinds of filters. Each hashes keys in its own way, and bits can't be hashed again: a
/// Guava filter can't become a Redis filter, a Bloom filter not a cuckoo filter. That takes the keys: `mayhap build`
/// makes mayhap's kinds of them, the library (`mayhap::formats`) those of other systems.
///
/// Into a mayhap file: `mayhap import`. Out of one: `mayhap export`. Smaller: `mayhap fold`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The file: a mayhap file, or with --from another system's; `-` is standard input, for those
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    output: Output,

    /// The form to write
    #[arg(long, value_name = "FORM", value_enum)]
    to: Target,

    /// The system whose file it is, and its form; a mayhap file if not given
    #[arg(id = "format", long = "from", value_name = "FORMAT", value_enum)]
    from: Option<FormatName>,

    /// Room of a dense bitmap: for the numbers below this [default: as it was, or up to the largest]
    #[arg(long, value_name = "COUNT", value_parser = parse_count)]
    universe: Option<u64>,

    /// The version of RDB that a DUMP payload says it follows: 10 for Redis 7.0 and later, 12 for 7.4 and later [default:
    /// as it came; 10 from chunks]
    #[arg(long, value_name = "NUMBER")]
    rdb_version: Option<u16>,

    #[command(flatten)]
    unlock: Unlock,

    #[command(flatten)]
    summary: SummaryFlags,

    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    details: Details,
}

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    /// A mayhap file as this version writes it
    Mayhap,
    /// A bitmap with a bit for each number that could be in it
    Dense,
    /// A bitmap that lists the numbers in it
    Sparse,
    /// One filter of LevelDB's
    Leveldb,
    /// What Guava's BloomFilter.readFrom reads
    Guava,
    /// What Spark's BloomFilter.readFrom reads
    Spark,
    /// One filter of Parquet's, with its header
    Parquet,
    /// What Redis's RESTORE takes
    RedisDump,
    /// What RedisBloom's LOADCHUNK takes: a line for each chunk, iterator and Base64
    RedisChunks,
    /// The bits of a crawler's filter
    Crawler,
}

const EXAMPLES: &str = "\
Examples:
  mayhap convert --from redis dump.rdb --key urls --to redis-dump -o urls.dump
  mayhap convert --from redis urls.dump --to redis-chunks -o urls.chunks
  mayhap convert --from redis urls.dump --to redis-dump --rdb-version 10 -o old.dump
  mayhap convert --from leveldb 000005.ldb --block 0 --to leveldb -o block.filter
  mayhap convert numbers.mayhap --to sparse -o small.mayhap
  mayhap convert old.mayhap --to mayhap -o new.mayhap

Exit codes: 0 done, 2 error.";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    if arguments.universe.is_some() && arguments.to != Target::Dense {
        return Err(Failure::Message("--universe is for --to dense; leave it out".to_owned()));
    }
    match arguments.from {
        Some(from) => convert_foreign(arguments, from),
        None => convert_ours(arguments),
    }
}

fn convert_foreign(arguments: &Arguments, from: FormatName) -> Result<Answer, Failure> {
    let Arguments { file, output, to, selection, details, .. } = arguments;
    if to.is_ours() {
        return Err(Failure::Message(
            "another system's filter comes into a mayhap file by `mayhap import`, and keeps its own bits there"
                .to_owned(),
        ));
    }
    arguments.unlock.refuse_for_foreign()?;
    let _claim = claim(output, arguments.summary.quiet())?;
    let filter = details.open(from, file, selection)?.filter;
    let format = filter.format();
    if !to.is_of(format.name()) {
        return Err(Failure::Message(format!(
            "{} can't become --to {}: the two systems hash keys in different ways, and bits can't be hashed again; \
             build the other filter from the keys",
            title(format),
            to.name()
        )));
    }
    let filter = with_rdb_version(filter, arguments.rdb_version)?;
    let shape = if *to == Target::RedisChunks { Shape::Chunks } else { Shape::Whole };
    let bytes = save(&filter, shape, output)?;
    report(arguments, bytes, how_to_load(&filter, shape, &output.output, bytes))
}

fn convert_ours(arguments: &Arguments) -> Result<Answer, Failure> {
    let Arguments { file, output, to, .. } = arguments;
    let shown = file.display();
    if !to.is_ours() {
        return Err(Failure::Message(format!(
            "--to {} is a form of another system: say with --from which form {shown} has now; if it is a mayhap file \
             that was imported, `mayhap export` gives the other system's form back",
            to.name()
        )));
    }
    if !arguments.selection.is_empty() || arguments.rdb_version.is_some() {
        return Err(Failure::Message(
            "a mayhap file holds one filter; --key, --column, --block and --rdb-version go with --from"
                .to_owned(),
        ));
    }
    let _claim = output.claim(arguments.summary.quiet())?;
    let converted = match (arguments.unlock.open(file)?, to) {
        (FilterFile::Bitmap(bitmap), Target::Sparse) => FilterFile::Bitmap(bitmap.to_sparse()),
        (FilterFile::Bitmap(bitmap), Target::Dense) => {
            let universe = arguments.universe.map_or_else(|| universe_of(&bitmap), Ok)?;
            FilterFile::Bitmap(bitmap.to_dense(universe)?)
        }
        (other, Target::Dense | Target::Sparse) => {
            return Err(Failure::Message(format!(
                "{shown} is a {}, and only bitmaps are dense or sparse; --to mayhap writes it again as it is",
                other.kind()
            )));
        }
        (file, _) => file,
    };
    converted.save(&output.output, output.existing())?;
    let bytes = output.output.metadata().map_or(converted.len_bytes(), |written| written.len());
    report(arguments, bytes, None)
}

/// Room for all that is in a bitmap.
fn universe_of(bitmap: &Bitmap) -> Result<u64, Failure> {
    if let Some(universe) = bitmap.universe() {
        return Ok(universe);
    }
    // The largest number is the last that has all others before it.
    let (mut low, mut high) = (0, u64::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        if bitmap.range_len(middle..) == 0 { high = middle } else { low = middle + 1 }
    }
    match low {
        0 => Err(Failure::Message(
            "the bitmap is empty and has no largest number; say with --universe how large it is to be"
                .to_owned(),
        )),
        u64::MAX => Err(Failure::Message(
            "a bit for each number up to the largest would take 2^61 bytes; leave the bitmap sparse"
                .to_owned(),
        )),
        universe => Ok(universe),
    }
}

fn report(arguments: &Arguments, bytes: u64, load: Option<String>) -> Result<Answer, Failure> {
    let output = &arguments.output.output;
    if arguments.summary.quiet() {
        return Ok(Answer::Yes);
    }
    let text = if arguments.summary.json {
        let json = serde_json::json!({
            "output": output.to_string_lossy(),
            "format": if arguments.to.is_ours() { "mayhap".to_owned() } else { arguments.to.name() },
            "form": matches!(arguments.to, Target::Dense | Target::Sparse).then(|| arguments.to.name()),
            "file_bytes": bytes,
            "load": load,
        });
        format!("{json}\n")
    } else {
        let mut rows = vec![
            ["written".to_owned(), output.display().to_string()],
            ["form".to_owned(), arguments.to.name()],
            ["size".to_owned(), format_size(bytes)],
        ];
        rows.extend(load.map(|load| ["load it with".to_owned(), load]));
        pairs(&rows)
    };
    if is_standard_output(output) {
        say(text.trim_end());
        return Ok(Answer::Yes);
    }
    print_of(Some(output), &text).map(|()| Answer::Yes)
}

impl Target {
    /// Whether it is a form of mayhap's own.
    fn is_ours(self) -> bool {
        matches!(self, Self::Mayhap | Self::Dense | Self::Sparse)
    }

    /// Whether filters of the format can have this form.
    fn is_of(self, format: &str) -> bool {
        self.name() == format || (self == Self::RedisChunks && format == "redis-dump")
    }

    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}
