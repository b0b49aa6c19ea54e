//! Reading whole lines in large pieces, without allocating for each.
//!
//! Files are read, not mapped: the copy is under a tenth of the time `dedup` takes, mapping would pay for page faults
//! instead, and a file that is cut short meanwhile would end the program.

use std::io::{self, Read};

/// What one read asks for. Large enough that system calls don't count, small enough to stay in the cache between
/// being filled, hashed and written out.
pub(super) const READ_SIZE: usize = 1 << 18;

/// An input as pieces that end where a line does. What is left of one goes to the beginning of the next, which may be
/// another buffer, of another thread.
#[derive(Debug)]
pub(super) struct Pieces {
    /// One line of the greatest allowed length, and its terminator.
    size_limit: usize,
    /// The beginning of a line whose end hasn't been read yet.
    rest: Vec<u8>,
    ended: bool,
}

/// A piece that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Bytes of the buffer that are whole lines.
    pub(super) len: usize,
    /// The source gave less than was asked for, so the next read may wait.
    pub(super) is_drained: bool,
    /// The last line had no end in the input, or only a part of one.
    pub(super) lacks_end: bool,
}

/// Why there are no more pieces before the end.
#[derive(Debug)]
pub(crate) enum LineError {
    Read(io::Error),
    /// A line is longer than the limit; so it begins.
    TooLong(String),
    /// A line is within the limit and still too long for this machine's memory.
    OutOfMemory,
    /// A table has no such field.
    Field(String),
}

impl Pieces {
    /// Of lines that have at most `longest_line` bytes before their terminator.
    pub(super) fn new(longest_line: u64) -> Self {
        let size_limit = usize::try_from(longest_line).unwrap_or(usize::MAX).saturating_add(1);
        Self { size_limit, rest: Vec::new(), ended: false }
    }

    /// Reads until `cut` finds whole records in what there is, which it says by their length; `None` at the end of the
    /// input. It gets all there is, and from where on it is new; and at the end `true`, with `end` after what hasn't one:
    /// the terminator, after a carriage return if the lines before had one.
    pub(super) fn next(
        &mut self,
        source: &mut impl Read,
        bytes: &mut Vec<u8>,
        end: &[u8],
        mut cut: impl FnMut(&[u8], usize, bool) -> Result<Option<usize>, LineError>,
    ) -> Result<Option<Piece>, LineError> {
        let mut filled = self.rest.len();
        reserve(bytes, READ_SIZE.min(self.size_limit).max(filled))?;
        bytes[..filled].copy_from_slice(&self.rest);
        self.rest.clear();
        let mut lacks_end = false;
        while !self.ended {
            if filled == bytes.len() {
                let additional = filled.min(self.size_limit.saturating_sub(filled));
                if additional == 0 {
                    let beginning = &bytes[..filled.min(40)];
                    return Err(LineError::TooLong(String::from_utf8_lossy(beginning).into_owned()));
                }
                reserve(bytes, filled + additional)?;
            }
            let room = &mut bytes[filled..];
            let asked = room.len();
            let got = match source.read(room) {
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(LineError::Read(error)),
            };
            let new = filled;
            filled += got;
            if got == 0 {
                self.ended = true;
                let missing = missing_end(&bytes[..filled], end);
                reserve(bytes, filled + missing.len())?;
                bytes[filled..filled + missing.len()].copy_from_slice(missing);
                filled += missing.len();
                lacks_end = !missing.is_empty();
            }
            if let Some(len) = cut(&bytes[..filled], new, self.ended)? {
                self.rest.extend_from_slice(&bytes[len..filled]);
                return Ok(Some(Piece { len, is_drained: got < asked, lacks_end }));
            }
        }
        Ok(None)
    }
}

/// What the last line lacks of an end. The input may have been cut within it.
fn missing_end<'a>(text: &[u8], end: &'a [u8]) -> &'a [u8] {
    if text.is_empty() || text.last() == end.last() {
        return &[];
    }
    match end {
        [b'\r', rest @ ..] if text.ends_with(b"\r") => rest,
        _ => end,
    }
}

/// Makes the buffer so large.
fn reserve(bytes: &mut Vec<u8>, size: usize) -> Result<(), LineError> {
    if bytes.len() < size {
        bytes.try_reserve_exact(size - bytes.len()).map_err(|_| LineError::OutOfMemory)?;
        bytes.resize(size, 0);
    }
    Ok(())
}

/// Where the last whole line ends, if one ends in what is new.
pub(super) fn last_line_end(text: &[u8], new: usize, terminator: u8) -> Option<usize> {
    memchr::memrchr(terminator, &text[new..]).map(|position| new + position + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives `step` bytes at a time, and an interruption before each.
    struct Trickle<'a> {
        bytes: &'a [u8],
        step: usize,
        interrupt: bool,
    }

    impl Read for Trickle<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            self.interrupt = !self.interrupt;
            if self.interrupt {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let step = self.step.min(room.len());
            self.bytes.read(&mut room[..step])
        }
    }

    fn read_all(limit: u64, bytes: &[u8], step: usize) -> Result<Vec<u8>, LineError> {
        read_all_with(b"\n", limit, bytes, step)
    }

    fn read_all_with(end: &[u8], limit: u64, bytes: &[u8], step: usize) -> Result<Vec<u8>, LineError> {
        let mut pieces = Pieces::new(limit);
        let mut source = Trickle { bytes, step, interrupt: false };
        let (mut buffer, mut all) = (Vec::new(), Vec::new());
        let cut = |text: &[u8], new, _| Ok(last_line_end(text, new, b'\n'));
        while let Some(piece) = pieces.next(&mut source, &mut buffer, end, cut)? {
            assert_eq!(buffer[piece.len - 1], b'\n');
            all.extend_from_slice(&buffer[..piece.len]);
            // Another thread's buffer, perhaps: nothing may be expected to stay in it.
            buffer.fill(b'?');
        }
        Ok(all)
    }

    #[test]
    fn nothing_is_lost_whatever_the_read_sizes() {
        let text: Vec<u8> =
            (0..200u32).flat_map(|i| format!("{}\n", "x".repeat(i as usize % 37)).into_bytes()).collect();
        for step in 1..60 {
            for limit in [36, 37, 40, 1000] {
                assert_eq!(read_all(limit, &text, step).unwrap(), text);
            }
        }
    }

    #[test]
    fn the_last_line_gets_its_terminator() {
        assert_eq!(read_all(3, b"", 5).unwrap(), b"");
        assert_eq!(read_all(3, b"a", 5).unwrap(), b"a\n");
        assert_eq!(read_all(3, b"a\nabc", 5).unwrap(), b"a\nabc\n");
        assert_eq!(read_all(3, b"\n\n", 5).unwrap(), b"\n\n");
        for (text, whole) in [
            (&b""[..], &b""[..]),
            (b"a\r\nb", b"a\r\nb\r\n"),
            (b"a\r\nb\r", b"a\r\nb\r\n"),
            (b"a\r\nb\r\n", b"a\r\nb\r\n"),
            (b"a\r\nabc", b"a\r\nabc\r\n"),
        ] {
            for step in 1..8 {
                assert_eq!(read_all_with(b"\r\n", 4, text, step).unwrap(), whole, "{text:?}");
            }
        }
    }

    #[test]
    fn the_limit_is_exact() {
        for step in [1, 3, 100] {
            assert_eq!(read_all(10, b"0123456789\nx\n", step).unwrap(), b"0123456789\nx\n");
            assert_eq!(read_all(10, b"0123456789", step).unwrap(), b"0123456789\n");
            for too_long in [&b"0123456789a\n"[..], b"0123456789a", b"x\n0123456789abcdef\n"] {
                assert!(matches!(read_all(10, too_long, step), Err(LineError::TooLong(_))), "{step}");
            }
        }
    }

    #[test]
    fn a_line_longer_than_one_read_arrives_whole() {
        let mut text = vec![b'y'; 3 * READ_SIZE + 17];
        text.extend_from_slice(b"\nshort\n");
        assert_eq!(read_all(1 << 30, &text, READ_SIZE).unwrap(), text);
    }
}
