//! Files of URLs, for programs that read lines.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use crate::report;
use crate::{Failure, keys};

/// A file of distinct URLs in the temporary directory, removed when dropped.
pub(crate) struct UrlFile {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
}

impl UrlFile {
    /// Of the keys with these numbers, each with `suffix` after it; `name` tells the file from others of this process.
    pub(crate) fn create(
        name: &str,
        numbers: impl Iterator<Item = u64>,
        suffix: &str,
    ) -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("mayhap-bench-{name}-{}.txt", std::process::id()));
        eprintln!("{name}: writing {}", path.display());
        let mut file = Self { path, bytes: 0 };
        let mut output = BufWriter::with_capacity(1 << 20, File::create(&file.path)?);
        let mut line = String::new();
        for number in numbers {
            line.clear();
            keys::write_url(&mut line, number);
            line.push_str(suffix);
            line.push('\n');
            file.bytes += line.len() as u64;
            output.write_all(line.as_bytes())?;
        }
        output.flush()?;
        // On the disk now, not while something else is timed that waits for the disk.
        output.get_ref().sync_all()?;
        eprintln!("{name}: {}", report::bytes(file.bytes as f64));
        Ok(file)
    }
}

impl Drop for UrlFile {
    fn drop(&mut self) {
        // Nothing to be done about a file that can't be removed: the system clears its temporary directory.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_its_lines_and_goes_away() {
        let file = UrlFile::create("test", keys::present(0, 1000), "").expect("a small temporary file");
        let text = fs::read_to_string(&file.path).expect("the file just written");
        assert_eq!(text.lines().count(), 1000);
        assert_eq!(text.len() as u64, file.bytes);
        let path = file.path.clone();
        drop(file);
        assert!(!path.exists());
    }
}
