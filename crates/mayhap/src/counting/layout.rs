//! Where a key's counters lie, and how wide they are: the parameters of the counting recipe.

use crate::bits::BLOCK_BITS;

/// Bits of one counter.
///
/// A counter that reaches its [maximum](Self::max) is *stuck*: it no longer knows its number, so it is never lowered
/// again. Wide counters hardly ever stick, and cost their width in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CounterWidth {
    /// Four bits, up to 15: for keys that are added once or a few times. The default.
    #[default]
    Four,
    /// Eight bits, up to 255.
    Eight,
    /// Sixteen bits, up to 65 535.
    Sixteen,
}

impl CounterWidth {
    /// All widths, from narrow to wide.
    pub const ALL: [Self; 3] = [Self::Four, Self::Eight, Self::Sixteen];

    /// Bits of a counter.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
            Self::Sixteen => 16,
        }
    }

    /// The highest number, at which a counter sticks.
    #[must_use]
    pub const fn max(self) -> u64 {
        (1 << self.bits()) - 1
    }
}

/// How the counters of one key lie in the lines of 64 bytes.
///
/// A line is eight words, a word 16, 8 or 4 counters:
///
/// ```text
/// Four             w0 | w4    w1 | w5    w2 | w6    w3 | w7     one counter in each pair of words
/// Eight            w0   w1    w2   w3    w4   w5    w6   w7     one counter in each word
/// EightTwoLines    Four in a line of the first half of the filter, and Four in one of the second
/// SixteenTwoLines  Eight in a line of the first half of the filter, and Eight in one of the second
/// ```
///
/// A line of counters holds far fewer keys than a line of bits, so that loads differ more from line to line. Two lines,
/// picked independently, even that out at the price of a second cache miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CounterShape {
    /// Four counters, one in each pair of words.
    Four,
    /// Eight counters, one in each word.
    Eight,
    /// Eight counters in two cache lines, four in each half of the filter.
    EightTwoLines,
    /// Sixteen counters in two cache lines, eight in each half of the filter.
    SixteenTwoLines,
}

impl CounterShape {
    /// All shapes, from few counters to many.
    pub const ALL: [Self; 4] = [Self::Four, Self::Eight, Self::EightTwoLines, Self::SixteenTwoLines];

    /// Counters of each key (k).
    #[must_use]
    pub const fn hashes(self) -> u32 {
        match self {
            Self::Four => 4,
            Self::Eight | Self::EightTwoLines => 8,
            Self::SixteenTwoLines => 16,
        }
    }

    /// Cache lines that one key touches.
    #[must_use]
    pub const fn lines(self) -> u64 {
        match self {
            Self::Four | Self::Eight => 1,
            Self::EightTwoLines | Self::SixteenTwoLines => 2,
        }
    }

    /// A line is divided into this many equal groups of counters; a key has one counter in each.
    #[must_use]
    pub const fn groups(self) -> u32 {
        match self {
            Self::Four | Self::EightTwoLines => 4,
            Self::Eight | Self::SixteenTwoLines => 8,
        }
    }
}

/// Shape and width together: all there is to know about a key's counters but the number of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CounterLayout {
    /// How the counters of a key lie.
    pub shape: CounterShape,
    /// How wide they are.
    pub width: CounterWidth,
}

impl CounterLayout {
    /// Every layout.
    pub fn all() -> impl Iterator<Item = Self> {
        CounterWidth::ALL
            .into_iter()
            .flat_map(|width| CounterShape::ALL.into_iter().map(move |shape| Self { shape, width }))
    }

    /// Counters in a line.
    #[must_use]
    pub const fn counters_per_line(self) -> u64 {
        BLOCK_BITS / self.width.bits() as u64
    }

    /// Counters in a group, of which a key has one.
    #[must_use]
    pub const fn counters_per_group(self) -> u64 {
        self.counters_per_line() / self.shape.groups() as u64
    }

    /// The number of the layout in files: the width in bits, and 256 times the number of the shape.
    #[must_use]
    pub const fn id(self) -> u16 {
        let shape: u16 = match self.shape {
            CounterShape::Four => 1,
            CounterShape::Eight => 2,
            CounterShape::EightTwoLines => 3,
            CounterShape::SixteenTwoLines => 4,
        };
        let width: u16 = match self.width {
            CounterWidth::Four => 4,
            CounterWidth::Eight => 8,
            CounterWidth::Sixteen => 16,
        };
        shape << 8 | width
    }

    /// The layout with this number.
    #[must_use]
    pub fn from_id(id: u16) -> Option<Self> {
        Self::all().find(|layout| layout.id() == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_has_its_own_number_and_fills_its_lines() {
        for layout in CounterLayout::all() {
            assert_eq!(CounterLayout::from_id(layout.id()), Some(layout));
            assert_eq!(layout.counters_per_line() * u64::from(layout.width.bits()), 512);
            assert_eq!(
                layout.counters_per_group() * u64::from(layout.shape.groups()),
                layout.counters_per_line()
            );
            assert_eq!(layout.shape.hashes(), layout.shape.groups() * layout.shape.lines() as u32);
        }
        assert_eq!(CounterLayout::all().count(), 12);
        assert_eq!([0, 4, 0x0105, 0x0504, u16::MAX].map(CounterLayout::from_id), [None; 5]);
        assert_eq!(CounterWidth::ALL.map(CounterWidth::max), [15, 255, 65_535]);
    }
}
