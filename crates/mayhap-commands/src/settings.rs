//! What an operator chooses about filters: defaults, limits, layouts.

use std::sync::atomic::{AtomicU64, Ordering};

use mayhap::hash::KeyHasher;

/// The settings of filters. They can be changed while commands run; a filter that exists keeps what it was made with.
#[derive(Debug)]
pub struct Settings {
    values: [AtomicU64; SETTINGS.len()],
    /// What turns items into digests in native filters: keyed, so that nobody who sends items can aim at false
    /// positives.
    pub hasher: KeyHasher,
}

/// Which bits a new filter has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// mayhap's own: faster, smaller at its rate, keyed.
    Native,
    /// RedisBloom's, bit for bit.
    RedisBloom,
}

/// A setting by its name.
#[derive(Debug)]
pub struct Setting {
    /// As `CONFIG SET` and files call it.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    kind: Kind,
    default: u64,
}

#[derive(Debug)]
enum Kind {
    /// A whole number between these.
    Integer(u64, u64),
    /// A fraction strictly between 0 and 1, kept as its bits.
    Rate,
    Layout,
    /// The most bytes, with a unit. None is written 0, as everywhere in Redis, and kept as the largest number.
    Limit,
}

macro_rules! settings {
    ($($(#[doc = $about:literal])* $method:ident -> $type:ty = $name:literal, $kind:expr, $default:expr;)*) => {
        /// Every setting of filters.
        pub const SETTINGS: &[Setting] =
            &[$(Setting { name: $name, about: concat!($($about),*).trim_ascii_start(), kind: $kind, default: $default }),*];

        #[allow(non_camel_case_types, clippy::enum_variant_names, reason = "numbered like the methods are called")]
        enum Place { $($method),* }

        impl Settings {
            $(
                $(#[doc = $about])*
                #[must_use]
                pub fn $method(&self) -> $type {
                    FromBits::from_bits(self.values[Place::$method as usize].load(Ordering::Relaxed))
                }
            )*
        }
    };
}

settings! {
    /// The rate of Bloom filters that are made without one.
    bf_error_rate -> f64 = "bf-error-rate", Kind::Rate, 0.01_f64.to_bits();
    /// The capacity of Bloom filters that are made without one.
    bf_initial_size -> u64 = "bf-initial-size", Kind::Integer(1, 1 << 30), 100;
    /// How many times larger each layer of a Bloom filter is than the one before; 0: it doesn't grow.
    bf_expansion_factor -> u64 = "bf-expansion-factor", Kind::Integer(0, 32_768), 2;
    /// The layout of new Bloom filters: native, or redisbloom.
    bf_layout -> Layout = "bf-layout", Kind::Layout, 0;
    /// The slots of a bucket of cuckoo filters that are made without a number.
    cf_bucket_size -> u64 = "cf-bucket-size", Kind::Integer(1, 255), 2;
    /// The capacity of cuckoo filters that are made without one.
    cf_initial_size -> u64 = "cf-initial-size", Kind::Integer(2, 1 << 30), 1024;
    /// How often an item is moved before a cuckoo filter counts as full.
    cf_max_iterations -> u64 = "cf-max-iterations", Kind::Integer(1, 65_535), 20;
    /// How many times larger each layer of a cuckoo filter is than the one before; 0: it doesn't grow.
    cf_expansion_factor -> u64 = "cf-expansion-factor", Kind::Integer(0, 32_768), 1;
    /// How often a cuckoo filter may grow.
    cf_max_expansions -> u64 = "cf-max-expansions", Kind::Integer(1, 65_536), 32;
    /// The layout of new cuckoo filters: native, or redisbloom.
    cf_layout -> Layout = "cf-layout", Kind::Layout, 0;
    /// The rate of native cuckoo filters that are made without one.
    cf_error_rate -> f64 = "cf-error-rate", Kind::Rate, 0.01_f64.to_bits();
    /// The most bytes one filter may take; 0: no limit.
    filter_max_bytes -> u64 = "filter-max-bytes", Kind::Limit, 1 << 36;
}

trait FromBits {
    fn from_bits(bits: u64) -> Self;
}

impl FromBits for u64 {
    fn from_bits(bits: u64) -> Self {
        bits
    }
}

impl FromBits for f64 {
    fn from_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }
}

impl FromBits for Layout {
    fn from_bits(bits: u64) -> Self {
        if bits == 0 { Self::Native } else { Self::RedisBloom }
    }
}

impl Settings {
    /// The defaults, with this hasher for native filters.
    #[must_use]
    pub fn new(hasher: KeyHasher) -> Self {
        Self { values: std::array::from_fn(|place| AtomicU64::new(SETTINGS[place].default)), hasher }
    }

    /// Changes a setting. False if there is none of this name.
    ///
    /// # Errors
    /// When the value is not one that the setting can have; says what it can be.
    pub fn set(&self, name: &str, value: &str) -> Result<bool, String> {
        let Some(place) = SETTINGS.iter().position(|setting| setting.name == name) else { return Ok(false) };
        let bits = SETTINGS[place].parse(value)?;
        self.values[place].store(bits, Ordering::Relaxed);
        Ok(true)
    }

    /// A setting as text; nothing if there is none of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<String> {
        let place = SETTINGS.iter().position(|setting| setting.name == name)?;
        Some(SETTINGS[place].text(self.values[place].load(Ordering::Relaxed)))
    }
}

impl Setting {
    fn parse(&self, value: &str) -> Result<u64, String> {
        let number = || value.parse::<u64>().ok();
        match self.kind {
            Kind::Integer(least, most) => number()
                .filter(|number| (least..=most).contains(number))
                .ok_or_else(|| format!("{} must be between {least} and {most}", self.name)),
            Kind::Rate => value
                .parse::<f64>()
                .ok()
                .filter(|rate| *rate > 0.0 && *rate < 1.0)
                .map(f64::to_bits)
                .ok_or_else(|| format!("{} must be above 0 and below 1", self.name)),
            Kind::Layout => match value.to_ascii_lowercase().as_str() {
                "native" => Ok(0),
                "redisbloom" => Ok(1),
                _ => Err(format!("{} must be native or redisbloom", self.name)),
            },
            Kind::Limit => bytes(value)
                .map(|most| if most == 0 { u64::MAX } else { most })
                .ok_or_else(|| format!("{} must be a number of bytes, such as 4096, 64mb or 2gb", self.name)),
        }
    }

    fn text(&self, bits: u64) -> String {
        match self.kind {
            Kind::Limit if bits == u64::MAX => "0".to_owned(),
            Kind::Integer(..) | Kind::Limit => bits.to_string(),
            Kind::Rate => f64::from_bits(bits).to_string(),
            Kind::Layout if bits == 0 => "native".to_owned(),
            Kind::Layout => "redisbloom".to_owned(),
        }
    }
}

/// A size as Redis's configuration writes it: `k`, `m` and `g` are powers of ten, `kb`, `mb` and `gb` of two; and as the
/// rest of mayhap does: `MiB`.
#[must_use]
pub fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim() {
        "" | "b" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        "kb" | "kib" => 1 << 10,
        "mb" | "mib" => 1 << 20,
        "gb" | "gib" => 1 << 30,
        "tb" | "tib" => 1 << 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_its_default_and_takes_it_back() {
        let settings = Settings::new(KeyHasher::default());
        for setting in SETTINGS {
            let text = settings.get(setting.name).unwrap();
            assert_eq!(settings.set(setting.name, &text), Ok(true), "{}", setting.name);
            assert_eq!(settings.get(setting.name).unwrap(), text);
            assert!(!setting.about.is_empty() && settings.set(setting.name, "nonsense").is_err());
        }
        assert_eq!((settings.bf_error_rate(), settings.bf_initial_size()), (0.01, 100));
        assert_eq!(settings.set("no-such-setting", "1"), Ok(false));
        assert_eq!(settings.set("bf-layout", "RedisBloom"), Ok(true));
        assert_eq!(settings.bf_layout(), Layout::RedisBloom);
        assert_eq!(settings.cf_layout(), Layout::Native);
        assert_eq!(settings.set("filter-max-bytes", "0"), Ok(true));
        assert_eq!(settings.filter_max_bytes(), u64::MAX, "no limit, and not a limit of nothing");
        assert_eq!(settings.get("filter-max-bytes").as_deref(), Some("0"));
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("64mb"), Some(64 << 20));
        assert_eq!(bytes("2 GiB"), Some(2 << 30));
        assert_eq!(bytes("1k"), Some(1000));
        assert_eq!(bytes("99999999999tb"), None);
        assert_eq!(bytes("mb"), None);
    }
}
