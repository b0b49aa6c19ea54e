//! What can be a key.

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::bits::prefetch_address;

/// Something that has bytes to be hashed.
///
/// Keys are bytes, and only bytes: `"apple"`, `String::from("apple")` and `b"apple"` are one key in every program and
/// on every machine. Integers are their little-endian bytes, so `5u32` and `5u64` are different keys. `usize` is not a
/// key, because its size depends on the machine; nor is anything hashed through [`core::hash::Hash`], whose bytes are
/// stable neither across platforms nor across languages.
///
/// ```
/// use mayhap::{BloomFilter, Key};
///
/// struct Order { shop: u32, number: u64 }
///
/// impl Key for Order {
///     type Bytes<'a> = [u8; 12];
///     fn key_bytes(&self) -> [u8; 12] {
///         let mut bytes = [0; 12];
///         bytes[..4].copy_from_slice(&self.shop.to_le_bytes());
///         bytes[4..].copy_from_slice(&self.number.to_le_bytes());
///         bytes
///     }
/// }
///
/// let mut orders = BloomFilter::with_rate(1_000_000, 0.001)?;
/// orders.insert(&Order { shop: 7, number: 99 });
/// assert!(orders.contains(&Order { shop: 7, number: 99 }));
/// # Ok::<(), mayhap::Error>(())
/// ```
pub trait Key {
    /// The bytes: borrowed where the key holds them, an array where they are computed.
    type Bytes<'a>: AsRef<[u8]>
    where
        Self: 'a;

    /// The bytes that are the key. Equal keys must give equal bytes.
    fn key_bytes(&self) -> Self::Bytes<'_>;
}

/// Whether the bytes of a key lie in memory, and not in something that [`Key::key_bytes`] makes: an array, told by its
/// alignment, or a vector, which must be dropped. An array's length is known to the compiler, which leaves little of its
/// hash; a vector is too dear to be made twice.
#[inline(always)]
pub(crate) const fn holds_its_bytes<K: Key + ?Sized>() -> bool {
    align_of::<K::Bytes<'_>>() > align_of::<u8>() && !core::mem::needs_drop::<K::Bytes<'_>>()
}

/// Starts loading the bytes of keys that hold them. Between the two ends of a long one a CPU goes on by itself.
#[inline(always)]
pub(crate) fn prefetch_keys<'a, K: Key + 'a>(keys: impl Iterator<Item = &'a K>) {
    if !holds_its_bytes::<K>() {
        return;
    }
    for key in keys {
        let bytes = key.key_bytes();
        let ends = bytes.as_ref().as_ptr_range();
        prefetch_address(ends.start);
        prefetch_address(ends.end.wrapping_sub(1));
    }
}

/// A key of eight bytes that it doesn't hold, as a number whose lowest byte is the first: an integer of 64 bits, which is
/// that number.
#[inline(always)]
pub(crate) fn eight_made_bytes<K: Key + ?Sized>(key: &K) -> Option<u64> {
    if holds_its_bytes::<K>() {
        return None;
    }
    key.key_bytes().as_ref().try_into().ok().map(u64::from_le_bytes)
}

macro_rules! borrowed_key {
    ($($type:ty => $bytes:expr),* $(,)?) => {$(
        impl Key for $type {
            type Bytes<'a> = &'a [u8];
            #[inline(always)]
            fn key_bytes(&self) -> &[u8] {
                let bytes: fn(&Self) -> &[u8] = $bytes;
                bytes(self)
            }
        }
    )*};
}

borrowed_key! {
    [u8] => |key| key,
    str => |key| key.as_bytes(),
    String => |key| key.as_bytes(),
    Vec<u8> => |key| key,
}

impl<const N: usize> Key for [u8; N] {
    type Bytes<'a> = &'a [u8; N];
    #[inline(always)]
    fn key_bytes(&self) -> &[u8; N] {
        self
    }
}

macro_rules! integer_key {
    ($($type:ty),*) => {$(
        impl Key for $type {
            type Bytes<'a> = [u8; size_of::<$type>()];
            #[inline(always)]
            fn key_bytes(&self) -> Self::Bytes<'_> {
                self.to_le_bytes()
            }
        }
    )*};
}

integer_key!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);

macro_rules! pointer_key {
    ($($pointer:ty),*) => {$(
        impl<K: Key + ?Sized> Key for $pointer {
            type Bytes<'a> = K::Bytes<'a> where Self: 'a;
            #[inline(always)]
            fn key_bytes(&self) -> K::Bytes<'_> {
                K::key_bytes(self)
            }
        }
    )*};
}

pointer_key!(&K, Box<K>, Rc<K>, Arc<K>);

impl<K: Key + ToOwned + ?Sized> Key for Cow<'_, K> {
    type Bytes<'a>
        = K::Bytes<'a>
    where
        Self: 'a;
    #[inline(always)]
    fn key_bytes(&self) -> K::Bytes<'_> {
        K::key_bytes(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<K: Key + ?Sized>(key: &K) -> Vec<u8> {
        key.key_bytes().as_ref().to_vec()
    }

    #[test]
    fn one_text_is_one_key_however_it_is_held() {
        let expected = b"apple".to_vec();
        assert_eq!(bytes("apple"), expected);
        assert_eq!(bytes(&String::from("apple")), expected);
        assert_eq!(bytes(b"apple"), expected);
        assert_eq!(bytes(&b"apple"[..]), expected);
        assert_eq!(bytes(&expected.clone()), expected);
        assert_eq!(bytes(&Arc::<str>::from("apple")), expected);
        assert_eq!(bytes(&Box::<str>::from("apple")), expected);
        assert_eq!(bytes(&Cow::Borrowed("apple")), expected);
    }

    struct Hexadecimal(u64);

    impl Key for Hexadecimal {
        type Bytes<'a> = String;
        fn key_bytes(&self) -> String {
            std::format!("{:x}", self.0)
        }
    }

    #[test]
    fn a_key_may_make_a_text_of_itself() {
        assert_eq!(bytes(&Hexadecimal(255)), b"ff");
    }

    #[test]
    fn integers_make_their_bytes_and_texts_hold_them() {
        assert!(holds_its_bytes::<str>() && holds_its_bytes::<&String>() && holds_its_bytes::<[u8; 3]>());
        assert!(!holds_its_bytes::<u8>() && !holds_its_bytes::<&u64>() && !holds_its_bytes::<i128>());
        assert!(!holds_its_bytes::<Hexadecimal>());
    }

    #[test]
    fn an_integer_of_64_bits_is_its_eight_bytes() {
        assert_eq!(eight_made_bytes(&7u64), Some(7));
        assert_eq!(eight_made_bytes(&&-1i64), Some(u64::MAX));
        assert!(eight_made_bytes(&7u32).is_none() && eight_made_bytes("12345678").is_none());
    }

    #[test]
    fn integers_are_little_endian() {
        assert_eq!(bytes(&0x0102_0304_u32), [4, 3, 2, 1]);
        assert_eq!(bytes(&-1i16), [0xff, 0xff]);
        assert_eq!(bytes(&1u128).len(), 16);
    }
}
