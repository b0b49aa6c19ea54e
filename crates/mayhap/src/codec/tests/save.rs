//! Files on a disk.

use std::format;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use std::thread;
use std::vec::Vec;

use super::*;
use crate::codec::{Existing, FileError, Reader, StreamError, save};

/// A directory of the test's own, removed at its end.
struct Directory(PathBuf);

impl Directory {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mayhap-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("filter.mayhap")
    }

    fn names(&self) -> Vec<String> {
        fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn save_text(path: &Path, existing: Existing, text: &str) -> Result<(), FileError> {
    save(path, existing, &header(&[text.len() as u64]), |writer| writer.write_body(text.as_bytes()))
}

fn load_text(path: &Path) -> String {
    let mut reader = Reader::open(path, 1 << 30).unwrap();
    let mut body = vec![0; usize::try_from(reader.header().sections[0].length).unwrap()];
    reader.read_section(&mut body).unwrap();
    reader.finish().unwrap();
    String::from_utf8(body).unwrap()
}

#[test]
fn a_saved_file_is_what_a_vec_would_hold() {
    let directory = Directory::new("saved");
    let lengths = [MIB + 1, 3];
    let (header, bodies) = (header(&lengths), bodies(&lengths));
    save(directory.file(), Existing::Refuse, &header, |writer| {
        bodies.iter().try_for_each(|body| writer.write_body(body))
    })
    .unwrap();
    assert!(fs::read(directory.file()).unwrap() == encode(&header, &bodies));
    assert_eq!(directory.names(), ["filter.mayhap"]);
}

#[test]
fn what_a_killed_process_left_is_removed_when_it_is_old() {
    let directory = Directory::new("leftovers");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 3600);
    let leave = |name: &str, is_old: bool| {
        let file = fs::File::create(directory.0.join(name)).unwrap();
        if is_old {
            file.set_modified(old).unwrap();
        }
        file
    };
    let written = leave(".mayhap-1-0.tmp", true);
    written.lock().unwrap();
    drop([leave(".mayhap-1-1.tmp", true), leave(".mayhap-1-2.tmp", false), leave(".mayhap-mine.tmp", true)]);
    fs::create_dir(directory.0.join(".mayhap-1-3.tmp")).unwrap();
    save_text(&directory.file(), Existing::Replace, "text").unwrap();
    let mut names = directory.names();
    names.sort();
    let stay = [".mayhap-1-0.tmp", ".mayhap-1-2.tmp", ".mayhap-1-3.tmp", ".mayhap-mine.tmp", "filter.mayhap"];
    assert_eq!(names, stay, "one is being written, one is young, one is a directory, one has another name");

    drop(written);
    save_text(&directory.file(), Existing::Replace, "text").unwrap();
    assert!(!directory.names().contains(&".mayhap-1-0.tmp".into()), "its writer is gone");
}

/// Who saves holds a lock that tells others so.
#[test]
fn a_file_that_is_being_written_is_locked() {
    let directory = Directory::new("locked");
    save(directory.file(), Existing::Refuse, &header(&[]), |_| {
        let [temporary] = &directory.names()[..] else { panic!("the temporary file alone") };
        let other = fs::File::open(directory.0.join(temporary)).unwrap();
        assert!(matches!(other.try_lock(), Err(fs::TryLockError::WouldBlock)));
        Ok(())
    })
    .unwrap();
}

#[test]
fn an_existing_file_is_replaced_or_refused() {
    let directory = Directory::new("existing");
    let path = directory.file();
    save_text(&path, Existing::Replace, "one").unwrap();
    save_text(&path, Existing::Replace, "two").unwrap();
    assert_eq!(load_text(&path), "two");

    let mut called = false;
    let refused = save(&path, Existing::Refuse, &header(&[]), |_| {
        called = true;
        Ok(())
    });
    assert!(
        matches!(&refused, Err(FileError::AlreadyExists { path: named }) if *named == path),
        "{refused:?}"
    );
    assert!(!called, "nothing is computed in vain");
    assert_eq!(load_text(&path), "two");
    assert_eq!(directory.names(), ["filter.mayhap"]);
}

#[test]
fn a_file_that_appears_while_writing_is_refused_too() {
    let directory = Directory::new("appears");
    let path = directory.file();
    let refused = save(&path, Existing::Refuse, &header(&[3]), |writer| {
        save_text(&path, Existing::Refuse, "first").unwrap();
        writer.write_body(b"2nd")
    });
    assert!(matches!(refused, Err(FileError::AlreadyExists { .. })), "{refused:?}");
    assert_eq!(load_text(&path), "first");
    assert_eq!(directory.names(), ["filter.mayhap"]);
}

#[test]
fn of_many_who_refuse_exactly_one_wins() {
    let directory = Directory::new("race");
    let path = directory.file();
    let results: Vec<(String, Result<(), FileError>)> = thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|i| {
                let path = &path;
                scope.spawn(move || {
                    let text = format!("writer {i}");
                    let result = save_text(path, Existing::Refuse, &text);
                    (text, result)
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let winners: Vec<&String> =
        results.iter().filter(|(_, result)| result.is_ok()).map(|(text, _)| text).collect();
    assert_eq!(winners, [&load_text(&path)]);
    let lost = |result: &Result<(), FileError>| matches!(result, Err(FileError::AlreadyExists { .. }));
    assert_eq!(results.iter().filter(|(_, result)| lost(result)).count(), 7);
    assert_eq!(directory.names(), ["filter.mayhap"]);
}

#[test]
fn a_failure_leaves_the_old_file_and_nothing_else() {
    let directory = Directory::new("failure");
    let path = directory.file();
    save_text(&path, Existing::Replace, "old").unwrap();

    let broken = |error: fn() -> StreamError| {
        save(&path, Existing::Replace, &header(&[10]), |writer| {
            writer.write_body(b"half ")?;
            Err(error())
        })
    };
    let full = broken(|| io::Error::from(io::ErrorKind::StorageFull).into()).unwrap_err();
    assert!(full.to_string().starts_with(&path.display().to_string()), "{full}");
    assert!(matches!(full, FileError::Io { doing: "writing", .. }));
    let short = save(&path, Existing::Replace, &header(&[10]), |writer| writer.write_body(b"half"));
    assert!(matches!(
        short,
        Err(FileError::Format { source: FormatError::WrongBody { section: 0, expected: 10, got: 4 }, .. })
    ));

    assert_eq!(load_text(&path), "old");
    assert_eq!(directory.names(), ["filter.mayhap"]);

    let panicked =
        std::panic::catch_unwind(|| save(&path, Existing::Replace, &header(&[1]), |_| panic!("on purpose")));
    assert!(panicked.is_err());
    assert_eq!(directory.names(), ["filter.mayhap"]);
}

#[test]
fn impossible_targets_are_named() {
    let directory = Directory::new("impossible");
    let error = save_text(&directory.0, Existing::Replace, "x").unwrap_err();
    assert!(matches!(&error, FileError::NotAFile { path } if *path == directory.0), "{error}");

    let nowhere = directory.0.join("no such directory").join("filter.mayhap");
    let error = save_text(&nowhere, Existing::Replace, "x").unwrap_err();
    assert_eq!(error.path(), nowhere);
    assert!(matches!(error, FileError::Io { .. }));
    assert!(directory.names().is_empty());
}

#[test]
fn leftovers_of_a_killed_process_are_stepped_over() {
    let directory = Directory::new("leftovers");
    // The next thousand names this process would choose are taken; other tests may use up some.
    for number in 0..1_000 {
        fs::write(directory.0.join(format!(".mayhap-{}-{number}.tmp", std::process::id())), b"").unwrap();
    }
    save_text(&directory.file(), Existing::Refuse, "new").unwrap();
    assert_eq!(load_text(&directory.file()), "new");
    assert_eq!(directory.names().len(), 1_001);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_replaced_file_passes_on_its_permissions() {
        let directory = Directory::new("permissions");
        let path = directory.file();
        save_text(&path, Existing::Replace, "secret").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        save_text(&path, Existing::Replace, "still").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_link_stays_a_link() {
        let directory = Directory::new("link");
        let link = directory.0.join("current");
        save_text(&directory.file(), Existing::Replace, "old").unwrap();
        symlink("filter.mayhap", &link).unwrap();
        save_text(&link, Existing::Replace, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(load_text(&directory.file()), "new");

        let refused = save_text(&link, Existing::Refuse, "x");
        assert!(matches!(refused, Err(FileError::AlreadyExists { .. })));

        // A link to nothing counts as a name that is taken, or gives way.
        fs::remove_file(directory.file()).unwrap();
        assert!(matches!(save_text(&link, Existing::Refuse, "x"), Err(FileError::AlreadyExists { .. })));
        save_text(&link, Existing::Replace, "itself").unwrap();
        assert_eq!(load_text(&link), "itself");
        assert_eq!(directory.names(), ["current"]);
    }
}

#[test]
fn opening_compares_the_length_of_the_file() {
    let directory = Directory::new("opening");
    let path = directory.file();
    let mut bytes = small_file();
    let length = bytes.len() as u64;
    let opened = |bytes: &[u8], limit: u64| {
        fs::write(&path, bytes).unwrap();
        match Reader::open(&path, limit) {
            Ok(_) => None,
            Err(FileError::Format { path: named, source }) if named == path => Some(source),
            Err(other) => panic!("{other:?}"),
        }
    };
    assert_eq!(opened(&bytes, length), None);
    assert_eq!(opened(&bytes, length - 1), Some(FormatError::TooLarge { bytes: length, limit: length - 1 }));
    let cut = &bytes[..bytes.len() - 1];
    assert_eq!(opened(cut, length), Some(FormatError::Truncated { needed: length, got: length - 1 }));
    bytes.push(0);
    assert_eq!(opened(&bytes, length), Some(FormatError::TrailingBytes { file_length: length }));

    let missing = Reader::open(directory.0.join("missing"), length).unwrap_err();
    assert!(missing.to_string().contains("missing: opening failed"), "{missing}");
}

/// Its name can't be synced, and is there all the same. (Who may do everything, as root, can sync it.)
#[cfg(unix)]
#[test]
fn a_directory_that_may_not_be_listed_can_be_saved_into() {
    use std::os::unix::fs::PermissionsExt;
    let directory = Directory::new("unlisted");
    let permit = |mode| fs::set_permissions(&directory.0, fs::Permissions::from_mode(mode)).unwrap();
    permit(0o300);
    let results = [(Existing::Refuse, "one"), (Existing::Replace, "two")]
        .map(|(existing, text)| (save_text(&directory.file(), existing, text), load_text(&directory.file())));
    permit(0o700);
    for ((result, text), expected) in results.into_iter().zip(["one", "two"]) {
        result.unwrap();
        assert_eq!(text, expected);
    }
    assert_eq!(directory.names(), ["filter.mayhap"]);
}
