//! Where in its block a key's bits go: the parameters of the blocked recipe.

/// How the bits of one key lie in the 512-bit blocks.
///
/// No single number of bits serves every rate. More bits per key spread the risk of one crowded word, and cost memory
/// where the rate is high; `sizing::blocked` picks the shape with the least memory, preferring one cache line to two.
///
/// A block is eight words of 64 bits:
///
/// ```text
/// Four             w0 | w1    w2 | w3    w4 | w5    w6 | w7     one bit in each pair of words (1 of 128)
/// Eight            w0   w1    w2   w3    w4   w5    w6   w7     one bit in each word          (1 of 64)
/// Sixteen          w0   w1    w2   w3    w4   w5    w6   w7     two bits in each word         (2 of 64)
/// SixteenTwoLines  Eight in a block of the first half of the filter, and Eight in one of the second
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// Four bits, one in each pair of words: for rates above about 2 %.
    Four,
    /// Eight bits, one in each word: from about 2 % down to 0.018 %.
    Eight,
    /// Sixteen bits, two in each word, still in one cache line: from there to about 0.015 %, and for lower rates in filters
    /// of a few blocks.
    Sixteen,
    /// Sixteen bits in two cache lines, one in each half of the filter: below about 0.015 %.
    SixteenTwoLines,
}

impl Shape {
    /// All shapes, from few bits to many.
    pub const ALL: [Self; 4] = [Self::Four, Self::Eight, Self::Sixteen, Self::SixteenTwoLines];

    /// Bits set for each key (k).
    #[must_use]
    pub const fn hashes(self) -> u32 {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
            Self::Sixteen | Self::SixteenTwoLines => 16,
        }
    }

    /// Blocks, and so cache lines, that one key touches.
    #[must_use]
    pub const fn lines(self) -> u64 {
        match self {
            Self::Four | Self::Eight | Self::Sixteen => 1,
            Self::SixteenTwoLines => 2,
        }
    }

    /// A block is divided into this many equal groups of bits; each draws its own positions.
    #[must_use]
    pub const fn groups(self) -> u32 {
        match self {
            Self::Four => 4,
            Self::Eight | Self::Sixteen | Self::SixteenTwoLines => 8,
        }
    }

    /// Bits drawn in each group, with replacement.
    #[must_use]
    pub const fn bits_per_group(self) -> u32 {
        match self {
            Self::Four | Self::Eight | Self::SixteenTwoLines => 1,
            Self::Sixteen => 2,
        }
    }

    /// The number of the shape in files.
    #[must_use]
    pub const fn id(self) -> u16 {
        match self {
            Self::Four => 1,
            Self::Eight => 2,
            Self::Sixteen => 3,
            Self::SixteenTwoLines => 4,
        }
    }

    /// The shape with this number.
    #[must_use]
    pub fn from_id(id: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.id() == id)
    }
}
