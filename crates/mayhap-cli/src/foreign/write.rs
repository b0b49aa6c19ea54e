//! Filters of other systems on their way out.

use std::io::{self, Write};
use std::path::Path;

use mayhap::codec::save_bytes;
use mayhap::formats::redisbloom::RdbVersion;
use mayhap::formats::{ForeignFilter, Format};

use super::redis::write_chunks;
use crate::failure::Failure;
use crate::output::{Claim, Output};

/// A string of Redis's, and with it what `RESTORE` takes, has at most so many bytes.
const REDIS_STRING: u64 = 512 << 20;

/// In which form a filter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The system's own, in one piece.
    Whole,
    /// The chunks of RedisBloom's `SCANDUMP`, one on a line.
    Chunks,
}

impl Shape {
    /// What `convert --to` calls a filter of this format in this form.
    pub(crate) fn name_of(self, format: Format) -> &'static str {
        match self {
            Self::Whole => format.name(),
            Self::Chunks => "redis-chunks",
        }
    }
}

/// Writes the filter to a file, or to standard output if that is called `-`. Returns the number of bytes.
pub(crate) fn save(filter: &ForeignFilter, shape: Shape, output: &Output) -> Result<u64, Failure> {
    if shape == Shape::Chunks
        && !matches!(filter, ForeignFilter::RedisBloom(..) | ForeignFilter::RedisCuckoo(..))
    {
        return Err(Failure::Message(format!(
            "only RedisBloom's filters come in chunks, and this is {}",
            super::title(filter.format())
        )));
    }
    let whole = match shape {
        Shape::Whole => filter.to_bytes().map_err(mayhap::Error::from)?,
        Shape::Chunks => Vec::new(),
    };
    let mut bytes = 0;
    let write = |out: &mut dyn Write| {
        let mut out = Counted { out, bytes: &mut bytes };
        match shape {
            Shape::Whole => out.write_all(&whole),
            Shape::Chunks => write_chunks(filter, &mut out),
        }
    };
    if is_standard_output(&output.output) {
        let mut stdout = io::stdout().lock();
        let mut write = write;
        write(&mut stdout).and_then(|()| stdout.flush()).map_err(|error| Failure::from_output(&error))?;
    } else {
        save_bytes(&output.output, output.existing(), |file| {
            let mut write = write;
            write(file)
        })
        .map_err(mayhap::Error::from)?;
    }
    Ok(bytes)
}

/// Whether results go to standard output.
pub(crate) fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Claims the output before the work, unless it is standard output.
pub(crate) fn claim(output: &Output, quiet: bool) -> Result<Claim, Failure> {
    if is_standard_output(&output.output) { Ok(Claim::default()) } else { output.claim(quiet) }
}

/// The filter, as a server takes it that knows this version of RDB.
pub(crate) fn with_rdb_version(
    filter: ForeignFilter,
    version: Option<u16>,
) -> Result<ForeignFilter, Failure> {
    let Some(version) = version.map(RdbVersion::new) else { return Ok(filter) };
    match filter {
        ForeignFilter::RedisBloom(filter, _) => Ok(ForeignFilter::RedisBloom(filter, version)),
        ForeignFilter::RedisCuckoo(filter, _) => Ok(ForeignFilter::RedisCuckoo(filter, version)),
        other => Err(Failure::Message(format!(
            "--rdb-version is for filters of RedisBloom's, and this is {}; leave it out",
            super::title(other.format())
        ))),
    }
}

/// The command that gives the filter to its system, where there is one.
pub(crate) fn how_to_load(filter: &ForeignFilter, shape: Shape, path: &Path, bytes: u64) -> Option<String> {
    let command = match filter {
        ForeignFilter::RedisBloom(..) => "BF.LOADCHUNK",
        ForeignFilter::RedisCuckoo(..) => "CF.LOADCHUNK",
        _ => return None,
    };
    let (pipe, from) =
        if is_standard_output(path) { ("| ", String::new()) } else { ("", format!(" < {}", path.display())) };
    Some(match shape {
        Shape::Whole if bytes > REDIS_STRING => {
            "RESTORE takes no more than 512 MiB; export it with --chunks for this one".to_owned()
        }
        Shape::Whole => format!("{pipe}redis-cli -x RESTORE NAME 0{from}"),
        Shape::Chunks => format!(
            "{pipe}while read -r iterator data; do printf %s \"$data\" | base64 -d | redis-cli -x {command} NAME \
             \"$iterator\"; done{from}"
        ),
    })
}

/// Counts what passes.
struct Counted<'a> {
    out: &'a mut dyn Write,
    bytes: &'a mut u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        *self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
