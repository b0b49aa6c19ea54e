//! What is done with one key in the two lines it may be in.

use core::hint::select_unpredictable;

use super::cell::{Cell, Fingerprint};
use super::place::{Geometry, Place};
use super::tags::{Baseline, Compare};
use crate::bits::{Block, Line};
use crate::filter::InsertError;

/// Whether a cell of the place is in use.
#[inline(always)]
pub(super) fn contains<L: Line>(compare: impl Compare, cell: Cell, lines: &[L], place: &Place) -> bool {
    let Fingerprint { tail, .. } = place.fingerprint;
    candidates(compare, cell, lines, place).any(|(line, index)| cell.read(&lines[line], index).tail == tail)
}

/// How many copies the cells of the place count in all.
#[inline(always)]
pub(super) fn count<L: Line>(compare: impl Compare, cell: Cell, lines: &[L], place: &Place) -> u64 {
    let held = candidates(compare, cell, lines, place).map(|(line, index)| cell.read(&lines[line], index));
    held.filter(|held| held.tail == place.fingerprint.tail).map(|held| held.count).sum()
}

/// What adding a key did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// A cell counts one more.
    Raised,
    /// The key took a free cell; `new` if it had none before.
    Took { new: bool },
}

/// Adds a copy. On an error nothing was changed.
#[inline(always)]
pub(super) fn insert(
    compare: impl Compare,
    geometry: &Geometry,
    blocks: &mut [Block],
    place: &Place,
) -> Result<Added, InsertError> {
    let cell = geometry.cell;
    let own = own_cells(compare, cell, blocks, place);
    if let Some((line, index, count)) = own.unsaturated {
        cell.write(&mut blocks[line], index, place.fingerprint, count + 1);
        return Ok(Added::Raised);
    }
    let (left, right) =
        (free(compare, cell, &blocks[place.lines[0]]), free(compare, cell, &blocks[place.lines[1]]));
    // The emptier bucket, and the left one if they are equal: that is the "left" of d-left, and fills better than a
    // coin would.
    let (line, free) = if left.count_ones() >= right.count_ones() { (0, left) } else { (1, right) };
    let (line, index) = match ones(free).next() {
        Some(index) => (place.lines[line], index),
        None => make_room(geometry, blocks, place, own.cells)?,
    };
    cell.write(&mut blocks[line], index, place.fingerprint, 1);
    Ok(Added::Took { new: own.cells == 0 })
}

/// What removing a key did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removed {
    /// The key wasn't there.
    Nothing,
    /// A cell counts one less.
    Lowered,
    /// A cell has become free.
    Freed,
}

/// Takes a copy away.
#[inline(always)]
pub(super) fn remove(compare: impl Compare, cell: Cell, blocks: &mut [Block], place: &Place) -> Removed {
    let Fingerprint { tail, .. } = place.fingerprint;
    for (line, index) in candidates(compare, cell, blocks, place) {
        let held = cell.read(&blocks[line], index);
        if held.tail != tail {
            continue;
        }
        if held.count == 1 {
            cell.clear(&mut blocks[line], index, tail);
            return Removed::Freed;
        }
        // Copies, so that the place of every other key can stay in registers.
        let (cell, place) = (cell, *place);
        return lower(&cell, blocks, &place);
    }
    Removed::Nothing
}

/// Takes a copy away of a key that is there and whose first cell counts more than one. Most keys have one copy, and what is
/// done for them stays as short as a question.
#[cold]
fn lower(cell: &Cell, blocks: &mut [Block], place: &Place) -> Removed {
    let mut saturated = None;
    for (line, index) in candidates(Baseline, *cell, blocks, place) {
        let held = cell.read(&blocks[line], index);
        if held.tail != place.fingerprint.tail {
            continue;
        }
        // One that isn't full first: so at most one cell of a key is less than full, and the key takes no more cells than
        // its copies need. Then the candidates that are left don't matter. (A cell that counts one is never full.)
        if held.count == 1 {
            cell.clear(&mut blocks[line], index, held.tail);
            return Removed::Freed;
        }
        if held.count < cell.most() {
            cell.lower(&mut blocks[line], index);
            return Removed::Lowered;
        }
        saturated = Some((line, index));
    }
    match saturated {
        Some((line, index)) => {
            cell.lower(&mut blocks[line], index);
            Removed::Lowered
        }
        None => Removed::Nothing,
    }
}

/// How many cells of a line are in use.
pub(super) fn used_cells(cell: Cell, line: &impl Line) -> u32 {
    (cell.all() & !free(Baseline, cell, line)).count_ones()
}

/// Cells in use, and the copies they count, in one line.
pub(super) fn used(cell: Cell, line: &impl Line) -> (u64, u64) {
    let used = cell.all() & !free(Baseline, cell, line);
    (u64::from(used.count_ones()), ones(used).map(|index| cell.read(line, index).count).sum())
}

/// A line, a cell in it, and its count.
type Found = (usize, u32, u64);

/// The cells of one key.
struct Own {
    /// The one that can count one more: there is one such at most.
    unsaturated: Option<Found>,
    /// How many can't. Nothing is known about them where the other is.
    cells: u64,
}

#[inline(always)]
fn own_cells(compare: impl Compare, cell: Cell, blocks: &[Block], place: &Place) -> Own {
    let mut own = Own { unsaturated: None, cells: 0 };
    for (line, index) in candidates(compare, cell, blocks, place) {
        let held = cell.read(&blocks[line], index);
        if held.tail == place.fingerprint.tail {
            if held.count < cell.most() {
                // The candidates that are left can't change what is done, and whether there are any can't be predicted.
                own.unsaturated = Some((line, index, held.count));
                break;
            }
            own.cells += 1;
        }
    }
    own
}

/// Frees a cell in one of two full buckets by moving what it holds to its other bucket. Nothing moves if no cell of the
/// two can.
///
/// One move, never a chain: with dozens of cells to choose from, one is enough up to 99 % of all cells, and it is what
/// keeps a filter usable whose keys come and go. (Removals leave the buckets less even than filling did.)
#[cold]
fn make_room(
    geometry: &Geometry,
    blocks: &mut [Block],
    place: &Place,
    own_cells: u64,
) -> Result<(usize, u32), InsertError> {
    let cell = geometry.cell;
    for line in place.lines {
        for index in ones(cell.all()) {
            let held = cell.read(&blocks[line], index);
            let fingerprint = Fingerprint { tag: cell.tag(&blocks[line], index), tail: held.tail };
            let other = geometry.other_line(line, fingerprint);
            if let Some(free) = ones(free(Baseline, cell, &blocks[other])).next() {
                cell.write(&mut blocks[other], free, fingerprint, held.count);
                return Ok((line, index));
            }
        }
    }
    // More than half of the two buckets is its own: a larger filter would be as full for this key, though a few cells of
    // others may be among them that can't move. All of its own count as much as they can.
    if own_cells > cell.per_bucket() {
        return Err(InsertError::TooManyCopies { limit: own_cells * cell.most() });
    }
    Err(InsertError::Full)
}

/// The free cells of a bucket.
#[inline(always)]
fn free(compare: impl Compare, cell: Cell, line: &impl Line) -> u64 {
    compare.equal(line, 0) & cell.all()
}

/// The cells with the tag of a place, as line and number: left ones first. All cells of the key are among them, and one
/// other in four or five questions.
///
/// Both lines are compared before a cell of either is looked at: waiting for the first before asking for the second would
/// take two trips to memory, not one. And both are gone through in one loop, which most often runs once or not at all:
/// with a loop for each, a branch would have to guess in which of the two a key is.
#[inline(always)]
fn candidates<T: Compare, L: Line>(
    compare: T,
    cell: Cell,
    lines: &[L],
    place: &Place,
) -> impl Iterator<Item = (usize, u32)> + use<T, L> {
    let [left, right] = place.lines;
    let mut in_left = compare.equal(&lines[left], place.fingerprint.tag) & cell.all();
    let mut in_right = compare.equal(&lines[right], place.fingerprint.tag) & cell.all();
    core::iter::from_fn(move || {
        if in_left | in_right == 0 {
            return None;
        }
        // Chosen without a branch: which of the two it is can't be predicted.
        let is_left = in_left != 0;
        let line = select_unpredictable(is_left, left, right);
        let index = select_unpredictable(is_left, in_left, in_right).trailing_zeros();
        // The lowest bit that is set goes: of the left while it has one, then of the right.
        in_right &= select_unpredictable(is_left, in_right, in_right.wrapping_sub(1));
        in_left &= in_left.wrapping_sub(1);
        Some((line, index))
    })
}

/// The numbers of the bits that are set, lowest first.
#[inline(always)]
fn ones(mut mask: u64) -> impl Iterator<Item = u32> {
    core::iter::from_fn(move || {
        let index = mask.trailing_zeros();
        let rest = mask & mask.wrapping_sub(1);
        (mask != 0).then(|| {
            mask = rest;
            index
        })
    })
}
