//! Which filter is to be built, and how it hashes.

use clap::ValueEnum;
use mayhap::bits::Pages;
use mayhap::d_left::DLeftBuilder;
use mayhap::hash::{KeyHasher, NamedHash};
use mayhap::sizing::{ClassicPlan, SizingError};
use mayhap::{
    AnyFilter, BloomFilter, ClassicBloom, CountingBloom, CountingBuilder, CuckooFilter, DLeftCounting,
    DualBloom, DualBuilder, Growth, ScalableBloom, ScalableBuilder, ScalableCuckoo, ScalableCuckooBuilder,
    WindowBloom,
};

use super::Arguments;
use super::bits::is_sorted_for;
use super::copies::Table;
use super::settings::Settings;
use crate::failure::Failure;

/// The rate unless another is given.
const DEFAULT_RATE: f64 = 0.01;

/// A kind of filter, as it is called on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindName {
    /// The default, and the fastest
    Bloom,
    /// The textbook's Bloom filter
    Classic,
    /// A Bloom filter that grows
    Scalable,
    /// Counts keys and removes them
    Counting,
    /// Two Bloom filters, one for the few keys that are removed
    Dual,
    /// Counts and removes, in a third of the memory
    DLeft,
    /// Removes keys
    Cuckoo,
    /// Removes keys and grows
    ScalableCuckoo,
    /// Remembers the last keys only
    Window,
    /// Whole numbers, and never wrong
    Bitmap,
}

/// How keys get into filters of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// From all threads at once, in any order, as often as they come.
    Shared,
    /// One by one, each once.
    Once,
    /// One by one, in the order of the input.
    InOrder,
    /// As numbers.
    Numbers,
}

/// What to make.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) kind: KindName,
    pub(super) rate: f64,
    pub(super) hasher: KeyHasher,
    settings: Settings,
}

impl KindName {
    /// As it is typed.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    pub(super) fn way(self) -> Way {
        match self {
            Self::Bloom | Self::Classic => Way::Shared,
            Self::Window => Way::InOrder,
            Self::Bitmap => Way::Numbers,
            _ => Way::Once,
        }
    }

    /// Whether it tells one copy of a key from two.
    fn holds_copies(self) -> bool {
        matches!(self, Self::Counting | Self::DLeft) || self.gives_room_to_copies()
    }

    /// Whether another copy takes as much room as another key.
    pub(super) fn gives_room_to_copies(self) -> bool {
        matches!(self, Self::Cuckoo | Self::ScalableCuckoo)
    }

    /// Whether it takes hardly more keys than it was planned for, at any rate.
    pub(super) fn fills_up(self) -> bool {
        matches!(self, Self::Cuckoo | Self::DLeft)
    }
}

impl Recipe {
    /// What the arguments ask for. What doesn't go together is said before anything is read.
    pub(super) fn new(arguments: &Arguments) -> Result<Self, Failure> {
        let kind = arguments.kind;
        let refuse = |sentence: String| Err(Failure::Message(sentence));
        arguments.settings.check(kind)?;
        if arguments.range.is_some() && kind != KindName::Bitmap {
            return refuse("--range is for --kind bitmap, which holds whole numbers".to_owned());
        }
        if arguments.copies && !kind.holds_copies() {
            return refuse(format!(
                "a {} filter doesn't tell copies of a key apart; --copies is for counting, d-left, cuckoo and \
                 scalable-cuckoo",
                kind.name()
            ));
        }
        if kind == KindName::Window && arguments.keys.is_none() {
            return refuse("how many keys back is the window to remember? say so with -n".to_owned());
        }
        if kind == KindName::Bitmap
            && (arguments.rate.is_some()
                || arguments.hash.is_some()
                || arguments.seed.is_some()
                || arguments.unlock.key_file.is_some())
        {
            return refuse(
                "a bitmap is never wrong and hashes nothing: it takes no -p, --hash, --seed and --key-file"
                    .to_owned(),
            );
        }
        let recipe = Self {
            kind,
            rate: arguments.rate.unwrap_or(DEFAULT_RATE),
            hasher: hasher(arguments)?,
            settings: arguments.settings,
        };
        if kind != KindName::Bitmap {
            let is_known = arguments.keys.is_some();
            recipe.check(arguments.keys.unwrap_or(1)).map_err(|error| recipe.explain(error, is_known))?;
        }
        Ok(recipe)
    }

    /// Whether it makes room for more keys than it was made for.
    pub(super) fn grows(&self) -> bool {
        self.kind == KindName::ScalableCuckoo || self.when_full() == Some(Growth::Grow)
    }

    /// What it does when it is full, of a kind that has the choice.
    pub(super) fn when_full(&self) -> Option<Growth> {
        (self.kind == KindName::Scalable).then(|| self.settings.growth())
    }

    /// Whether such a filter can be. Nothing is allocated.
    fn check(&self, keys: u64) -> Result<(), mayhap::Error> {
        let Self { rate, .. } = *self;
        match self.kind {
            KindName::Bloom => BloomFilter::builder().keys(keys).rate(rate).plan().map(drop)?,
            KindName::Classic => ClassicPlan::for_rate(keys, rate).map(drop)?,
            KindName::Scalable => self.scalable(keys).plan().map(drop)?,
            KindName::Counting => self.counting(keys).plan().map(drop)?,
            KindName::Dual => self.dual(keys).plan().map(drop)?,
            KindName::DLeft => self.d_left(keys).plan().map(drop)?,
            KindName::Cuckoo => CuckooFilter::builder().keys(keys).rate(rate).plan().map(drop)?,
            KindName::ScalableCuckoo => self.scalable_cuckoo(keys).plan().map(drop)?,
            KindName::Window => WindowBloom::builder().keys(keys).rate(rate).plan().map(drop)?,
            KindName::Bitmap => {}
        }
        Ok(())
    }

    /// Why such a filter can't be, in terms of the command line. How low a rate can be depends on the number of keys: while
    /// that is not known, none is named that would then be refused.
    fn explain(&self, error: mayhap::Error, is_number_known: bool) -> Failure {
        use SizingError::{RateOutOfReach, RateTooLow};
        let mayhap::Error::Sizing(error) = error else { return error.into() };
        let (asked, of, instead) = match (error, self.kind) {
            (RateTooLow { asked, .. }, _) => (asked, "with 64-bit digests", ""),
            (RateOutOfReach { asked, of, .. }, KindName::ScalableCuckoo) => {
                (asked, of, "use --kind scalable, or --kind cuckoo, which doesn't grow")
            }
            (RateOutOfReach { asked, of, .. }, _) => (asked, of, "use --kind bloom"),
            (error, _) => return Failure::Message(error.to_string()),
        };
        if !is_number_known {
            let or = if instead.is_empty() { "" } else { ", or " };
            return Failure::Message(format!(
                "a rate of {asked:e} is too low for even 1 key {of}; give -n to be told the lowest for so many{or}{instead}"
            ));
        }
        Failure::Message(match error {
            RateOutOfReach { lowest, keys, .. } => {
                RateOutOfReach { asked, lowest, keys, of, instead }.to_string()
            }
            error => error.to_string(),
        })
    }

    /// The empty filter for so many keys. Of the bitmap, which isn't one, there is none.
    pub(super) fn make(&self, keys: u64) -> Result<AnyFilter, Failure> {
        self.empty(keys).map_err(|error| self.explain(error, true))
    }

    /// The same, in a table of a layout that was chosen.
    pub(super) fn make_table(&self, table: Table) -> Result<AnyFilter, Failure> {
        let Table { keys, layout } = table;
        let Some(layout) = layout else { return self.make(keys) };
        let builder = CuckooFilter::builder().keys(keys).rate(self.rate).layout(layout);
        let filter = builder.hasher(self.hasher.clone()).build();
        filter.map(AnyFilter::from).map_err(|error| self.explain(error, true))
    }

    fn empty(&self, keys: u64) -> Result<AnyFilter, mayhap::Error> {
        let (rate, hasher) = (self.rate, self.hasher.clone());
        Ok(match self.kind {
            KindName::Bloom | KindName::Bitmap => {
                let builder = BloomFilter::builder().keys(keys).rate(rate).hasher(hasher);
                let pages =
                    if is_sorted_for(builder.plan()?.blocks()) { Pages::Ordinary } else { Pages::Huge };
                builder.pages(pages).build()?.into()
            }
            KindName::Classic => ClassicBloom::with_plan(ClassicPlan::for_rate(keys, rate)?, hasher)?.into(),
            KindName::Scalable => self.scalable(keys).hasher(hasher).build()?.into(),
            KindName::Counting => self.counting(keys).hasher(hasher).build()?.into(),
            KindName::Dual => self.dual(keys).hasher(hasher).build()?.into(),
            KindName::DLeft => self.d_left(keys).hasher(hasher).build()?.into(),
            KindName::Cuckoo => CuckooFilter::builder().keys(keys).rate(rate).hasher(hasher).build()?.into(),
            KindName::ScalableCuckoo => self.scalable_cuckoo(keys).hasher(hasher).build()?.into(),
            KindName::Window => WindowBloom::builder().keys(keys).rate(rate).hasher(hasher).build()?.into(),
        })
    }

    fn scalable(&self, keys: u64) -> ScalableBuilder {
        let builder = ScalableBloom::builder().keys(keys).rate(self.rate).growth(self.settings.growth());
        match self.settings.expansion() {
            Some(factor) => builder.expansion(factor),
            None => builder,
        }
    }

    fn counting(&self, keys: u64) -> CountingBuilder {
        CountingBloom::builder().keys(keys).rate(self.rate).width(self.settings.width())
    }

    fn dual(&self, keys: u64) -> DualBuilder {
        let mut builder = DualBloom::builder().keys(keys).rate(self.rate);
        if let Some(removals) = self.settings.removals() {
            builder = builder.removals(removals);
        }
        if let Some(rate) = self.settings.hidden_rate() {
            builder = builder.hidden_rate(rate);
        }
        builder
    }

    fn d_left(&self, keys: u64) -> DLeftBuilder {
        let builder = DLeftCounting::builder().keys(keys).rate(self.rate);
        match self.settings.counter_bits() {
            Some(bits) => builder.counter_bits(bits),
            None => builder,
        }
    }

    fn scalable_cuckoo(&self, keys: u64) -> ScalableCuckooBuilder {
        let builder = ScalableCuckoo::builder().keys(keys).rate(self.rate);
        match self.settings.expansion() {
            Some(factor) => builder.expansion(u64::from(factor)),
            None => builder,
        }
    }
}

/// A hash function, as it is called on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HashName {
    Xxh3,
    Sip13,
    Sip24,
    Named(NamedHash),
}

/// Reads the name of a hash function.
pub(super) fn parse_hash(text: &str) -> Result<HashName, String> {
    match text {
        "xxh3" => Ok(HashName::Xxh3),
        "sip13" => Ok(HashName::Sip13),
        "sip24" => Ok(HashName::Sip24),
        _ => NamedHash::from_name(text).map(HashName::Named).ok_or_else(|| {
            let names: Vec<&str> = NamedHash::ALL.iter().map(|function| function.name()).collect();
            format!("there are: xxh3, sip13, sip24, {}", names.join(", "))
        }),
    }
}

/// Reads a seed: decimal, or hexadecimal after `0x`.
pub(super) fn parse_seed(text: &str) -> Result<u64, String> {
    let seed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    seed.map_err(|_| "give a number from 0 to 2^64 - 1, such as 42 or 0x5eed".to_owned())
}

fn hasher(arguments: &Arguments) -> Result<KeyHasher, Failure> {
    let refuse = |sentence: &str| Err(Failure::Message(sentence.to_owned()));
    let seed = arguments.seed.unwrap_or(0);
    let Some(key) = arguments.unlock.secret_key()? else {
        return match arguments.hash {
            None | Some(HashName::Xxh3) => Ok(KeyHasher::xxh3(seed)),
            Some(HashName::Named(function)) => Ok(KeyHasher::named(function, seed)),
            Some(HashName::Sip13 | HashName::Sip24) => refuse(
                "sip13 and sip24 take a secret key: `openssl rand -hex 16 > key` makes one, and --key-file key \
                 gives it",
            ),
        };
    };
    if arguments.seed.is_some() {
        return refuse("a secret key takes the place of a seed; give one of the two");
    }
    match arguments.hash {
        None | Some(HashName::Sip13) => Ok(KeyHasher::sip13(key)),
        Some(HashName::Sip24) => Ok(KeyHasher::sip24(key)),
        Some(_) => refuse("only sip13 and sip24 take a secret key; leave --hash out, or --key-file"),
    }
}

#[cfg(test)]
mod tests {
    use mayhap::codec::Kind;

    use super::*;
    use crate::kind_word::kind_word;

    /// Files have the numbers from 1 on, in the order in which the flag names the kinds.
    #[test]
    fn a_kind_is_called_the_same_in_json() {
        let kinds = KindName::value_variants();
        assert_eq!(kinds.len(), 10);
        for (number, kind) in (1..).zip(kinds) {
            assert_eq!(kind_word(Kind::new(number)), kind.name());
        }
    }
}
