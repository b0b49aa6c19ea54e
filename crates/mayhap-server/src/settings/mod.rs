//! What an operator chooses about the server.
//!
//! A setting has one name everywhere: in a TOML file, as `--set name=value`, in `CONFIG GET` and `CONFIG SET`, and in
//! the environment as `MAYHAP_` and the name in capitals with `_` for `-`. The settings of filters
//! ([`mayhap_commands::settings`]) are set in the same ways.

mod sources;
mod table;

pub use sources::SourceError;
pub use table::{SETTINGS, Setting};

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicU64, Ordering};

use mayhap::hash::{KeyHasher, SecretKey};
use mayhap_commands::settings::SETTINGS as FILTER_SETTINGS;

/// Settings that clients of Redis ask for and that can only be one thing here.
const FIXED: &[(&str, &str)] =
    &[("appendonly", "no"), ("databases", "1"), ("maxmemory-policy", "noeviction"), ("save", "")];

/// All settings, as they are now.
#[derive(Debug)]
pub struct Settings {
    /// Those of filters.
    pub filters: mayhap_commands::Settings,
    bind: IpAddr,
    pub(super) numbers: [AtomicU64; SETTINGS.len()],
}

/// Why a setting was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// There is none of this name.
    Unknown,
    /// It can't be changed while the server runs.
    Fixed,
    /// The value is not one it can have; what it can be.
    Invalid(String),
}

impl Settings {
    /// The defaults, with a new random secret key.
    ///
    /// # Errors
    /// When the operating system gives no random bytes.
    pub fn new() -> io::Result<Self> {
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).map_err(io::Error::other)?;
        Ok(Self {
            filters: mayhap_commands::Settings::new(KeyHasher::sip13(SecretKey::new(secret))),
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            numbers: std::array::from_fn(|place| AtomicU64::new(SETTINGS[place].default)),
        })
    }

    /// Sets anything, before the server starts.
    ///
    /// # Errors
    /// When there is no such setting, or it can't have this value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        if let Some((_, only)) = FIXED.iter().find(|(fixed, _)| *fixed == name) {
            return if value == *only {
                Ok(())
            } else {
                Err(SettingError::Invalid(format!(
                    "{name} can only be {only:?} in this server, and is; docs/operations.md says why"
                )))
            };
        }
        match name {
            "bind" => self.bind = parse_address(value)?,
            "secret-key" => self.filters.hasher = KeyHasher::sip13(parse_secret_key(value)?),
            _ => self.store(name, value)?,
        }
        Ok(())
    }

    /// Changes a setting of a server that runs.
    ///
    /// # Errors
    /// When there is no such setting, it is fixed, or it can't have this value.
    pub fn change(&self, name: &str, value: &str) -> Result<(), SettingError> {
        self.check(name, value)?;
        self.store(name, value)
    }

    /// Whether [`change`](Self::change) would do it.
    ///
    /// # Errors
    /// As there.
    pub fn check(&self, name: &str, value: &str) -> Result<(), SettingError> {
        if matches!(name, "bind" | "secret-key") || FIXED.iter().any(|(fixed, _)| *fixed == name) {
            return Err(SettingError::Fixed);
        }
        match SETTINGS.iter().find(|setting| setting.name == name) {
            Some(setting) if setting.is_fixed => Err(SettingError::Fixed),
            Some(setting) => setting.parse(value).map(|_| ()),
            None => {
                // On a copy of the defaults: what a value can be doesn't depend on what it is.
                let trial = mayhap_commands::Settings::new(self.filters.hasher.clone());
                match trial.set(name, value) {
                    Ok(true) => Ok(()),
                    Ok(false) => Err(SettingError::Unknown),
                    Err(message) => Err(SettingError::Invalid(message)),
                }
            }
        }
    }

    /// A setting as text. The secret key's is its public id.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<String> {
        match name {
            "bind" => Some(self.bind.to_string()),
            "secret-key" => {
                Some(self.filters.hasher.key_id().map_or_else(String::new, |id| format!("id {id:016x}")))
            }
            _ => SETTINGS
                .iter()
                .position(|setting| setting.name == name)
                .map(|place| SETTINGS[place].text(self.number(place)))
                .or_else(|| self.filters.get(name))
                .or_else(|| {
                    FIXED.iter().find(|(fixed, _)| *fixed == name).map(|(_, value)| (*value).to_owned())
                }),
        }
    }

    /// The names of all settings.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ["bind", "secret-key"]
            .into_iter()
            .chain(SETTINGS.iter().map(|setting| setting.name))
            .chain(FILTER_SETTINGS.iter().map(|setting| setting.name))
            .chain(FIXED.iter().map(|(name, _)| *name))
    }

    /// The address to listen on.
    #[must_use]
    pub fn bind(&self) -> IpAddr {
        self.bind
    }

    fn store(&self, name: &str, value: &str) -> Result<(), SettingError> {
        if let Some(place) = SETTINGS.iter().position(|setting| setting.name == name) {
            self.numbers[place].store(SETTINGS[place].parse(value)?, Ordering::Relaxed);
            return Ok(());
        }
        match self.filters.set(name, value) {
            Ok(true) => Ok(()),
            Ok(false) => Err(SettingError::Unknown),
            Err(message) => Err(SettingError::Invalid(message)),
        }
    }

    fn number(&self, place: usize) -> u64 {
        self.numbers[place].load(Ordering::Relaxed)
    }
}

fn parse_address(value: &str) -> Result<IpAddr, SettingError> {
    match value {
        "localhost" => Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        "*" => Ok(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        _ => value.trim_matches(['[', ']']).parse().map_err(|_| {
            SettingError::Invalid("bind must be an address, such as 127.0.0.1, 0.0.0.0 or ::1".to_owned())
        }),
    }
}

fn parse_secret_key(value: &str) -> Result<SecretKey, SettingError> {
    // The value is not repeated in the message: messages are logged.
    let invalid = || SettingError::Invalid("secret-key must be 32 hexadecimal digits".to_owned());
    if value.len() != 32 {
        return Err(invalid());
    }
    let digits = u128::from_str_radix(value, 16).map_err(|_| invalid())?;
    if value.starts_with('+') {
        return Err(invalid());
    }
    Ok(SecretKey::new(digits.to_be_bytes()))
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("there is no such setting"),
            Self::Fixed => f.write_str("it can't be changed while the server runs"),
            Self::Invalid(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for SettingError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_can_be_read_and_most_be_written() {
        let mut settings = Settings::new().unwrap();
        for name in Settings::names() {
            let value = settings.get(name).unwrap();
            if name == "secret-key" || FIXED.iter().any(|(fixed, _)| *fixed == name) {
                continue;
            }
            assert_eq!(settings.set(name, &value), Ok(()), "{name}");
            assert_eq!(settings.get(name), Some(value), "{name}");
            assert!(matches!(settings.set(name, "nonsense"), Err(SettingError::Invalid(_))), "{name}");
        }
        assert_eq!(settings.set("no-such", "1"), Err(SettingError::Unknown));
        assert_eq!(settings.get("no-such"), None);
    }

    #[test]
    fn some_settings_are_for_the_start_only() {
        let settings = Settings::new().unwrap();
        for name in ["bind", "port", "threads", "secret-key", "save"] {
            assert_eq!(settings.change(name, "1"), Err(SettingError::Fixed), "{name}");
        }
        assert_eq!(settings.change("maxclients", "7"), Ok(()));
        assert_eq!(settings.maxclients(), 7);
        assert_eq!(settings.change("bf-initial-size", "5000"), Ok(()));
        assert_eq!(settings.filters.bf_initial_size(), 5000);
        assert!(settings.check("bf-initial-size", "-1").is_err());
    }

    #[test]
    fn the_secret_key_is_never_shown() {
        let mut settings = Settings::new().unwrap();
        let key = "000102030405060708090a0b0c0d0e0f";
        settings.set("secret-key", key).unwrap();
        let shown = settings.get("secret-key").unwrap();
        assert!(shown.starts_with("id ") && !shown.contains("0b0c"));
        for wrong in ["", "00", "+00102030405060708090a0b0c0d0e0f", "zz0102030405060708090a0b0c0d0e0f"] {
            let error = settings.set("secret-key", wrong).unwrap_err();
            assert!(wrong.is_empty() || !error.to_string().contains(&format!(" {wrong}")));
        }
    }
}
