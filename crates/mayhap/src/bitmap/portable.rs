//! The sparse form as bytes: the portable format of the Roaring bitmaps, which implementations in many languages read.
//!
//! ```text
//! u64  number of maps                                              all integers little-endian
//! then for each map, by ascending key:
//!   u32  key: the upper 32 bits of its numbers
//!   u32  12346, then u32 the number of containers c                          if no container is a list of runs
//!   u32  12347 | (c - 1) << 16, then ⌈c / 8⌉ bytes: bit i, container i is     if some are
//!   c ×  u16 key (the next 16 bits), u16 numbers in it - 1
//!   c ×  u32 where the container starts, from the map's cookie on            but for c < 4 with runs
//!   c ×  array   its numbers' lower 16 bits, ascending: u16 each             up to 4096 numbers
//!        bitmap  8192 bytes, bit i mod 8 of byte ⌊i / 8⌋                      more than 4096
//!        runs    u16 how many, then for each u16 first, u16 last - first
//! ```
//!
//! `roaring` writes and reads this too, but only with `std`, and it takes what it reads for what it seems: keys twice or
//! out of order, a count of numbers that the runs contradict, offsets that point nowhere. Here a set has exactly one
//! sequence of bytes (each container in its smallest shape; runs only where they are smaller), which is what `roaring`
//! writes after `optimize`; and everything that is read is compared with everything else, before anything is built.

use alloc::vec::Vec;

use roaring::{RoaringBitmap, RoaringTreemap};

use crate::codec::FormatError;
use crate::sizing::bitmap::CONTAINER_BITMAP_BYTES;

const COOKIE: u32 = 12346;
const COOKIE_WITH_RUNS: u32 = 12347;
/// Up to this many numbers are an array.
const ARRAY_LIMIT: u64 = 4096;
/// With fewer containers than this, some of them runs, there are no offsets.
const OFFSETS_FROM: usize = 4;
/// Bytes handed over at once, about.
const PIECE: usize = 64 << 10;
/// Containers in a map.
const MAX_CONTAINERS: usize = 1 << 16;

/// What a container is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// Of so many numbers.
    Array(u64),
    Bitmap,
    /// So many.
    Runs(u64),
}

impl Shape {
    /// The smallest for so many numbers in so many runs.
    pub(super) fn of(numbers: u64, runs: u64) -> Self {
        let plain = if numbers <= ARRAY_LIMIT { Self::Array(numbers) } else { Self::Bitmap };
        if Self::Runs(runs).bytes() < plain.bytes() { Self::Runs(runs) } else { plain }
    }

    pub(super) fn bytes(self) -> u64 {
        match self {
            Self::Array(numbers) => 2 * numbers,
            Self::Bitmap => CONTAINER_BITMAP_BYTES,
            Self::Runs(runs) => 2 + 4 * runs,
        }
    }
}

/// First and last, in a container.
type Run = (u16, u16);

/// A container, before its numbers.
struct Description {
    key: u16,
    /// 1 to 65536.
    numbers: u64,
    shape: Shape,
}

/// How many bytes [`write`] writes.
pub(super) fn length(maps: &RoaringTreemap) -> u64 {
    let map_length = |map| {
        let containers = describe(map);
        4 + header_length(&containers)
            + containers.iter().map(|container| container.shape.bytes()).sum::<u64>()
    };
    8 + filled(maps).map(|(_, map)| map_length(map)).sum::<u64>()
}

/// Writes the maps, piece by piece.
pub(super) fn write<E>(maps: &RoaringTreemap, mut put: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    let mut buffer = Vec::new();
    buffer.extend((filled(maps).count() as u64).to_le_bytes());
    let mut result = Ok(());
    for (key, map) in filled(maps) {
        let containers = describe(map);
        buffer.extend(key.to_le_bytes());
        write_header(&containers, &mut buffer);
        let mut shapes = containers.iter().map(|container| container.shape);
        each_container(map, |_, runs| {
            let (Ok(()), Some(shape)) = (&result, shapes.next()) else { return };
            write_container(shape, runs, &mut buffer);
            if buffer.len() >= PIECE {
                result = put(&buffer);
                buffer.clear();
            }
        });
    }
    result?;
    put(&buffer)
}

/// The maps that have numbers, which should be all.
fn filled(maps: &RoaringTreemap) -> impl Iterator<Item = (u32, &RoaringBitmap)> {
    maps.bitmaps().filter(|(_, map)| !map.is_empty())
}

/// The containers of a map, in their smallest shapes.
fn describe(map: &RoaringBitmap) -> Vec<Description> {
    let mut containers = Vec::new();
    each_container(map, |key, runs| {
        let numbers = runs.iter().map(|(first, last)| u64::from(last - first) + 1).sum();
        containers.push(Description { key, numbers, shape: Shape::of(numbers, runs.len() as u64) });
    });
    containers
}

/// Shows the runs of each container, in order.
fn each_container(map: &RoaringBitmap, mut show: impl FnMut(u16, &[Run])) {
    let mut runs: Vec<Run> = Vec::new();
    let mut current = 0;
    let mut numbers = map.iter();
    while let Some(run) = numbers.next_range() {
        let ((first_key, first), (last_key, last)) = (split(*run.start()), split(*run.end()));
        // A run may cross containers.
        for key in first_key..=last_key {
            if key != current && !runs.is_empty() {
                show(current, &runs);
                runs.clear();
            }
            current = key;
            let first = if key == first_key { first } else { 0 };
            let last = if key == last_key { last } else { u16::MAX };
            runs.push((first, last));
        }
    }
    if !runs.is_empty() {
        show(current, &runs);
    }
}

fn has_runs(containers: &[Description]) -> bool {
    containers.iter().any(|container| matches!(container.shape, Shape::Runs(_)))
}

fn has_offsets(containers: usize, with_runs: bool) -> bool {
    !with_runs || containers >= OFFSETS_FROM
}

/// Cookie, number of containers, descriptions and offsets.
fn header_length(containers: &[Description]) -> u64 {
    let (count, with_runs) = (containers.len() as u64, has_runs(containers));
    let start = if with_runs { 4 + count.div_ceil(8) } else { 8 };
    start + 4 * count + if has_offsets(containers.len(), with_runs) { 4 * count } else { 0 }
}

#[allow(clippy::cast_possible_truncation, reason = "a map has at most 2¹⁶ containers and 2²⁹ bytes of them")]
fn write_header(containers: &[Description], buffer: &mut Vec<u8>) {
    let (count, with_runs) = (containers.len() as u32, has_runs(containers));
    if with_runs {
        buffer.extend((COOKIE_WITH_RUNS | (count - 1) << 16).to_le_bytes());
        for eight in containers.chunks(8) {
            let bit = |(i, container): (usize, &Description)| {
                u8::from(matches!(container.shape, Shape::Runs(_))) << i
            };
            buffer.push(eight.iter().enumerate().map(bit).sum());
        }
    } else {
        buffer.extend(COOKIE.to_le_bytes());
        buffer.extend(count.to_le_bytes());
    }
    for container in containers {
        buffer.extend(container.key.to_le_bytes());
        buffer.extend(((container.numbers - 1) as u16).to_le_bytes());
    }
    if has_offsets(containers.len(), with_runs) {
        let mut offset = header_length(containers);
        for container in containers {
            buffer.extend((offset as u32).to_le_bytes());
            offset += container.shape.bytes();
        }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "a container has at most 2¹⁵ runs")]
fn write_container(shape: Shape, runs: &[Run], buffer: &mut Vec<u8>) {
    match shape {
        Shape::Array(_) => {
            for number in runs.iter().flat_map(|(first, last)| *first..=*last) {
                buffer.extend(number.to_le_bytes());
            }
        }
        Shape::Bitmap => {
            let start = buffer.len();
            buffer.resize(start + CONTAINER_BITMAP_BYTES as usize, 0);
            for number in runs.iter().flat_map(|(first, last)| *first..=*last).map(usize::from) {
                buffer[start + number / 8] |= 1 << (number % 8);
            }
        }
        Shape::Runs(count) => {
            buffer.extend((count as u16).to_le_bytes());
            for (first, last) in runs {
                buffer.extend(first.to_le_bytes());
                buffer.extend((last - first).to_le_bytes());
            }
        }
    }
}

/// Reads the maps, and how many numbers there are in all.
///
/// Memory is taken for what has been read only, container by container. A container of few numbers takes several times
/// its bytes.
pub(super) fn read(bytes: &[u8]) -> Result<(RoaringTreemap, u64), FormatError> {
    let mut input = Input { bytes, read: 0 };
    let count = input.u64()?;
    // First a list: maps added to a tree one by one would be counted each time.
    let mut found = Vec::new();
    let (mut last_key, mut numbers) = (None, 0);
    for _ in 0..count {
        let key = input.u32()?;
        if last_key.replace(key).is_some_and(|last| key <= last) {
            return Err(bad("sparse body: map key", u64::from(key), "above the one before"));
        }
        let (map, len) = read_map(&mut input)?;
        numbers += len;
        found.push((key, map));
    }
    if input.read != bytes.len() {
        return Err(bad("sparse body", count, "as long as its maps, without bytes behind them"));
    }
    Ok((RoaringTreemap::from_bitmaps(found), numbers))
}

fn read_map(input: &mut Input<'_>) -> Result<(RoaringBitmap, u64), FormatError> {
    let start = input.read;
    let cookie = input.u32()?;
    let (count, runs) = if cookie & 0xffff == COOKIE_WITH_RUNS {
        let count = (cookie >> 16) as usize + 1;
        (count, Some(input.take(count.div_ceil(8))?))
    } else if cookie == COOKIE {
        (input.u32()? as usize, None)
    } else {
        return Err(bad("sparse body: cookie", u64::from(cookie), "that of a map"));
    };
    if !(1..=MAX_CONTAINERS).contains(&count) {
        return Err(bad("sparse body: containers", count as u64, "1 to 65536"));
    }
    let is_runs = |i: usize| runs.is_some_and(|bits| bits[i / 8] >> (i % 8) & 1 != 0);
    if let Some(bits) = runs
        && (count..bits.len() * 8).any(is_runs)
    {
        return Err(bad("sparse body: containers", count as u64, "as many as are marked to be runs"));
    }
    let descriptions = input.take(count * 4)?;
    let offsets = if has_offsets(count, runs.is_some()) { Some(input.take(count * 4)?) } else { None };

    let mut map = RoaringBitmap::new();
    let (mut last_key, mut total) = (None, 0);
    for (i, description) in descriptions.chunks_exact(4).enumerate() {
        let key = u16::from_le_bytes([description[0], description[1]]);
        let numbers = u64::from(u16::from_le_bytes([description[2], description[3]])) + 1;
        if last_key.replace(key).is_some_and(|last| key <= last) {
            return Err(bad("sparse body: container key", u64::from(key), "above the one before"));
        }
        if let Some(offset) = offsets.and_then(|offsets| offsets.get(4 * i..)?.first_chunk::<4>()) {
            let offset = u64::from(u32::from_le_bytes(*offset));
            if offset != (input.read - start) as u64 {
                return Err(bad("sparse body: container offset", offset, "where the container is"));
            }
        }
        let container = if is_runs(i) {
            read_runs(input, key, numbers)?
        } else if numbers <= ARRAY_LIMIT {
            read_array(input, key, numbers)?
        } else {
            read_bitmap(input, key, numbers)?
        };
        // By reference: by value the two would be compared by length, which counts all of both.
        map |= &container;
        total += numbers;
    }
    Ok((map, total))
}

#[allow(clippy::cast_possible_truncation, reason = "at most 4096 numbers")]
fn read_array(input: &mut Input<'_>, key: u16, numbers: u64) -> Result<RoaringBitmap, FormatError> {
    let bytes = input.take(2 * numbers as usize)?;
    let values = bytes.chunks_exact(2).map(|bytes| join(key, u16::from_le_bytes([bytes[0], bytes[1]])));
    RoaringBitmap::from_sorted_iter(values)
        .map_err(|error| bad("sparse body: array", error.valid_until(), "ascending"))
}

#[allow(clippy::cast_possible_truncation, reason = "a constant")]
fn read_bitmap(input: &mut Input<'_>, key: u16, numbers: u64) -> Result<RoaringBitmap, FormatError> {
    let bytes = input.take(CONTAINER_BITMAP_BYTES as usize)?;
    let set = bytes.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
    if set != numbers {
        return Err(bad("sparse body: numbers of a bitmap", numbers, "as many as it has"));
    }
    Ok(RoaringBitmap::from_lsb0_bytes(join(key, 0), bytes))
}

fn read_runs(input: &mut Input<'_>, key: u16, numbers: u64) -> Result<RoaringBitmap, FormatError> {
    let count = input.u16()?;
    let bytes = input.take(4 * usize::from(count))?;
    let mut container = RoaringBitmap::new();
    let (mut next, mut total) = (0, 0);
    for run in bytes.chunks_exact(4) {
        let first = u32::from(u16::from_le_bytes([run[0], run[1]]));
        let last = first + u32::from(u16::from_le_bytes([run[2], run[3]]));
        // Neighbours would be one run. So the next one starts two behind the end of this, at least.
        if first < next || last > u32::from(u16::MAX) {
            return Err(bad(
                "sparse body: run",
                u64::from(first),
                "behind the one before, with a gap, and end in the container",
            ));
        }
        (next, total) = (last + 2, total + u64::from(last - first) + 1);
        let start = join(key, 0);
        container.insert_range(start + first..=start + last);
    }
    if total != numbers {
        return Err(bad("sparse body: numbers in runs", numbers, "as many as the runs have"));
    }
    // As small as its bytes were, or smaller.
    container.optimize();
    Ok(container)
}

/// What is left to read.
struct Input<'a> {
    bytes: &'a [u8],
    read: usize,
}

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], FormatError> {
        let end = self.read.checked_add(length);
        let taken = end.and_then(|end| self.bytes.get(self.read..end)).ok_or(bad(
            "sparse body",
            self.bytes.len() as u64,
            "long enough for its containers",
        ))?;
        self.read += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], FormatError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u16(&mut self) -> Result<u16, FormatError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32, FormatError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, FormatError> {
        Ok(u64::from_le_bytes(self.array()?))
    }
}

fn bad(field: &'static str, value: u64, must_be: &'static str) -> FormatError {
    FormatError::BadField { field, value, must_be }
}

/// A container's key, and the number in it.
#[allow(clippy::cast_possible_truncation, reason = "the lower half is what is wanted")]
fn split(number: u32) -> (u16, u16) {
    ((number >> 16) as u16, number as u16)
}

fn join(key: u16, number: u16) -> u32 {
    u32::from(key) << 16 | u32::from(number)
}
