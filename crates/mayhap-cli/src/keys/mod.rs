//! Keys from files and pipes: lines, or one field of each record of a table.
//!
//! ```text
//! source      which files, and what they are packed in
//! own_output  whether one of them is what is printed to
//! lines       whole lines in large pieces
//! line_ends   where each of them ends
//! table       one field of CSV, TSV and the like
//! parquet     one column of a Parquet file, with the feature of that name
//! reader      all inputs in order, batch by batch; from several threads if need be
//! ordered     several threads whose answers come out in order
//! batch       what one step reads: records, and the keys in them
//! pending     records that wait for a filter's answer
//! one_table   tables whose records are printed as those of one
//! ```
//!
//! A *record* is what a command prints or drops, a *key* is what a filter is asked about. In plain input both are the
//! line.

mod batch;
mod line_ends;
mod lines;
mod one_table;
mod options;
mod ordered;
mod own_output;
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
mod parquet;
mod pending;
mod reader;
mod source;
mod table;

pub(crate) use batch::Batch;
pub(crate) use one_table::OneTable;
pub(crate) use options::{KeyOptions, LineEnds};
pub(crate) use pending::{Pending, Written};
pub(crate) use reader::KeyReader;
pub(crate) use source::{Inputs, cannot_read};
