//! Bytes of another program, read from the front.

use crate::codec::FormatError;

/// What is left to read. Nothing beyond the end is ever looked at.
#[derive(Clone, Debug)]
pub(crate) struct Input<'a> {
    rest: &'a [u8],
    taken: u64,
}

impl<'a> Input<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, taken: 0 }
    }

    /// How far reading has come.
    pub(crate) const fn position(&self) -> u64 {
        self.taken
    }

    /// What has not been read.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `count` bytes.
    pub(crate) fn take(&mut self, count: u64) -> Result<&'a [u8], FormatError> {
        let taken = usize::try_from(count)
            .ok()
            .and_then(|count| self.rest.split_at_checked(count))
            .ok_or_else(|| FormatError::Truncated {
                needed: self.taken.saturating_add(count),
                got: self.taken + self.rest.len() as u64,
            })?;
        self.rest = taken.1;
        self.taken += count;
        Ok(taken.0)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], FormatError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, FormatError> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn i32_be(&mut self) -> Result<i32, FormatError> {
        self.array().map(i32::from_be_bytes)
    }

    pub(crate) fn u16_le(&mut self) -> Result<u16, FormatError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32_le(&mut self) -> Result<u32, FormatError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u32_be(&mut self) -> Result<u32, FormatError> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64_le(&mut self) -> Result<u64, FormatError> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn u64_be(&mut self) -> Result<u64, FormatError> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn f64_le(&mut self) -> Result<f64, FormatError> {
        self.array().map(f64::from_le_bytes)
    }

    /// A number in groups of seven bits, the lowest first, each byte but the last with its highest bit set.
    pub(crate) fn varint(&mut self) -> Result<u64, FormatError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let group = u64::from(byte & 0x7f);
            if group << shift >> shift != group {
                break;
            }
            number |= group << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        let must_be = "a number of at most 64 bits";
        Err(FormatError::BadField { field: "varint", value: number, must_be })
    }

    /// Refuses bytes after the end.
    pub(crate) fn finish(self) -> Result<(), FormatError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(FormatError::TrailingBytes { file_length: self.taken })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_order_and_the_end_is_noticed() {
        let mut input = Input::new(&[1, 2, 0, 0, 0, 0, 0, 3, 0xac, 0x02, 9]);
        assert_eq!(input.u8(), Ok(1));
        assert_eq!(input.u16_le(), Ok(2));
        assert_eq!(input.u8(), Ok(0));
        assert_eq!(input.i32_be(), Ok(3));
        assert_eq!(input.varint(), Ok(300));
        assert_eq!(input.position(), 10);
        assert_eq!(input.u32_le(), Err(FormatError::Truncated { needed: 14, got: 11 }));
        assert_eq!(input.take(u64::MAX), Err(FormatError::Truncated { needed: u64::MAX, got: 11 }));
        assert_eq!(input.rest(), [9], "a failed read takes nothing");
        assert_eq!(input.finish(), Err(FormatError::TrailingBytes { file_length: 10 }));
    }

    #[test]
    fn a_varint_of_more_than_64_bits_is_refused() {
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Input::new(&most).varint(), Ok(u64::MAX));
        let mut beyond = most;
        beyond[9] = 0x02;
        assert!(matches!(Input::new(&beyond).varint(), Err(FormatError::BadField { .. })));
        assert!(matches!(Input::new(&[0x80; 12]).varint(), Err(FormatError::BadField { .. })));
        assert!(matches!(Input::new(&[0x80; 3]).varint(), Err(FormatError::Truncated { .. })));
    }
}
