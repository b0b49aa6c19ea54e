//! Asking for every key of the source.

use std::sync::atomic::{AtomicU64, Ordering};

use mayhap::Digest;
use mayhap::bits::Mapped;

use crate::failure::Failure;
use crate::filter_file::FilterFile;
use crate::keys::{Batch, KeyReader, Pending};
use crate::numbers::format_count;
use crate::progress::Progress;

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// Keys asked about, repeats included.
    pub(super) keys: u64,
    /// Those that were not found.
    pub(super) missing: u64,
    /// A few of these, as they stand in the input.
    pub(super) examples: Vec<String>,
}

/// How many of the missing keys are shown.
const EXAMPLES: usize = 5;

/// Asks for all keys, on all cores.
pub(super) fn ask(
    filter: &FilterFile<Mapped>,
    reader: KeyReader<'_>,
    threads: usize,
    progress: &Progress,
) -> Result<Source, Failure> {
    let all_missing = AtomicU64::new(0);
    let parts = reader.share(threads, |next| {
        let mut asked = Asked { filter, pending: Pending::new(), digests: Vec::new(), found: Vec::new() };
        let (mut batch, mut part) = (Batch::default(), Source::default());
        while next(&mut batch)? {
            let before = part.missing;
            asked.pass(&batch, &mut part)?;
            let new = part.missing - before;
            let missing = all_missing.fetch_add(new, Ordering::Relaxed) + new;
            progress.advance(batch.read_bytes(), || format!("{} missing", format_count(missing)));
        }
        Ok(part)
    })?;
    let mut all = Source::default();
    for part in parts {
        all.keys += part.keys;
        all.missing += part.missing;
        all.examples.extend(part.examples);
    }
    all.examples.truncate(EXAMPLES);
    Ok(all)
}

/// What a thread has at hand.
struct Asked<'a> {
    filter: &'a FilterFile<Mapped>,
    pending: Pending,
    digests: Vec<Digest>,
    found: Vec<bool>,
}

impl Asked<'_> {
    fn pass(&mut self, batch: &Batch, part: &mut Source) -> Result<(), Failure> {
        let text = batch.text();
        batch.in_groups(|keys, places| {
            self.filter.hash_each(keys, &mut self.digests)?;
            if self.pending.push_all(places) {
                self.answer(text, part);
            }
            Ok(())
        })?;
        self.answer(text, part);
        Ok(())
    }

    fn answer(&mut self, text: &[u8], part: &mut Source) {
        part.keys += self.digests.len() as u64;
        self.found.clear();
        self.found.resize(self.digests.len(), false);
        self.filter.contains_hashes(&self.digests, &mut self.found);
        for (place, _) in self.pending.places().iter().zip(&self.found).filter(|(_, found)| !**found) {
            part.missing += 1;
            if part.examples.len() < EXAMPLES {
                let record = String::from_utf8_lossy(&text[place.start..place.end.min(place.start + 240)]);
                part.examples.push(record.trim_end_matches(['\n', '\r', '\0']).chars().take(60).collect());
            }
        }
        self.digests.clear();
        self.pending.clear();
    }
}
