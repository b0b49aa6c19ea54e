//! Figures for people and programs alike: each is written down once.

use serde_json::{Map, Value};

/// What is known about a file, in order.
#[derive(Debug, Default)]
pub(super) struct Facts {
    lines: Vec<(String, String)>,
    values: Map<String, Value>,
}

impl Facts {
    /// A line for people: a label, and what there is to say.
    pub(super) fn say(&mut self, label: impl Into<String>, text: impl Into<String>) {
        self.lines.push((label.into(), text.into()));
    }

    /// A value for programs.
    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.values.insert(name.to_owned(), value.into());
    }

    /// Both.
    pub(super) fn add(
        &mut self,
        label: &'static str,
        text: impl Into<String>,
        name: &str,
        value: impl Into<Value>,
    ) {
        self.say(label, text);
        self.set(name, value);
    }

    /// The lines, their texts below each other.
    pub(super) fn text(&self) -> String {
        let width = self.lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        self.lines.iter().map(|(label, text)| format!("  {label:<width$}  {text}\n")).collect()
    }

    pub(super) fn values(self) -> Map<String, Value> {
        self.values
    }
}
