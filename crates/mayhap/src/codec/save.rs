//! Writing a file whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use super::header::Header;
use super::leftovers;
use super::stream_error::{FileError, StreamError};
use super::writer::{Stream, Writer};

/// What to do when there is a file already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Replace it, when the new one is complete. Who has the old one open or mapped keeps it.
    Replace,
    /// Leave it and fail, also when it appears while the new one is being written.
    Refuse,
}

/// The writer that [`save`] lends.
pub type FileWriter = Writer<Stream<BufWriter<fs::File>>>;

/// Writes a file: the header, the bodies that `bodies` writes, and the checksums.
///
/// The bytes go into a temporary file beside `path`, are synced to the disk, and take the name only then; so
/// at every moment, also after a power cut, there is the old file, the new file or none, never half of one. A
/// file that is replaced passes on its permissions; a symbolic link stays and what it points to is replaced.
/// The name is synced, too, unless the directory may be written to but not listed.
///
/// Fails with the path in the error, and removes the temporary file. A killed process can leave one behind,
/// named `.mayhap-<process>-<number>.tmp`, which a later save into the same directory removes when it is an
/// hour old and no process writes it; and where the file system has no hard links, [`Existing::Refuse`]
/// can leave an empty file, which is refused as cut off.
///
/// ```
/// use mayhap::codec::{Existing, FileError, Header, Kind, Section, save};
///
/// # let directory = std::env::temp_dir().join(format!("mayhap-doc-save-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory).unwrap();
/// let path = directory.join("example.mayhap");
/// let mut header = Header::new(Kind::new(0x8000));
/// header.sections.push(Section::new(1, 5));
///
/// save(&path, Existing::Refuse, &header, |writer| writer.write_body(b"hello"))?;
///
/// let again = save(&path, Existing::Refuse, &header, |writer| writer.write_body(b"world"));
/// assert!(matches!(again, Err(FileError::AlreadyExists { .. })));
/// # std::fs::remove_dir_all(&directory).unwrap();
/// # Ok::<(), FileError>(())
/// ```
pub fn save(
    path: impl AsRef<Path>,
    existing: Existing,
    header: &Header,
    bodies: impl FnOnce(&mut FileWriter) -> Result<(), StreamError>,
) -> Result<(), FileError> {
    replace(path.as_ref(), existing, |file| {
        let mut writer = Writer::to_stream(BufWriter::new(file), header)?;
        bodies(&mut writer)?;
        Ok(writer.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?)
    })
}

/// Writes a file of any other format in the same way: beside the target, synced, then renamed.
///
/// # Errors
/// When writing fails, or there is such a file already and it is not to be replaced.
pub fn save_bytes(
    path: impl AsRef<Path>,
    existing: Existing,
    write: impl FnOnce(&mut BufWriter<fs::File>) -> io::Result<()>,
) -> Result<(), FileError> {
    replace(path.as_ref(), existing, |file| {
        let mut writer = BufWriter::new(file);
        write(&mut writer)?;
        Ok(writer.into_inner().map_err(io::IntoInnerError::into_error)?)
    })
}

/// Lets `write` fill a temporary file, and gives it the name when it is safe on the disk.
fn replace(
    path: &Path,
    existing: Existing,
    write: impl FnOnce(fs::File) -> Result<fs::File, StreamError>,
) -> Result<(), FileError> {
    let target = Target::find(path, existing)?;
    // First, for it may be what fills the disk.
    leftovers::remove(target.directory());
    let (temporary, file) =
        Temporary::create(target.directory()).map_err(target.failed("creating a temporary file"))?;
    if let Some(permissions) = &target.permissions {
        file.set_permissions(permissions.clone()).map_err(target.failed("setting permissions"))?;
    }
    let sync = |file: fs::File| file.sync_all().map_err(StreamError::from);
    write(file).and_then(sync).map_err(|error| error.at(&target.path, "writing"))?;

    match existing {
        Existing::Replace => temporary.replace(&target.path).map_err(target.failed("renaming"))?,
        Existing::Refuse => temporary.link(&target.path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => FileError::AlreadyExists { path: target.path.clone() },
            _ => target.failed("naming")(error),
        })?,
    }
    sync_directory(target.directory()).map_err(target.failed("syncing the directory"))
}

/// The file to be written.
struct Target {
    path: PathBuf,
    /// Those of the file that is there already.
    permissions: Option<fs::Permissions>,
}

impl Target {
    /// Looks at what is there, before gigabytes are written in vain.
    fn find(path: &Path, existing: Existing) -> Result<Self, FileError> {
        let target = Self { path: path.to_path_buf(), permissions: None };
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(target),
            Err(error) => return Err(target.failed("looking for the file")(error)),
        };
        if existing == Existing::Refuse {
            return Err(FileError::AlreadyExists { path: target.path });
        }
        if found.is_symlink() {
            // The link is followed to its end. One that leads nowhere can't be, and is replaced itself.
            return match fs::canonicalize(path) {
                Ok(end) => Self::find(&end, existing),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(target),
                Err(error) => Err(target.failed("following the link")(error)),
            };
        }
        if !found.is_file() {
            return Err(FileError::NotAFile { path: target.path });
        }
        Ok(Self { permissions: Some(found.permissions()), ..target })
    }

    fn directory(&self) -> &Path {
        match self.path.parent() {
            Some(directory) if !directory.as_os_str().is_empty() => directory,
            _ => Path::new("."),
        }
    }

    fn failed(&self, doing: &'static str) -> impl FnOnce(io::Error) -> FileError {
        let path = self.path.clone();
        move |source| FileError::Io { path, doing, source }
    }
}

/// A temporary file, removed when dropped unless it got its name.
struct Temporary {
    path: PathBuf,
    named: bool,
}

impl Temporary {
    fn create(directory: &Path) -> io::Result<(Self, fs::File)> {
        // Together with the process id the counter makes names unique; a leftover of a killed process that
        // had the same id is stepped over. Not derived from the target's name, which may already be as long
        // as names can be.
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(leftovers::name(process::id(), number));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    // Held while it is written, so that nobody takes it for a leftover. Without a lock its age tells.
                    let _ = file.try_lock();
                    return Ok((Self { path, named: false }, file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes the target's name, whoever has it.
    fn replace(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.named = true;
        Ok(())
    }

    /// Takes the target's name if nobody has it; else fails with `AlreadyExists`.
    fn link(self, target: &Path) -> io::Result<()> {
        match fs::hard_link(&self.path, target) {
            // Dropping removes the temporary name, and the file keeps the other.
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Err(_) => self.claim(target),
        }
    }

    /// As `link`, on a file system that has no links: an empty file takes the name, which only one can
    /// create, and is replaced at once.
    fn claim(self, target: &Path) -> io::Result<()> {
        OpenOptions::new().write(true).create_new(true).open(target)?;
        self.replace(target).inspect_err(|_| {
            // Ours, still empty, and of no use to anybody.
            let _ = fs::remove_file(target);
        })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.named {
            // Nothing better can be done about a failure, and the error that led here is the one to report.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes a new name survive a power cut. Elsewhere than on Unix a directory can't be opened, or needn't be.
#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    let directory = match fs::File::open(directory) {
        // One that may be written to but not listed can't be opened. The file is in place, whole, and a power cut at worst
        // brings back the one before it; so it would be wrong to call that a failure.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
        result => result?,
    };
    match directory.sync_all() {
        // Some file systems (network, FUSE) have no such operation: there is nothing to wait for.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        result => result,
    }
}

#[cfg(not(unix))]
fn sync_directory(_directory: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    /// The way without hard links, which no file system of a usual test machine takes.
    #[test]
    fn a_name_is_claimed_once() {
        let directory = std::env::temp_dir().join(format!("mayhap-claim-{}", process::id()));
        fs::create_dir_all(&directory).unwrap();
        let target = directory.join("target");
        let claim = |text: &str| {
            let (temporary, mut file) = Temporary::create(&directory).unwrap();
            io::Write::write_all(&mut file, text.as_bytes()).unwrap();
            temporary.claim(&target).map_err(|error| error.kind())
        };
        assert_eq!(claim("first"), Ok(()));
        assert_eq!(claim("second"), Err(io::ErrorKind::AlreadyExists));
        assert_eq!(fs::read(&target).unwrap(), b"first");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1, "no temporary file stays");

        // The replacing fails: the claim is given back.
        fs::remove_file(&target).unwrap();
        let gone = Temporary { path: directory.join("gone"), named: false };
        assert!(gone.claim(&target).is_err());
        assert!(!target.exists());
        fs::remove_dir_all(&directory).unwrap();
    }
}
