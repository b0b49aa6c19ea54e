//! One recorded case: a JSON object whose every field must be looked at.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::keys::{Keys, keys_of};

pub(crate) struct Case {
    fields: Map<String, Value>,
    used: RefCell<BTreeSet<String>>,
    directory: PathBuf,
}

impl Case {
    pub(crate) fn parse(line: &str, directory: &Path) -> Self {
        let fields = serde_json::from_str(line).expect("each line is a JSON object");
        Self { fields, used: RefCell::default(), directory: directory.to_path_buf() }
    }

    /// A part of a case, such as the statistics of one of its filters, that is a case by itself.
    pub(crate) fn part(&self, name: &str) -> Self {
        let fields = self.value(name).as_object().unwrap_or_else(|| panic!("{name}: no object")).clone();
        Self { fields, used: RefCell::default(), directory: self.directory.clone() }
    }

    /// Fails when a field was never asked for: it may say something that isn't checked.
    pub(crate) fn finish(&self) {
        let used = self.used.borrow();
        let missed: Vec<&String> = self.fields.keys().filter(|name| !used.contains(*name)).collect();
        assert!(missed.is_empty(), "fields that no check understands: {missed:?}");
    }

    /// Fields that say nothing about the filter: names, and what the generator asserted itself.
    pub(crate) fn note(&self, names: &[&str]) {
        self.used.borrow_mut().extend(names.iter().map(|name| (*name).to_owned()));
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.used.borrow_mut().insert(name.to_owned());
        self.fields.get(name)
    }

    pub(crate) fn value(&self, name: &str) -> &Value {
        self.get(name).unwrap_or_else(|| panic!("the case has no field {name}"))
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.value(name).as_str().unwrap_or_else(|| panic!("{name}: no text"))
    }

    pub(crate) fn number(&self, name: &str) -> u64 {
        self.value(name).as_u64().unwrap_or_else(|| panic!("{name}: no number"))
    }

    pub(crate) fn integer(&self, name: &str) -> i64 {
        self.value(name).as_i64().unwrap_or_else(|| panic!("{name}: no integer"))
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.value(name).as_bool().unwrap_or_else(|| panic!("{name}: neither true nor false"))
    }

    /// A fraction that is written as decimal text.
    pub(crate) fn decimal(&self, name: &str) -> f64 {
        self.text(name).parse().unwrap_or_else(|_| panic!("{name}: no decimal"))
    }

    /// A fraction that is given by its bits.
    pub(crate) fn double(&self, name: &str) -> f64 {
        let bits = self.value(name)["bits"].as_str().unwrap_or_else(|| panic!("{name}: no bits"));
        f64::from_bits(u64::from_str_radix(bits, 16).unwrap())
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        hex(self.text(name))
    }

    pub(crate) fn keys(&self, name: &str) -> Keys {
        keys_of(self.value(name))
    }

    /// One answer a character, `1` for yes.
    pub(crate) fn answers(&self, name: &str) -> Vec<bool> {
        answers(self.text(name))
    }

    /// Where the file of this case stands.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// A file that stands beside the one of this case.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.directory.join(self.text(name))
    }
}

pub(crate) fn answers(text: &str) -> Vec<bool> {
    text.chars()
        .map(|answer| match answer {
            '0' => false,
            '1' => true,
            other => panic!("{other} is no answer"),
        })
        .collect()
}

pub(crate) fn hex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2), "half a byte");
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
