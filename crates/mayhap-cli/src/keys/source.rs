//! Where keys come from: files in the order given, `-` or nothing for standard input.
//!
//! What is packed with gzip or zstd is unpacked. It is known by its first bytes, not by its name.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Chain, Cursor, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use super::lines::READ_SIZE;
use super::own_output::is_own_output;
use crate::failure::Failure;

/// Inputs that were all there when the command started.
#[derive(Debug)]
pub(crate) struct Inputs {
    sources: Vec<Source>,
    total_bytes: Option<u64>,
}

/// One input.
#[derive(Debug)]
pub(crate) enum Source {
    Stdin,
    File(PathBuf),
}

impl Inputs {
    /// Looks at every path before anything is read or printed, so that a wrong name doesn't surface hours later.
    ///
    /// Regular files are opened once to see that they can be. Pipes and devices are not: opening and closing one would
    /// take data away or stop its writer.
    pub(crate) fn check(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut sources = Vec::new();
        let mut total_bytes = Some(0u64);
        for path in paths {
            if path == Path::new("-") {
                sources.push(Source::Stdin);
                total_bytes = None;
                continue;
            }
            let metadata = fs::metadata(path).map_err(|error| cannot_read(path, &error))?;
            if metadata.is_dir() {
                return Err(Failure::Message(format!(
                    "{} is a directory; name the files in it instead",
                    path.display()
                )));
            }
            if metadata.is_file() {
                let mut file = File::open(path).map_err(|error| cannot_read(path, &error))?;
                let mut start = [0; MAYHAP.len()];
                if file.read_exact(&mut start).is_ok() {
                    refuse_filter(&start, &path.display().to_string())?;
                    Source::File(path.clone()).refuse_half_parquet(&start)?;
                    if packing(&start).is_some() {
                        // Looks at the first bytes of what is in it.
                        Source::File(path.clone()).open()?;
                    }
                }
            }
            // Some of the kernel's own files say that they are empty, and aren't.
            let is_known = metadata.is_file() && metadata.len() > 0;
            total_bytes =
                total_bytes.filter(|_| is_known).and_then(|total| total.checked_add(metadata.len()));
            sources.push(Source::File(path.clone()));
        }
        if sources.is_empty() {
            sources.push(Source::Stdin);
            total_bytes = None;
        }
        Ok(Self { sources, total_bytes })
    }

    /// Refuses standard input if a filter is read from it as well: whoever comes second would find it empty.
    pub(crate) fn refuse_shared_stdin(&self, filters: &[&Path]) -> Result<(), Failure> {
        let by_filters = filters.iter().filter(|path| path.as_os_str() == "-").count();
        let by_keys = self.sources.iter().filter(|source| matches!(source, Source::Stdin)).count();
        if by_filters > 0 && by_filters + by_keys > 1 {
            return Err(Failure::Message(
                "standard input can be one filter or the keys, not both; name a file for the others"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Refuses to read what is printed to. For commands that print records while they read: the input would grow with
    /// each, and never end.
    pub(crate) fn refuse_own_output(&self) -> Result<(), Failure> {
        let is_output = |source: &&Source| match source {
            Source::Stdin => is_own_output(None),
            Source::File(path) => fs::metadata(path).is_ok_and(|metadata| is_own_output(Some(&metadata))),
        };
        match self.sources.iter().find(is_output) {
            Some(source) => Err(Failure::Message(format!(
                "{} is also the output, and what is printed would be read again; print to another file, and rename \
                 it when it is complete",
                source.name()
            ))),
            None => Ok(()),
        }
    }

    /// How much there is to read, if all of it is in regular files. They may still grow.
    pub(crate) fn total_bytes(&self) -> Option<u64> {
        self.total_bytes
    }

    /// More lines than this can't come, if all of it is in regular files that stay as they are, and nothing is packed.
    ///
    /// Those of up to 1 GiB are counted by the byte that ends them, which takes a tenth of the time of what is done with
    /// them then. Of larger files, and when no one byte ends them, it is how many could be in so many bytes.
    pub(crate) fn most_lines(&self, line_end: Option<u8>) -> Option<u64> {
        let counted = line_end.filter(|_| self.total_bytes.is_some_and(|bytes| bytes <= COUNTED_BYTES));
        self.total_bytes?;
        self.sources.iter().try_fold(0u64, |lines, source| {
            let Source::File(path) = source else { return None };
            lines.checked_add(most_lines(path, counted)?)
        })
    }

    pub(crate) fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// What to call them all in a message.
    pub(crate) fn names(&self) -> String {
        match self.sources.as_slice() {
            [one, other] => format!("{} and {}", one.name(), other.name()),
            [first, _, _, ..] => format!("{} and {} other files", first.name(), self.sources.len() - 1),
            sources => sources.first().map_or_else(String::new, Source::name),
        }
    }
}

impl Source {
    /// What to call it in a message.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "standard input".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Its path, if it is a Parquet file: a regular one that begins and ends as they do. A line could begin so.
    pub(super) fn parquet(&self) -> Option<&Path> {
        let Self::File(path) = self else { return None };
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let mut file =
            (metadata.len() > 2 * PARQUET.len() as u64).then(|| File::open(path).ok()).flatten()?;
        let (mut start, mut end) = ([0; PARQUET.len()], [0; PARQUET.len()]);
        file.read_exact(&mut start).ok()?;
        file.seek(SeekFrom::End(-4)).ok()?;
        file.read_exact(&mut end).ok()?;
        (start == PARQUET && end == PARQUET).then_some(path)
    }

    /// Whether it is read as it comes, and can't be looked at before.
    pub(super) fn is_stream(&self) -> bool {
        match self {
            Self::Stdin => true,
            Self::File(path) => fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()),
        }
    }

    /// Refuses what begins as a Parquet file and can't be read as one: as lines it would be garbage.
    fn refuse_half_parquet(&self, start: &[u8]) -> Result<(), Failure> {
        if !start.starts_with(&PARQUET_PAGE) || self.parquet().is_some() {
            return Ok(());
        }
        let name = self.name();
        Err(Failure::Message(if self.is_stream() {
            format!(
                "a Parquet file comes through {name}, and can't be read so, because it is read from its end; name the file"
            )
        } else {
            format!(
                "{name} begins as a Parquet file and doesn't end as one: it was cut off, or is still being written"
            )
        }))
    }

    /// Opens it, and unpacks what is packed.
    pub(crate) fn open(&self) -> Result<Opened, Failure> {
        let mut raw: Box<dyn Read + Send> = match self {
            // Reads as large as ours bypass the standard library's buffer.
            Self::Stdin => Box::new(io::stdin()),
            Self::File(path) => Box::new(File::open(path).map_err(|error| cannot_read(path, &error))?),
        };
        let mut start = [0; MAYHAP.len()];
        let got = read_up_to(&mut raw, &mut start).map_err(|error| self.cannot_read(&error))?;
        let start = &start[..got];
        // Files were looked at before; what comes through a pipe is seen here first.
        refuse_filter(start, &self.name())?;
        self.refuse_half_parquet(start)?;
        let rest = Counted { source: Cursor::new(start.to_vec()).chain(raw), bytes: Arc::default() };
        let bytes = Arc::clone(&rest.bytes);
        let reader: Box<dyn Read + Send> = match packing(start) {
            None => Box::new(rest),
            Some(Packing::Gzip) => {
                let decoder = MultiGzDecoder::new(BufReader::with_capacity(PACKED_READ, rest));
                Box::new(self.refuse_packed(decoder, Packing::Gzip)?)
            }
            Some(Packing::Zstd) => {
                let decoder = zstd::Decoder::new(rest).map_err(|error| self.cannot_read(&error))?;
                Box::new(self.refuse_packed(decoder, Packing::Zstd)?)
            }
        };
        Ok(Opened { reader, bytes })
    }

    /// Refuses what was packed and is no list of keys; else gives it back whole.
    fn refuse_packed<R: Read>(
        &self,
        mut unpacked: R,
        packing: Packing,
    ) -> Result<Chain<Cursor<Vec<u8>>, R>, Failure> {
        let mut start = [0; MAYHAP.len()];
        let got = read_up_to(&mut unpacked, &mut start).map_err(|error| self.cannot_read(&error))?;
        let start = &start[..got];
        refuse_filter(start, &self.name())?;
        if start.starts_with(&PARQUET_PAGE) {
            let (packer, unpack) = match packing {
                Packing::Gzip => ("gzip", "gunzip"),
                Packing::Zstd => ("zstd", "unzstd"),
            };
            return Err(Failure::Message(format!(
                "{} is a Parquet file packed with {packer}, and can't be read so, because it is read from its end; unpack \
                 it with {unpack} and name the file that comes of it",
                self.name()
            )));
        }
        Ok(Cursor::new(start.to_vec()).chain(unpacked))
    }

    /// A failure to read it.
    pub(crate) fn cannot_read(&self, error: &io::Error) -> Failure {
        match self {
            Self::Stdin => Failure::Message(format!("cannot read standard input: {error}")),
            Self::File(path) => cannot_read(path, error),
        }
    }
}

/// Files are read twice, once to count their lines, up to this size.
const COUNTED_BYTES: u64 = 1 << 30;

/// Where a buffer begins that the system copies to by whole pages. Large allocations begin 16 bytes into a page, and copies
/// from the beginning of a page to less than 32 bytes further are four times slower on some CPUs (AMD's Zen 3).
const LINE: usize = 64;

/// The lines of a file, counted by what ends them or at most; nothing if they are packed or it can't be read.
fn most_lines(path: &Path, counted: Option<u8>) -> Option<u64> {
    let mut file = File::open(path).ok()?;
    let mut buffer = vec![0; READ_SIZE + LINE];
    let start = buffer.as_ptr().align_offset(LINE).min(LINE);
    let bytes = &mut buffer[start..start + READ_SIZE];
    let mut got = file.read(bytes).ok()?;
    if packing(&bytes[..got]).is_some() || bytes[..got].starts_with(&PARQUET) {
        return None;
    }
    let Some(line_end) = counted else {
        // A line and its end take two bytes, but for one empty line and one at the end.
        return Some(file.metadata().ok()?.len() / 2 + 2);
    };
    let mut lines = 1;
    while got > 0 {
        lines += memchr::memchr_iter(line_end, &bytes[..got]).count() as u64;
        got = file.read(bytes).ok()?;
    }
    Some(lines)
}

/// Refuses what begins as a mayhap file: as lines it would be garbage.
fn refuse_filter(start: &[u8], name: &str) -> Result<(), Failure> {
    if start != MAYHAP {
        return Ok(());
    }
    Err(Failure::Message(format!(
        "{name} is a mayhap file and not a list of keys, and which keys it holds can't be told from it; name the file \
         they are in, or use `mayhap merge` to unite filters"
    )))
}

/// How a mayhap file begins (`docs/formats.md`). No text does: the first byte is none of UTF-8.
const MAYHAP: [u8; 8] = *b"\x8bmayhap\n";

/// The first bytes of what gzip writes.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

/// The first bytes of what zstd writes.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The first bytes of a Parquet file, and its last.
const PARQUET: [u8; 4] = *b"PAR1";

/// The first bytes of one, and of the first header in it. No text has the last of them, a control character.
const PARQUET_PAGE: [u8; 5] = *b"PAR1\x15";

/// What an input is packed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Gzip,
    Zstd,
}

fn packing(start: &[u8]) -> Option<Packing> {
    if start.starts_with(&GZIP) {
        Some(Packing::Gzip)
    } else if start.starts_with(&ZSTD) {
        Some(Packing::Zstd)
    } else {
        None
    }
}

/// What is read at once of a packed file.
const PACKED_READ: usize = 1 << 16;

/// An input that is being read.
pub(crate) struct Opened {
    pub(crate) reader: Box<dyn Read + Send>,
    /// Bytes of the file that have been read, packed as they are: what a progress bar goes by.
    bytes: Arc<AtomicU64>,
}

impl Opened {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

/// Counts what passes.
struct Counted<R> {
    source: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let got = self.source.read(room)?;
        self.bytes.fetch_add(got as u64, Ordering::Relaxed);
        Ok(got)
    }
}

/// Reads until the room is full or the input ends. A pipe that gave its first line waits for no more than it must.
fn read_up_to(source: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < room.len() {
        match source.read(&mut room[got..]) {
            Ok(0) => break,
            Ok(more) => {
                got += more;
                // Only what begins like something packed, a filter or a Parquet file is worth waiting for.
                let begins_as = |magic: &[u8]| magic.starts_with(&room[..got.min(magic.len())]);
                if ![&GZIP[..], &ZSTD, &MAYHAP, &PARQUET_PAGE].into_iter().any(begins_as) {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

/// A failure to read the file at a path.
pub(crate) fn cannot_read(path: &Path, error: &io::Error) -> Failure {
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => {
            return Failure::Message(format!(
                "{} is a directory; name the files in it instead",
                path.display()
            ));
        }
        _ => error.to_string(),
    };
    Failure::Message(format!("cannot read {}: {reason}", path.display()))
}
