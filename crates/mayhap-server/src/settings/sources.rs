//! Where settings come from: a TOML file and the environment. Flags are the command line's business.

use std::fmt;

use super::{SettingError, Settings};

/// What the names of settings begin with in the environment.
const PREFIX: &str = "MAYHAP_";

/// Why settings could not be taken from somewhere.
#[derive(Debug)]
pub enum SourceError {
    /// The file is not TOML; what and where.
    Syntax(String),
    /// A setting was not one, or could not have this value.
    Setting {
        /// As it was written.
        name: String,
        /// What was wrong with it.
        reason: SettingError,
    },
}

impl Settings {
    /// Takes settings from the text of a TOML file: `name = value`, where a value is a number, text, or `true` or
    /// `false`. A heading such as `[bf]` stands for the first word of the names below it: `layout` is `bf-layout`.
    ///
    /// # Errors
    /// When it is not TOML, or says something that is not a setting.
    pub fn read_toml(&mut self, text: &str) -> Result<(), SourceError> {
        let table: toml::Table =
            text.parse().map_err(|error: toml::de::Error| SourceError::Syntax(error.to_string()))?;
        for (name, value) in &table {
            if let toml::Value::Table(section) = value {
                for (rest, value) in section {
                    self.set_from_toml(&format!("{name}-{rest}"), value)?;
                }
            } else {
                self.set_from_toml(name, value)?;
            }
        }
        Ok(())
    }

    /// Takes settings from variables such as `MAYHAP_BF_LAYOUT`. Others of that prefix are errors too: a misspelt name
    /// must not be passed over.
    ///
    /// # Errors
    /// When one is not a setting, or can't have this value.
    pub fn read_environment(
        &mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), SourceError> {
        for (variable, value) in variables {
            if let Some(name) = variable.strip_prefix(PREFIX).filter(|name| !is_of_a_cluster(name, &value)) {
                let name = name.to_ascii_lowercase().replace('_', "-");
                self.set(&name, &value).map_err(|reason| SourceError::Setting { name: variable, reason })?;
            }
        }
        Ok(())
    }

    fn set_from_toml(&mut self, name: &str, value: &toml::Value) -> Result<(), SourceError> {
        let text = match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Float(number) => number.to_string(),
            toml::Value::Boolean(switch) => if *switch { "yes" } else { "no" }.to_owned(),
            toml::Value::Datetime(_) | toml::Value::Array(_) | toml::Value::Table(_) => {
                let reason = SettingError::Invalid("a value is a number, text, true or false".to_owned());
                return Err(SourceError::Setting { name: name.to_owned(), reason });
            }
        };
        self.set(name, &text).map_err(|reason| SourceError::Setting { name: name.to_owned(), reason })
    }
}

/// Kubernetes tells every container about a service called `mayhap` in variables of the same prefix:
/// `MAYHAP_SERVICE_HOST`, `MAYHAP_PORT=tcp://10.0.0.1:25666`, `MAYHAP_PORT_25666_TCP`. They are not meant for us.
fn is_of_a_cluster(name: &str, value: &str) -> bool {
    name.starts_with("SERVICE_") || name.starts_with("PORT_") || name == "PORT" && value.contains("://")
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(message) => f.write_str(message.trim_end()),
            Self::Setting { name, reason } => write!(f, "{name}: {reason}"),
        }
    }
}

impl std::error::Error for SourceError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_sets() {
        let mut settings = Settings::new().unwrap();
        let text = "port = 7000\nbind = \"::1\"\nmaxmemory = \"2gb\"\n[bf]\nlayout = \"redisbloom\"\nerror-rate = 0.001\n";
        settings.read_toml(text).unwrap();
        assert_eq!((settings.port(), settings.maxmemory()), (7000, 2 << 30));
        assert_eq!(settings.bind().to_string(), "::1");
        assert_eq!(settings.get("bf-layout").as_deref(), Some("redisbloom"));
        assert_eq!(settings.filters.bf_error_rate(), 0.001);
    }

    #[test]
    fn a_file_with_mistakes_is_refused() {
        let cases = [
            ("port = ", "port"),
            ("prot = 1", "prot: there is no such setting"),
            ("port = 70000", "port: port must be a number between 0 and 65535"),
            ("port = [1]", "a value is a number, text"),
            ("port = 1\nport = 2", "duplicate key"),
        ];
        for (text, expected) in cases {
            let message = Settings::new().unwrap().read_toml(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{text:?}: {message}");
        }
    }

    #[test]
    fn the_environment_sets() {
        let mut settings = Settings::new().unwrap();
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        settings.read_environment([variable("MAYHAP_MAXCLIENTS", "12"), variable("HOME", "/")]).unwrap();
        assert_eq!(settings.maxclients(), 12);
        let cluster =
            [variable("MAYHAP_PORT", "tcp://10.0.0.1:1"), variable("MAYHAP_SERVICE_HOST", "10.0.0.1")];
        settings.read_environment(cluster).unwrap();
        assert_eq!(settings.port(), 25_666);
        let error = settings.read_environment([variable("MAYHAP_MAXCLIENT", "12")]).unwrap_err();
        assert_eq!(error.to_string(), "MAYHAP_MAXCLIENT: there is no such setting");
    }
}
