//! Whether an input is the file that the command prints to.

use std::fs::Metadata;

/// What tells a regular file from all others. Pipes, terminals and devices such as `/dev/null` have none: what is written
/// to them isn't read again.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    metadata.is_file().then(|| (metadata.dev(), metadata.ino()))
}

/// What a standard stream is.
#[cfg(unix)]
fn metadata_of(stream: &impl std::os::fd::AsFd) -> Option<Metadata> {
    let copy = stream.as_fd().try_clone_to_owned().ok()?;
    std::fs::File::from(copy).metadata().ok()
}

/// Whether this file, or standard input if it is none, is what standard output goes to.
#[cfg(unix)]
pub(super) fn is_own_output(input: Option<&Metadata>) -> bool {
    let output = metadata_of(&std::io::stdout()).and_then(|output| identity(&output));
    let input = match input {
        Some(metadata) => identity(metadata),
        None => metadata_of(&std::io::stdin()).and_then(|stdin| identity(&stdin)),
    };
    output.is_some() && output == input
}

/// Elsewhere the standard library can't tell.
#[cfg(not(unix))]
pub(super) fn is_own_output(_: Option<&Metadata>) -> bool {
    false
}
