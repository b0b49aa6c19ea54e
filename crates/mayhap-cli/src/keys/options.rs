//! The flags by which every command that reads keys is told where they are.

use clap::{Args, ValueEnum};

use crate::failure::Failure;
use crate::numbers::parse_size;

/// How keys stand in the input.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Keys")]
pub(crate) struct KeyOptions {
    /// Lines end in a NUL byte instead of a newline, as from `find -print0`
    #[arg(short = 'z', long)]
    pub(crate) null: bool,

    /// The field of each record that is the key: its number (from 1), or its name in the header of the table
    #[arg(short = 'f', long, value_name = "FIELD", visible_alias = "column")]
    pub(crate) field: Option<String>,

    /// The input is a table with commas and quotes (known by itself for names that end in .csv)
    #[arg(long, conflicts_with_all = ["tsv", "delimiter", "null"])]
    pub(crate) csv: bool,

    /// The input is a table with tabs and no quotes (known by itself for names that end in .tsv)
    #[arg(long, conflicts_with_all = ["delimiter", "null"])]
    pub(crate) tsv: bool,

    /// The input is a table with quotes and this character between the fields
    #[arg(long, value_name = "CHARACTER", value_parser = one_byte, conflicts_with = "null")]
    pub(crate) delimiter: Option<u8>,

    /// The first record of each table names the fields, and holds no key; said by itself when the field is given by name
    #[arg(long)]
    pub(crate) header: bool,

    /// What to do with a carriage return before a newline [default: same; for dedup: keep]
    #[arg(long, value_name = "HOW", value_enum)]
    pub(crate) line_ends: Option<LineEnds>,

    /// Longest line to accept; it has to fit into memory
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1GiB")]
    pub(crate) max_line: u64,

    /// A field that is read beside the key: when the record was. For `dedup`, which has a flag for it.
    #[arg(skip)]
    pub(crate) time: Option<String>,
}

/// What to do with a carriage return before a newline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LineEnds {
    /// All lines of a file must end alike; a carriage return that all have is no part of the key
    Same,
    /// A carriage return is never part of the key
    Strip,
    /// A carriage return is part of the key
    Keep,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Lines with this byte at their end.
    Lines(u8),
    /// A table with this byte between fields, and quotes or not.
    Table { delimiter: u8, has_quotes: bool },
}

impl KeyOptions {
    /// The byte that ends every record, and nothing else does: of tables that may be one of several.
    pub(crate) fn line_end(&self) -> Option<u8> {
        self.field.is_none().then_some(self.terminator())
    }

    pub(super) fn terminator(&self) -> u8 {
        if self.null { 0 } else { b'\n' }
    }

    /// The form of an input with this name.
    pub(crate) fn form(&self, name: &str) -> Result<Form, Failure> {
        let csv = Form::Table { delimiter: b',', has_quotes: true };
        let tsv = Form::Table { delimiter: b'\t', has_quotes: false };
        let plain = Form::Lines(self.terminator());
        let Some(_) = &self.field else {
            if self.csv || self.tsv || self.delimiter.is_some() || self.header {
                return Err(Failure::Message(
                    "which field of the table is the key? say so with --field and a number or a name"
                        .to_owned(),
                ));
            }
            return Ok(plain);
        };
        if let Some(delimiter) = self.delimiter {
            return Ok(Form::Table { delimiter, has_quotes: true });
        }
        let lower = name.to_ascii_lowercase();
        let bare = lower.trim_end_matches(".gz").trim_end_matches(".zst");
        if self.csv || (!self.tsv && bare.ends_with(".csv")) {
            Ok(csv)
        } else if self.tsv || bare.ends_with(".tsv") || bare.ends_with(".tab") {
            Ok(tsv)
        } else {
            Err(Failure::Message(format!(
                "what separates the fields of {name}? say --csv, --tsv or --delimiter and a character"
            )))
        }
    }
}

fn one_byte(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] if *byte != b'\n' && *byte != b'\r' && *byte != b'"' => Ok(*byte),
        b"\\t" => Ok(b'\t'),
        _ => Err("give one character, such as ';' or '|'; a line end and a quote can't be it".to_owned()),
    }
}
