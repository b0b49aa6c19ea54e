//! Filters that are asked together.

use mayhap::Digest;
use mayhap::bits::Mapped;

use crate::failure::Failure;
use crate::filter_file::FilterFile;
use crate::keys::Pending;

/// Several filters, and what becomes of their answers.
#[derive(Debug)]
pub(super) struct Questions<'a> {
    each: Vec<Question<'a>>,
    /// A record matches when all have it, not just any.
    all: bool,
    /// Those that don't match are wanted.
    invert: bool,
    is_wanted: Vec<bool>,
    asked: u64,
}

/// One filter, and the keys it is to be asked about.
#[derive(Debug)]
pub(super) struct Question<'a> {
    name: &'a str,
    filter: &'a FilterFile<Mapped>,
    /// Each filter has its own: they may differ in their hash functions.
    digests: Vec<Digest>,
    found: Vec<bool>,
    matching: u64,
}

impl<'a> Questions<'a> {
    /// To these filters, with their names.
    pub(super) fn new(filters: &'a [(String, FilterFile<Mapped>)], all: bool, invert: bool) -> Self {
        let question = |(name, filter): &'a (String, _)| Question {
            name,
            filter,
            digests: Vec::with_capacity(Pending::MOST),
            found: Vec::new(),
            matching: 0,
        };
        Self { each: filters.iter().map(question).collect(), all, invert, is_wanted: Vec::new(), asked: 0 }
    }

    /// Some more keys.
    pub(super) fn push(&mut self, keys: &[&[u8]]) -> Result<(), Failure> {
        self.each.iter_mut().try_for_each(|question| question.filter.hash_each(keys, &mut question.digests))
    }

    /// Asks all filters about the keys there are, which are so many.
    pub(super) fn ask(&mut self, keys: usize) {
        self.asked += keys as u64;
        self.is_wanted.clear();
        self.is_wanted.resize(keys, self.all);
        for question in &mut self.each {
            question.ask();
            for (wanted, found) in self.is_wanted.iter_mut().zip(&question.found) {
                *wanted = if self.all { *wanted & *found } else { *wanted | *found };
            }
        }
        if self.invert {
            self.is_wanted.iter_mut().for_each(|wanted| *wanted = !*wanted);
        }
    }

    /// Of the keys asked last, which are wanted.
    pub(super) fn is_wanted(&self) -> &[bool] {
        &self.is_wanted
    }

    /// The filters, each with its answers of last time.
    pub(super) fn each(&self) -> &[Question<'a>] {
        &self.each
    }

    /// Adds what another thread has asked to what this one has.
    pub(super) fn add_counts(&mut self, other: &Self) {
        self.asked += other.asked;
        for (ours, theirs) in self.each.iter_mut().zip(&other.each) {
            ours.matching += theirs.matching;
        }
    }

    /// The names of the filters that have the key with this number, of those asked last.
    pub(super) fn names(&self, number: usize) -> impl Iterator<Item = &str> {
        let has = move |question: &&Question<'a>| question.found.get(number) == Some(&true);
        self.each.iter().filter(has).map(|question| question.name)
    }

    /// Keys asked about so far.
    pub(super) fn asked(&self) -> u64 {
        self.asked
    }
}

impl Question<'_> {
    fn ask(&mut self) {
        self.found.clear();
        self.found.resize(self.digests.len(), false);
        self.filter.contains_hashes(&self.digests, &mut self.found);
        self.digests.clear();
        self.matching += self.found.iter().map(|found| u64::from(*found)).sum::<u64>();
    }

    pub(super) fn name(&self) -> &str {
        self.name
    }

    /// How many keys it has of those asked about so far.
    pub(super) fn matching(&self) -> u64 {
        self.matching
    }
}
