//! Digests put aside: to be read again when their number is known, or each once.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process;

use mayhap::Digest;

use crate::failure::Failure;
use crate::measure::mix;
use crate::numbers::format_count;
use crate::progress::Progress;

/// Digests held in memory: 64 MiB of them.
const HELD: usize = 8 << 20;
/// What one read of the file asks for, in bytes; a multiple of a digest's.
const READ_SIZE: usize = 1 << 20;
const DIGEST_BYTES: usize = size_of::<u64>();
/// Digests given at once where somebody may watch: a multiple of what filters take in a batch.
const STEP: usize = 1 << 16;

/// Takes digests in any order, up to a bound in memory.
#[derive(Debug)]
pub(crate) struct Spool {
    held: Vec<Digest>,
    most_held: usize,
    beyond: Beyond,
    file: Option<SpoolFile>,
    /// There were more than are kept.
    is_cut: bool,
}

/// What happens to digests that there is no room for in memory.
#[derive(Debug)]
pub(crate) enum Beyond {
    /// They go into a file without a name in this directory, or in that of `TMPDIR`.
    ToFile(PathBuf),
    /// None are kept: the input can be read again.
    Forget,
}

impl Beyond {
    /// They go into a file beside this one.
    pub(crate) fn beside(file: &Path) -> Self {
        let directory = file.parent().filter(|directory| !directory.as_os_str().is_empty());
        Self::ToFile(directory.unwrap_or(Path::new(".")).to_path_buf())
    }
}

impl Spool {
    pub(crate) fn new(beyond: Beyond) -> Self {
        Self { held: Vec::new(), most_held: HELD, beyond, file: None, is_cut: false }
    }

    pub(crate) fn push(&mut self, digests: &[Digest]) -> Result<(), Failure> {
        if self.is_cut {
            return Ok(());
        }
        if self.held.len() + digests.len() > self.most_held {
            let Beyond::ToFile(directory) = &self.beyond else {
                self.is_cut = true;
                self.held = Vec::new();
                return Ok(());
            };
            let file = match &mut self.file {
                Some(file) => file,
                None => self.file.insert(SpoolFile::create(directory)?),
            };
            file.write(&self.held)?;
            self.held.clear();
        }
        self.held.extend_from_slice(digests);
        Ok(())
    }

    /// Whether all digests are here.
    pub(crate) fn is_complete(&self) -> bool {
        !self.is_cut
    }

    /// The digests that are here, repeats included.
    pub(crate) fn len(&self) -> u64 {
        self.held.len() as u64 + self.file.as_ref().map_or(0, |file| file.digests)
    }

    /// Gives all digests to be put into a filter, or taken out: each once, unless copies are wanted. Shows how far it is, unless
    /// it is to be quiet. With copies they can be given again; otherwise each is there once from then on.
    pub(crate) fn give<E: From<Failure>>(
        &mut self,
        copies: bool,
        quiet: bool,
        mut take: impl FnMut(&[Digest]) -> Result<(), E>,
    ) -> Result<(), E> {
        let total = self.len();
        let progress = Progress::steps(total, !quiet);
        let mut done = 0;
        let mut take = |digests: &[Digest], repeats: u64| {
            let mut advance = |count: u64| {
                done += count;
                progress.advance(count, || format!("{} of {} keys", format_count(done), format_count(total)));
            };
            advance(repeats);
            digests.chunks(STEP).try_for_each(|digests| {
                take(digests)?;
                advance(digests.len() as u64);
                Ok(())
            })
        };
        let result =
            if copies { self.for_each(|digests| take(digests, 0)) } else { self.for_each_distinct(take) };
        progress.finish();
        result
    }

    /// Gives all digests in the order they came, in large pieces. It can do so again.
    pub(crate) fn for_each<E: From<Failure>>(
        &mut self,
        mut take: impl FnMut(&[Digest]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(file) = &mut self.file else { return take(&self.held) };
        file.write(&self.held)?;
        // What it held is in the file, and its memory is for what is read from there.
        let mut held = std::mem::take(&mut self.held);
        held.clear();
        file.read(|digest| {
            held.push(digest);
            if held.len() == self.most_held {
                take(&held)?;
                held.clear();
            }
            Ok::<(), E>(())
        })?;
        take(&held)
    }

    /// Gives each digest once, in an order that depends on nothing but the digests, and with each piece the number of
    /// repeats that were left out of it.
    fn for_each_distinct<E: From<Failure>>(
        &mut self,
        mut take: impl FnMut(&[Digest], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(file) = &mut self.file else {
            let count = self.held.len();
            sort(&mut self.held);
            return take(&self.held, (count - self.held.len()) as u64);
        };
        file.write(&self.held)?;
        let mut held = std::mem::take(&mut self.held);
        // The file is read once for every part of the digests that fits the memory, with room to spare.
        let parts = file.digests.div_ceil(self.most_held as u64 / 4 * 3);
        for part in 0..parts {
            held.clear();
            let (mut count, mut sort_at) = (0, self.most_held);
            file.read(|digest| {
                if part_of(digest, parts) == part {
                    count += 1;
                    held.push(digest);
                    if held.len() == sort_at {
                        // Repeats, that is: different digests come in parts of one size.
                        sort(&mut held);
                        sort_at = self.most_held.max(held.len() * 2);
                    }
                }
                Ok::<(), E>(())
            })?;
            sort(&mut held);
            take(&held, count - held.len() as u64)?;
        }
        Ok(())
    }
}

/// The order of the digests: none that a filter could see. Filters that grow take the first of them into their first
/// layer. In the order of the digests themselves that would have all of its keys at one end, and in that of a multiple
/// all of its bits, because filters multiply too.
fn order(digest: Digest) -> u64 {
    mix(digest.get())
}

#[allow(clippy::cast_possible_truncation)] // The upper half of a product of two 64-bit numbers.
fn part_of(digest: Digest, parts: u64) -> u64 {
    ((u128::from(order(digest)) * u128::from(parts)) >> 64) as u64
}

fn sort(digests: &mut Vec<Digest>) {
    digests.sort_unstable_by_key(|digest| order(*digest));
    digests.dedup();
}

/// A file that nobody else sees.
#[derive(Debug)]
struct SpoolFile {
    file: File,
    /// Where it was made; for messages, and to remove it where an open file keeps its name.
    path: PathBuf,
    digests: u64,
}

impl SpoolFile {
    fn create(directory: &Path) -> Result<Self, Failure> {
        let directory = env::var_os("TMPDIR").map_or_else(|| directory.to_path_buf(), PathBuf::from);
        let mut number = 0u32;
        loop {
            let path = directory.join(format!(".mayhap-{}-{number}.spool", process::id()));
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => {
                    // A program that is killed then leaves nothing behind.
                    #[cfg(unix)]
                    let _ = std::fs::remove_file(&path);
                    return Ok(Self { file, path, digests: 0 });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(failed(&path, &error)),
            }
        }
    }

    fn write(&mut self, digests: &[Digest]) -> Result<(), Failure> {
        let mut writer = BufWriter::with_capacity(READ_SIZE, &self.file);
        let written = digests.iter().try_for_each(|digest| writer.write_all(&digest.get().to_le_bytes()));
        written.and_then(|()| writer.flush()).map_err(|error| failed(&self.path, &error))?;
        drop(writer);
        self.digests += digests.len() as u64;
        Ok(())
    }

    /// Reads all of it, from the beginning.
    fn read<E: From<Failure>>(&mut self, mut take: impl FnMut(Digest) -> Result<(), E>) -> Result<(), E> {
        let mut bytes = vec![0; READ_SIZE];
        self.file.seek(SeekFrom::Start(0)).map_err(|error| failed(&self.path, &error))?;
        let mut left = self.digests;
        while left > 0 {
            let count = left.min((READ_SIZE / DIGEST_BYTES) as u64);
            let room = usize::try_from(count).unwrap_or(0) * DIGEST_BYTES;
            self.file.read_exact(&mut bytes[..room]).map_err(|error| failed(&self.path, &error))?;
            for bytes in bytes[..room].as_chunks().0 {
                take(Digest::new(u64::from_le_bytes(*bytes)))?;
            }
            left -= count;
        }
        Ok(())
    }
}

impl Drop for SpoolFile {
    fn drop(&mut self) {
        #[cfg(not(unix))]
        let _ = std::fs::remove_file(&self.path);
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    let directory = path.parent().unwrap_or(path).display();
    Failure::Message(format!(
        "cannot put digests aside in {directory}: {error}; name a directory with more room in TMPDIR"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn digests(count: u64) -> Vec<Digest> {
        // Every third comes twice, one very often.
        (0..count)
            .map(|i| if i % 5 == 0 { 7 } else { i - i % 3 })
            .map(|key| mayhap::hash::KeyHasher::default().digest(&key))
            .collect()
    }

    fn spool(most_held: usize, digests: &[Digest]) -> Spool {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
        let directory = if directory.is_dir() { directory } else { env::temp_dir() };
        let mut spool = Spool { most_held, ..Spool::new(Beyond::ToFile(directory)) };
        for part in digests.chunks(17) {
            spool.push(part).unwrap();
        }
        spool
    }

    #[test]
    fn nothing_is_lost_in_memory_or_in_a_file() {
        let digests = digests(5_000);
        for most_held in [64, 1_000, 4_999, 10_000] {
            let mut spool = spool(most_held, &digests);
            assert!(spool.is_complete());
            assert_eq!(spool.file.is_some(), most_held < 5_000);
            for time in ["once", "and again"] {
                let mut all = Vec::new();
                spool
                    .for_each(|piece| {
                        all.extend_from_slice(piece);
                        Ok::<(), Failure>(())
                    })
                    .unwrap();
                assert_eq!(all, digests, "{most_held}, {time}");
            }
        }
    }

    #[test]
    fn each_once_in_an_order_that_does_not_depend_on_the_memory() {
        let digests = digests(5_000);
        let different: BTreeSet<Digest> = digests.iter().copied().collect();
        let sorted = |most_held| {
            let (mut all, mut repeats) = (Vec::new(), 0);
            spool(most_held, &digests)
                .for_each_distinct(|piece, left_out| {
                    all.extend_from_slice(piece);
                    repeats += left_out;
                    Ok::<(), Failure>(())
                })
                .unwrap();
            assert_eq!(all.len() as u64 + repeats, digests.len() as u64);
            all
        };
        let in_memory = sorted(10_000);
        assert_eq!(in_memory.len(), different.len());
        assert_eq!(in_memory.iter().copied().collect::<BTreeSet<_>>(), different);
        for most_held in [64, 1_000, 4_999] {
            assert_eq!(sorted(most_held), in_memory, "{most_held}");
        }
    }

    #[test]
    fn what_can_be_read_again_is_forgotten() {
        let mut spool = Spool { most_held: 100, ..Spool::new(Beyond::Forget) };
        spool.push(&digests(60)).unwrap();
        assert!(spool.is_complete());
        spool.push(&digests(60)).unwrap();
        assert!(!spool.is_complete() && spool.held.is_empty());
    }
}
