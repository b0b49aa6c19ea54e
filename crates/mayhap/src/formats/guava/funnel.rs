//! From a value to the bytes that are hashed.

use alloc::string::String;
use alloc::vec::Vec;

use crate::hash::Key;
use crate::hash::functions::murmur3::{State128, murmur3_128};

/// How a value is taken apart into the bytes that are hashed: Guava's interface of the same name.
///
/// Every [`Key`] is one already, and what Guava's own funnels do is this:
///
/// | Guava | here |
/// |---|---|
/// | `Funnels.byteArrayFunnel()` | bytes: `[u8]`, `Vec<u8>` … |
/// | `Funnels.stringFunnel(UTF_8)` | `str`, `String` …; [`Utf8Chars`] for UTF-16 that may have lone surrogates |
/// | `Funnels.unencodedCharsFunnel()` | [`UnencodedChars`] around text or UTF-16 |
/// | `Funnels.integerFunnel()` | `i32` |
/// | `Funnels.longFunnel()` | `i64` |
///
/// A class with a funnel of its own is a type with this trait. Its fields go into the [`Sink`] in the order in which the
/// Java code puts them; nothing stands between them.
///
/// ```
/// use mayhap::formats::guava::{Funnel, GuavaBloom, Sink, Sizing};
///
/// struct Person { id: i32, name: String, born: i16 }
///
/// // In Java: into.putInt(p.id).putUnencodedChars(p.name).putShort(p.born)
/// impl Funnel for Person {
///     fn funnel(&self, into: &mut Sink) {
///         into.put_int(self.id);
///         into.put_unencoded_chars(&self.name);
///         into.put_short(self.born);
///     }
/// }
///
/// let mut people = GuavaBloom::with_rate(500, 0.01, Sizing::Guava31)?;
/// let ada = Person { id: 7, name: "Ada".into(), born: 1815 };
/// people.insert(&ada);
/// assert!(people.contains(&ada));
/// # Ok::<(), mayhap::Error>(())
/// ```
pub trait Funnel {
    /// Puts the value's parts into the sink.
    fn funnel(&self, into: &mut Sink);

    /// The hash of the value: MurmurHash3 `x64_128` of what [`funnel`](Self::funnel) puts into a sink.
    #[inline]
    fn murmur3_128(&self) -> [u64; 2] {
        let mut sink = Sink::new();
        self.funnel(&mut sink);
        sink.finish()
    }
}

/// A key's bytes, in one piece.
impl<K: Key + ?Sized> Funnel for K {
    #[inline]
    fn funnel(&self, into: &mut Sink) {
        into.put_bytes(self.key_bytes().as_ref());
    }

    #[inline]
    fn murmur3_128(&self) -> [u64; 2] {
        murmur3_128(self.key_bytes().as_ref(), 0)
    }
}

/// What takes in the parts of a value: MurmurHash3 over as many bytes as are put. Nothing is allocated.
///
/// Every number goes in as its little-endian bytes. The names are those of Guava's `PrimitiveSink`.
#[derive(Clone, Debug)]
pub struct Sink {
    state: State128,
    /// Bytes that wait to be sixteen: the first `length % 16` of these.
    waiting: [u8; 16],
    length: u64,
}

impl Sink {
    /// An empty sink.
    #[must_use]
    pub const fn new() -> Self {
        Self { state: State128::new(0), waiting: [0; 16], length: 0 }
    }

    /// Bytes as they are.
    #[inline]
    pub fn put_bytes(&mut self, mut bytes: &[u8]) {
        let waiting = self.waiting_count();
        self.length = self.length.wrapping_add(bytes.len() as u64);
        if waiting > 0 {
            let (first, rest) = bytes.split_at(bytes.len().min(16 - waiting));
            self.waiting[waiting..waiting + first.len()].copy_from_slice(first);
            if waiting + first.len() < 16 {
                return;
            }
            self.state.mix(&self.waiting);
            bytes = rest;
        }
        let (pairs, rest) = bytes.as_chunks();
        for pair in pairs {
            self.state.mix(pair);
        }
        self.waiting[..rest.len()].copy_from_slice(rest);
    }

    /// One byte (Java's is signed: `-1` is 0xff here).
    #[inline]
    pub fn put_byte(&mut self, byte: u8) {
        self.put_bytes(&[byte]);
    }

    /// A Java `boolean`: one byte, 1 or 0.
    #[inline]
    pub fn put_boolean(&mut self, value: bool) {
        self.put_byte(u8::from(value));
    }

    /// A Java `short`: two bytes.
    #[inline]
    pub fn put_short(&mut self, value: i16) {
        self.put_bytes(&value.to_le_bytes());
    }

    /// A Java `char`, one UTF-16 code unit: two bytes.
    #[inline]
    pub fn put_char(&mut self, unit: u16) {
        self.put_bytes(&unit.to_le_bytes());
    }

    /// A Java `int`: four bytes.
    #[inline]
    pub fn put_int(&mut self, value: i32) {
        self.put_bytes(&value.to_le_bytes());
    }

    /// A Java `long`: eight bytes.
    #[inline]
    pub fn put_long(&mut self, value: i64) {
        self.put_bytes(&value.to_le_bytes());
    }

    /// A Java `float`: the four bytes of its bits.
    #[inline]
    pub fn put_float(&mut self, value: f32) {
        self.put_bytes(&value.to_le_bytes());
    }

    /// A Java `double`: the eight bytes of its bits.
    #[inline]
    pub fn put_double(&mut self, value: f64) {
        self.put_bytes(&value.to_le_bytes());
    }

    /// Java's `putUnencodedChars`: each UTF-16 code unit as two bytes, lone surrogates too.
    #[inline]
    pub fn put_unencoded_chars<T: CodeUnits + ?Sized>(&mut self, text: &T) {
        text.code_units().for_each(|unit| self.put_char(unit));
    }

    /// Java's `putString(…, UTF_8)`: the text's UTF-8, where a lone surrogate becomes one `?`.
    #[inline]
    pub fn put_utf8<T: CodeUnits + ?Sized>(&mut self, text: &T) {
        for character in char::decode_utf16(text.code_units()) {
            self.put_bytes(character.unwrap_or('?').encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    /// MurmurHash3 `x64_128`, seed 0, of all that was put.
    #[inline]
    #[must_use]
    pub fn finish(&self) -> [u64; 2] {
        let rest = u128::from_le_bytes(self.waiting) & ((1 << (8 * self.waiting_count())) - 1);
        #[allow(clippy::cast_possible_truncation, reason = "the two halves are what is wanted")]
        let words = [rest as u64, (rest >> 64) as u64];
        self.state.finish(words, self.length)
    }

    #[inline]
    const fn waiting_count(&self) -> usize {
        (self.length % 16) as usize
    }
}

impl Default for Sink {
    fn default() -> Self {
        Self::new()
    }
}

/// Text as Java has it: UTF-16 code units, in which surrogates need not come in pairs.
pub trait CodeUnits {
    /// The code units.
    fn code_units(&self) -> impl Iterator<Item = u16>;
}

macro_rules! code_units {
    ($($text:ty => |$self:ident| $units:expr),* $(,)?) => {$(
        impl CodeUnits for $text {
            #[inline]
            fn code_units(&$self) -> impl Iterator<Item = u16> {
                $units
            }
        }
    )*};
}

code_units! {
    str => |self| self.encode_utf16(),
    String => |self| self.encode_utf16(),
    [u16] => |self| self.iter().copied(),
    Vec<u16> => |self| self.iter().copied(),
}

impl<T: CodeUnits + ?Sized> CodeUnits for &T {
    #[inline]
    fn code_units(&self) -> impl Iterator<Item = u16> {
        T::code_units(self)
    }
}

/// Text that Guava's `unencodedCharsFunnel` hashed: its UTF-16 code units, two bytes each.
///
/// ```
/// use mayhap::formats::guava::{Funnel, UnencodedChars};
///
/// assert_eq!(UnencodedChars("é").murmur3_128(), [0xe9u8, 0x00].murmur3_128());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct UnencodedChars<T>(pub T);

impl<T: CodeUnits> Funnel for UnencodedChars<T> {
    #[inline]
    fn funnel(&self, into: &mut Sink) {
        into.put_unencoded_chars(&self.0);
    }
}

/// UTF-16 that Guava's `stringFunnel(UTF_8)` hashed: as UTF-8, where a lone surrogate becomes one `?`.
///
/// Rust's own text has no lone surrogates and needs no wrapper: a `str` is this already.
///
/// ```
/// use mayhap::formats::guava::{Funnel, Utf8Chars};
///
/// assert_eq!(Utf8Chars(&[0xd83d, 0x0061][..]).murmur3_128(), "?a".murmur3_128());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Utf8Chars<T>(pub T);

impl<T: CodeUnits> Funnel for Utf8Chars<T> {
    #[inline]
    fn funnel(&self, into: &mut Sink) {
        into.put_utf8(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Recorded from Guava 31.1: the same calls on `Hashing.murmur3_128().newHasher()`, and `hash().asBytes()`.
    #[test]
    fn every_put_is_that_of_guavas_hasher() {
        let mut sink = Sink::new();
        sink.put_int(-7);
        sink.put_unencoded_chars("Ada 😀 é");
        sink.put_short(1815);
        sink.put_byte(0xff);
        sink.put_boolean(true);
        sink.put_char(0x6f22);
        sink.put_long(i64::MIN);
        sink.put_float(-0.5);
        sink.put_double(core::f64::consts::PI);
        let text: Vec<u16> = "hé 😀 ".encode_utf16().chain([0xd83d]).collect();
        sink.put_utf8(&text);
        sink.put_bytes(&[1, 2, 3]);
        let expected = [0x38e8_b63e_38b8_2d12_u64, 0x17ad_893b_0d16_a971].map(u64::swap_bytes);
        assert_eq!(sink.finish(), expected);
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(pieces: Vec<Vec<u8>>) {
            let mut sink = Sink::default();
            for piece in &pieces {
                sink.put_bytes(piece);
            }
            prop_assert_eq!(sink.finish(), murmur3_128(&pieces.concat(), 0));
        }

        #[test]
        fn text_is_its_utf_8_and_its_utf_16(text: String) {
            prop_assert_eq!(Utf8Chars(&text).murmur3_128(), text.murmur3_128());
            let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            prop_assert_eq!(UnencodedChars(&text).murmur3_128(), units.murmur3_128());
        }
    }
}
