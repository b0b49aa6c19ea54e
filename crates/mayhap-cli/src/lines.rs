//! Reading whole lines in large pieces, without allocating for each.
//!
//! Files are read, not mapped: the copy is under a tenth of the time `dedup` takes, mapping would pay for page faults
//! instead, and a file that is cut short meanwhile would end the program.

use std::io::{self, Read};

/// What one read asks for. Large enough that system calls don't count, small enough to stay in the cache between
/// being filled, hashed and written out.
const READ_SIZE: usize = 1 << 20;

/// The buffer all inputs are read through, one after the other. It grows only for a line that doesn't fit, up to the
/// limit it was made with.
#[derive(Debug)]
pub(crate) struct LineBuffer {
    bytes: Vec<u8>,
    /// One line of the greatest allowed length, and its terminator.
    size_limit: usize,
    terminator: u8,
}

/// Reading one input to its end, as chunks of whole lines.
#[derive(Debug)]
pub(crate) struct LineChunks<'buffer, R> {
    buffer: &'buffer mut LineBuffer,
    source: R,
    /// The bytes handed out by the last call: gone by the next.
    taken: usize,
    /// The bytes of `buffer` that have been read.
    filled: usize,
    ended: bool,
}

/// One or more whole lines.
#[derive(Debug)]
pub(crate) struct Chunk<'a> {
    /// The lines, each followed by its terminator, the last one of the input too, which may not have had one there.
    pub(crate) lines: &'a [u8],
    /// Bytes read from the input since the last chunk.
    pub(crate) read_bytes: u64,
    /// The source gave less than was asked for, so the next read may wait: a good moment to show what there is.
    pub(crate) is_drained: bool,
}

/// Why there are no more chunks before the end.
#[derive(Debug)]
pub(crate) enum LineError {
    Read(io::Error),
    /// A line is longer than the limit.
    TooLong,
    /// A line is within the limit and still too long for this machine's memory.
    OutOfMemory,
}

impl LineBuffer {
    /// For lines that end in `terminator` and have at most `longest_line` bytes before it.
    pub(crate) fn new(terminator: u8, longest_line: u64) -> Self {
        let size_limit = usize::try_from(longest_line).unwrap_or(usize::MAX).saturating_add(1);
        Self { bytes: vec![0; READ_SIZE.min(size_limit)], size_limit, terminator }
    }

    /// Starts on the next input. What it leaves unterminated at its end is a line of its own.
    pub(crate) fn chunks<R: Read>(&mut self, source: R) -> LineChunks<'_, R> {
        LineChunks { buffer: self, source, taken: 0, filled: 0, ended: false }
    }

    fn grow(&mut self) -> Result<(), LineError> {
        let size = self.bytes.len();
        let additional = size.min(self.size_limit - size);
        if additional == 0 {
            return Err(LineError::TooLong);
        }
        self.bytes.try_reserve_exact(additional).map_err(|_| LineError::OutOfMemory)?;
        self.bytes.resize(size + additional, 0);
        Ok(())
    }
}

impl<R: Read> LineChunks<'_, R> {
    /// The next whole lines, as soon as there is at least one; `None` at the end of the input.
    pub(crate) fn next_chunk(&mut self) -> Result<Option<Chunk<'_>>, LineError> {
        self.buffer.bytes.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.taken = 0;
        let mut read_bytes = 0;

        while !self.ended {
            if self.filled == self.buffer.bytes.len() {
                self.buffer.grow()?;
            }
            let room = &mut self.buffer.bytes[self.filled..];
            let asked = room.len();
            let got = match self.source.read(room) {
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(LineError::Read(error)),
            };
            let last_terminator = memchr::memrchr(self.buffer.terminator, &room[..got]);
            read_bytes += got as u64;
            if let Some(position) = last_terminator {
                self.taken = self.filled + position + 1;
                self.filled += got;
                return Ok(Some(self.chunk(read_bytes, got < asked)));
            }
            self.filled += got;
            if got == 0 {
                self.ended = true;
                if self.filled > 0 {
                    // There is room for it: the buffer was found not to be full just now.
                    self.buffer.bytes[self.filled] = self.buffer.terminator;
                    self.filled += 1;
                    self.taken = self.filled;
                    return Ok(Some(self.chunk(read_bytes, true)));
                }
            }
        }
        Ok(None)
    }

    fn chunk(&self, read_bytes: u64, is_drained: bool) -> Chunk<'_> {
        Chunk { lines: &self.buffer.bytes[..self.taken], read_bytes, is_drained }
    }
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

    fn read_all(buffer: &mut LineBuffer, bytes: &[u8], step: usize) -> Result<Vec<u8>, LineError> {
        let mut chunks = buffer.chunks(Trickle { bytes, step, interrupt: false });
        let mut all = Vec::new();
        while let Some(chunk) = chunks.next_chunk()? {
            assert_eq!(chunk.lines.last(), Some(&b'\n'));
            all.extend_from_slice(chunk.lines);
        }
        Ok(all)
    }

    #[test]
    fn nothing_is_lost_whatever_the_read_sizes() {
        let text: Vec<u8> =
            (0..200u32).flat_map(|i| format!("{}\n", "x".repeat(i as usize % 37)).into_bytes()).collect();
        for step in 1..60 {
            for limit in [36, 37, 40, 1000] {
                assert_eq!(read_all(&mut LineBuffer::new(b'\n', limit), &text, step).unwrap(), text);
            }
        }
    }

    #[test]
    fn the_last_line_gets_its_terminator() {
        let mut buffer = LineBuffer::new(b'\n', 3);
        assert_eq!(read_all(&mut buffer, b"", 5).unwrap(), b"");
        assert_eq!(read_all(&mut buffer, b"a", 5).unwrap(), b"a\n");
        assert_eq!(read_all(&mut buffer, b"a\nabc", 5).unwrap(), b"a\nabc\n");
        assert_eq!(read_all(&mut buffer, b"\n\n", 5).unwrap(), b"\n\n");
    }

    #[test]
    fn the_limit_is_exact() {
        for step in [1, 3, 100] {
            let mut buffer = LineBuffer::new(b'\n', 10);
            assert_eq!(read_all(&mut buffer, b"0123456789\nx\n", step).unwrap(), b"0123456789\nx\n");
            assert_eq!(read_all(&mut buffer, b"0123456789", step).unwrap(), b"0123456789\n");
            for too_long in [&b"0123456789a\n"[..], b"0123456789a", b"x\n0123456789abcdef\n"] {
                assert!(matches!(read_all(&mut buffer, too_long, step), Err(LineError::TooLong)), "{step}");
            }
        }
    }

    #[test]
    fn a_line_longer_than_one_read_arrives_whole() {
        let mut text = vec![b'y'; 3 * READ_SIZE + 17];
        text.extend_from_slice(b"\nshort\n");
        let mut buffer = LineBuffer::new(b'\n', 1 << 30);
        assert_eq!(read_all(&mut buffer, &text, READ_SIZE).unwrap(), text);
        assert_eq!(buffer.bytes.len(), 4 * READ_SIZE);
    }
}
