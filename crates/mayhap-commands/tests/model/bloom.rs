//! RedisBloom's Bloom filter: a chain of links, each with half the rate of the one before.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the filters of this test are small"
)]
#![allow(clippy::approx_constant, reason = "RedisBloom has these fifteen digits, and no more")]

use super::murmur;

/// The links, the oldest first.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    links: Vec<Link>,
    growth: u32,
    scales: bool,
}

#[derive(Clone, Debug)]
struct Link {
    bytes: Vec<u8>,
    error: f64,
    bits_per_entry: f64,
    hashes: u32,
    entries: u64,
    size: u64,
}

/// The filter doesn't grow, and has all it was made for.
#[derive(Debug)]
pub(crate) struct Full;

impl Chain {
    pub(crate) fn new(error: f64, capacity: u64, growth: u32, scales: bool) -> Self {
        let scales = scales && growth > 0;
        let error = if error > 0.25 { 0.25 } else { error };
        let first = Link::new(if scales { error * 0.5 } else { error }, capacity);
        Self { links: vec![first], growth, scales }
    }

    pub(crate) fn has(&self, item: &[u8]) -> bool {
        self.links.iter().any(|link| link.has(item))
    }

    pub(crate) fn add(&mut self, item: &[u8]) -> Result<bool, Full> {
        if self.has(item) {
            return Ok(false);
        }
        let newest = self.links.last().unwrap();
        if newest.size >= newest.entries {
            if !self.scales {
                return Err(Full);
            }
            let next = Link::new(newest.error * 0.5, newest.entries * u64::from(self.growth));
            self.links.push(next);
        }
        self.links.last_mut().unwrap().add(item);
        Ok(true)
    }

    pub(crate) fn items(&self) -> u64 {
        self.links.iter().map(|link| link.size).sum()
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.links.iter().map(|link| link.entries).sum()
    }

    pub(crate) fn memory(&self) -> u64 {
        32 + self.links.iter().map(|link| 64 + link.bytes.len() as u64).sum::<u64>()
    }

    pub(crate) fn links(&self) -> u64 {
        self.links.len() as u64
    }

    /// Nothing for a filter that doesn't grow.
    pub(crate) fn expansion(&self) -> Option<u32> {
        self.scales.then_some(self.growth)
    }

    /// The lines of `BF.DEBUG`.
    pub(crate) fn debug(&self) -> Vec<String> {
        let mut lines = vec![format!("size:{}", self.items())];
        for link in &self.links {
            let Link { bytes, error, hashes, entries, size, .. } = link;
            let ratio = six_digits(*error);
            let (bytes, bits) = (bytes.len(), bytes.len() * 8);
            lines.push(format!(
                "bytes:{bytes} bits:{bits} hashes:{hashes} hashwidth:64 capacity:{entries} size:{size} ratio:{ratio}"
            ));
        }
        lines
    }

    /// One step of `BF.SCANDUMP`: the next iterator, and the bytes.
    pub(crate) fn scan_dump(&self, iterator: i64) -> (i64, Vec<u8>) {
        if iterator == 0 {
            return (1, self.header());
        }
        let mut start = 1;
        for link in &self.links {
            let end = start + link.bytes.len() as i64;
            if (start..end).contains(&iterator) {
                return (end, link.bytes[(iterator - start) as usize..].to_vec());
            }
            start = end;
        }
        (0, Vec::new())
    }

    fn header(&self) -> Vec<u8> {
        let mut header = Vec::new();
        header.extend(self.items().to_le_bytes());
        header.extend((self.links.len() as u32).to_le_bytes());
        header.extend(if self.scales { 5_u32 } else { 13 }.to_le_bytes());
        header.extend(self.growth.to_le_bytes());
        for link in &self.links {
            let bytes = link.bytes.len() as u64;
            header.extend(bytes.to_le_bytes());
            header.extend((bytes * 8).to_le_bytes());
            header.extend(link.size.to_le_bytes());
            header.extend(link.error.to_le_bytes());
            header.extend(link.bits_per_entry.to_le_bytes());
            header.extend(link.hashes.to_le_bytes());
            header.extend(link.entries.to_le_bytes());
            header.push(0);
        }
        header
    }
}

impl Link {
    fn new(error: f64, entries: u64) -> Self {
        let bits_per_entry = (error.ln() / 0.480_453_013_918_201).abs();
        let bits = ((entries as f64 * bits_per_entry) as u64).max(1);
        let bytes = vec![0; bits.div_ceil(64) as usize * 8];
        let hashes = (0.693_147_180_559_945 * bits_per_entry).ceil() as u32;
        Self { bytes, error, bits_per_entry, hashes, entries, size: 0 }
    }

    fn positions(&self, item: &[u8]) -> impl Iterator<Item = u64> + use<> {
        let a = murmur::hash(item, 0xc6a4_a793_5bd1_e995);
        let b = murmur::hash(item, a);
        let bits = self.bytes.len() as u64 * 8;
        (0..u64::from(self.hashes)).map(move |i| a.wrapping_add(i.wrapping_mul(b)) % bits)
    }

    fn has(&self, item: &[u8]) -> bool {
        self.positions(item).all(|bit| self.bytes[(bit / 8) as usize] & (1 << (bit % 8)) != 0)
    }

    fn add(&mut self, item: &[u8]) {
        for bit in self.positions(item) {
            self.bytes[(bit / 8) as usize] |= 1 << (bit % 8);
        }
        self.size += 1;
    }
}

/// As C's `%g` prints it.
fn six_digits(number: f64) -> String {
    let text = format!("{number:.5e}");
    let (digits, exponent) = text.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    let without_zeros = |text: &str| text.trim_end_matches('0').trim_end_matches('.').to_owned();
    if (-4..6).contains(&exponent) {
        without_zeros(&format!("{number:.*}", (5 - exponent) as usize))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", without_zeros(digits), exponent.abs())
    }
}
