//! Tables whose records are printed as those of one.

use super::batch::Batch;
use crate::failure::Failure;

/// The header of them all, which is that of the first.
#[derive(Debug, Default)]
pub(crate) struct OneTable {
    /// With the name of the input it stands in.
    first: Option<(String, Vec<u8>)>,
}

impl OneTable {
    /// The header that a batch begins with, if it is to be printed because none was before.
    ///
    /// # Errors
    /// When it has other fields than the first, or in another order: they would be printed under wrong names.
    pub(crate) fn header<'a>(&mut self, batch: &'a Batch) -> Result<Option<&'a [u8]>, Failure> {
        let header = batch.header();
        if header.is_empty() {
            return Ok(None);
        }
        let Some((name, first)) = &self.first else {
            self.first = Some((batch.source().to_owned(), header.to_vec()));
            return Ok(Some(header));
        };
        if names(first) == names(header) {
            return Ok(None);
        }
        let shown = |header| String::from_utf8_lossy(&names(header)).chars().take(100).collect::<String>();
        Err(Failure::Message(format!(
            "{} has the fields {:?}, and {name} has {:?}: printed as one table, those of the one would stand under the \
             names of the other; bring them into one order, or run the command for each (dedup with the same --state)",
            batch.source(),
            shown(header),
            shown(first)
        )))
    }
}

/// The names of the fields. A mark of the byte order, quotes and the line end are not part of them.
fn names(header: &[u8]) -> Vec<u8> {
    let header = header.strip_prefix(b"\xef\xbb\xbf").unwrap_or(header);
    header.iter().copied().filter(|byte| !matches!(byte, b'"' | b'\r' | b'\n')).collect()
}
