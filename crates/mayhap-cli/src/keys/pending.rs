//! Records that wait for a filter's answer.

use std::io::Write;
use std::ops::Range;

use super::batch::Batch;
use crate::failure::Failure;

/// Where they stand in the text of the batch they come from. What they are asked by is whoever asks to know.
#[derive(Debug)]
pub(crate) struct Pending {
    places: Vec<Range<usize>>,
}

/// What was written of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) records: u64,
    /// Terminators included.
    pub(crate) bytes: u64,
}

impl Pending {
    /// Records asked about at once: enough to hide the latency of memory, few enough that what is known about them
    /// stays in the innermost cache.
    pub(crate) const MOST: usize = 1024;

    /// None yet.
    pub(crate) fn new() -> Self {
        Self { places: Vec::with_capacity(Self::MOST) }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// One more, by its place in the text. True when it is time to ask.
    #[inline]
    pub(crate) fn push(&mut self, place: Range<usize>) -> bool {
        self.places.push(place);
        self.places.len() >= Self::MOST
    }

    /// Some more of them, at most [`Batch::GROUP`]. True when it is time to ask.
    #[inline]
    pub(crate) fn push_all(&mut self, places: &[Range<usize>]) -> bool {
        self.places.extend_from_slice(places);
        self.places.len() + Batch::GROUP > Self::MOST
    }

    /// Where they stand, in order.
    pub(crate) fn places(&self) -> &[Range<usize>] {
        &self.places
    }

    /// Forgets them.
    pub(crate) fn clear(&mut self) {
        self.places.clear();
    }

    /// Writes those of them that are wanted, and forgets all. Neighbours go out as one piece.
    pub(crate) fn write(
        &mut self,
        text: &[u8],
        is_wanted: &[bool],
        output: &mut impl Write,
    ) -> Result<Written, Failure> {
        let mut written = Written::default();
        let mut run = 0..0;
        for (place, _) in self.places.iter().zip(is_wanted).filter(|(_, is_wanted)| **is_wanted) {
            written.records += 1;
            written.bytes += place.len() as u64;
            if place.start == run.end {
                run.end = place.end;
            } else {
                output.write_all(&text[run]).map_err(|error| Failure::from_output(&error))?;
                run = place.clone();
            }
        }
        output.write_all(&text[run]).map_err(|error| Failure::from_output(&error))?;
        self.clear();
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_what_is_wanted_and_forgets_all() {
        let text = b"a\nbb\n\nccc\n";
        let places = [0..2, 2..5, 5..6, 6..10];
        for wanted in 0..16u8 {
            let is_wanted: Vec<bool> = (0..4).map(|i| wanted >> i & 1 == 1).collect();
            let mut pending = Pending::new();
            for place in &places {
                assert!(!pending.push(place.clone()));
            }
            let expected: Vec<u8> = places
                .iter()
                .zip(&is_wanted)
                .filter(|(_, is_wanted)| **is_wanted)
                .flat_map(|(place, _)| text[place.clone()].to_vec())
                .collect();
            let mut output = Vec::new();
            let written = pending.write(text, &is_wanted, &mut output).unwrap();
            assert_eq!(output, expected);
            assert_eq!(
                written,
                Written { records: wanted.count_ones().into(), bytes: expected.len() as u64 }
            );
            assert_eq!(pending.len(), 0);
        }
    }
}
