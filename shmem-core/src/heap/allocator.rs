//! The allocator of one partition's heap.
//!
//! It hands out offsets, and never touches the memory it manages: what it knows stands in ordinary
//! memory of the process, so a stray remote write cannot corrupt it, and a heap that nobody uses
//! costs no pages. It depends on nothing but the calls made, so PEs that make the same calls get
//! the same offsets.
//!
//! Best fit by (bytes, offset), with neighbours merged at once. Every operation costs O(log n) for
//! n pieces. One case costs more: an allocation with a large alignment that would otherwise fail
//! looks at every piece first.

use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};

use super::error::{Block, HeapError, HeapRange, Neighbours};
use crate::memory::ADDRESS_ALIGN;
use crate::text::Text;

/// Every block starts on a multiple of this and fills multiples of it: a cache line, so that
/// objects of different owners never share one.
pub const MIN_ALIGN: usize = 64;

/// The largest alignment: that of the places in which offsets are counted.
pub const MAX_ALIGN: usize = ADDRESS_ALIGN;

/// How many of the tightest pieces are tried for an alignment that not every piece can hold, before
/// a piece is taken that holds it wherever it starts.
const PROBES: usize = 16;

/// A heap in numbers. All are bytes unless they say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// In blocks, each rounded up to [`MIN_ALIGN`].
    pub used: usize,
    /// Not in blocks.
    pub free: usize,
    /// The most that ever was in blocks at the same time.
    pub peak: usize,
    /// The largest piece that is free.
    pub largest_free: usize,
    /// Number of blocks.
    pub blocks: usize,
}

/// What became of a block that was resized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grown {
    /// It starts where it started.
    InPlace,
    /// It starts elsewhere. The caller copies, before anything else is allocated; the old and the
    /// new place may overlap.
    Moved {
        /// Where it starts now.
        offset: usize,
        /// How many bytes to copy: all of the old contents, since only a block that grows moves.
        keep: usize,
    },
}

/// What is known of a block that is in use.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// Bytes it fills.
    room: usize,
    /// Bytes asked.
    bytes: usize,
    align: usize,
}

/// The allocator of one partition's heap.
#[derive(Clone, Debug)]
pub struct Allocator {
    partition: u32,
    name: Text<32>,
    heap: Range<usize>,
    held: BTreeMap<usize, Held>,
    holes: BTreeMap<usize, usize>,
    holes_by_size: BTreeSet<(usize, usize)>,
    used: usize,
    peak: usize,
}

impl Allocator {
    /// An empty heap over these offsets, as far as whole lines of [`MIN_ALIGN`] lie inside. The
    /// partition's ID and name are for messages.
    pub fn new(partition: u32, name: Text<32>, offsets: Range<usize>) -> Self {
        let start = offsets.start.next_multiple_of(MIN_ALIGN);
        let end = (offsets.end - offsets.end % MIN_ALIGN).max(start);
        let mut heap = Self {
            partition,
            name,
            heap: start..end,
            held: BTreeMap::new(),
            holes: BTreeMap::new(),
            holes_by_size: BTreeSet::new(),
            used: 0,
            peak: 0,
        };
        if start < end {
            heap.add_hole(start, end - start);
        }
        heap
    }

    /// Reserves `bytes`, aligned to `align` or [`MIN_ALIGN`], whichever is larger; gives the offset.
    ///
    /// # Errors
    ///
    /// If `bytes` is 0 (whoever allows empty objects decides what they are), `align` is no power of
    /// two or more than [`MAX_ALIGN`], or there is no room.
    pub fn allocate(&mut self, bytes: usize, align: usize) -> Result<usize, HeapError> {
        check(bytes, align)?;
        let found = bytes.checked_next_multiple_of(MIN_ALIGN).and_then(|room| {
            let align = align.max(MIN_ALIGN);
            self.find(room, align).map(|(hole, offset)| (hole, offset, Held { room, bytes, align }))
        });
        let Some((hole, offset, held)) = found else { return Err(self.exhausted(bytes, align)) };
        self.hold(hole, offset, held);
        Ok(offset)
    }

    /// Reserves `bytes` at an offset, for what lay there before this heap was made.
    ///
    /// # Errors
    ///
    /// If `bytes` is 0, `offset` is not a multiple of `align` and of [`MIN_ALIGN`], or not all of it is free.
    pub fn allocate_at(&mut self, offset: usize, bytes: usize, align: usize) -> Result<(), HeapError> {
        check(bytes, align)?;
        let hole = self.hole_around(offset);
        let room = bytes.checked_next_multiple_of(MIN_ALIGN).filter(|room| {
            let end = self.holes.get(&hole).map_or(0, |bytes| hole + bytes);
            offset.is_multiple_of(align.max(MIN_ALIGN))
                && offset >= hole
                && offset.checked_add(*room).is_some_and(|needed| needed <= end)
        });
        let Some(room) = room else {
            return Err(HeapError::NotFree { offset, bytes, name: self.name });
        };
        self.hold(hole, offset, Held { room, bytes, align });
        Ok(())
    }

    /// Gives a block back; gives its bytes, as they were asked for.
    ///
    /// # Errors
    ///
    /// If no block starts at `offset`: it was freed before, or lies inside a block, or outside the
    /// heap.
    pub fn free(&mut self, offset: usize) -> Result<usize, HeapError> {
        let held = self.block("free", offset)?;
        self.release(offset, held);
        Ok(held.bytes)
    }

    /// Resizes a block, in place where it can be, and keeps its alignment.
    ///
    /// # Errors
    ///
    /// As [`allocate`](Self::allocate) and [`free`](Self::free). The block stays as it was.
    pub fn reallocate(&mut self, offset: usize, bytes: usize) -> Result<Grown, HeapError> {
        let old = self.block("realloc", offset)?;
        check(bytes, old.align)?;
        let Some(room) = bytes.checked_next_multiple_of(MIN_ALIGN) else {
            return Err(self.exhausted(bytes, old.align));
        };
        let new = Held { room, bytes, align: old.align };
        let behind = self.holes.get(&(offset + old.room)).copied().unwrap_or(0);
        if room <= old.room + behind {
            self.release(offset, old);
            let hole = self.hole_around(offset);
            self.hold(hole, offset, new);
            return Ok(Grown::InPlace);
        }
        let keep = old.bytes;
        if let Some((hole, to)) = self.find(room, old.align) {
            self.hold(hole, to, new);
            self.release(offset, old);
            return Ok(Grown::Moved { offset: to, keep });
        }
        // Only together with the piece before it is there room: then the places overlap.
        self.release(offset, old);
        if let Some((hole, to)) = self.find(room, old.align) {
            self.hold(hole, to, new);
            return Ok(Grown::Moved { offset: to, keep });
        }
        let hole = self.hole_around(offset);
        self.hold(hole, offset, old);
        Err(self.exhausted(bytes, old.align))
    }

    /// The heap in numbers.
    pub fn usage(&self) -> Usage {
        Usage {
            used: self.used,
            free: self.heap.len() - self.used,
            peak: self.peak,
            largest_free: self.holes_by_size.last().map_or(0, |&(bytes, _)| bytes),
            blocks: self.held.len(),
        }
    }

    /// The heap's place and owner.
    pub fn range(&self) -> HeapRange {
        HeapRange { partition: self.partition, name: self.name, offsets: self.heap.clone() }
    }

    /// Whether the offset lies in the heap, used or not.
    pub fn contains(&self, offset: usize) -> bool {
        self.heap.contains(&offset)
    }

    /// The hole to take, and the offset in it. The tightest hole that fits, for alignments up to
    /// [`MIN_ALIGN`] always and for larger ones among the first [`PROBES`].
    fn find(&self, room: usize, align: usize) -> Option<(usize, usize)> {
        let fit = |&(bytes, hole): &(usize, usize)| {
            let offset = hole.checked_next_multiple_of(align)?;
            (offset - hole <= bytes && room <= bytes - (offset - hole)).then_some((hole, offset))
        };
        let at_least = |bytes: usize| self.holes_by_size.range((bytes, 0)..);
        let tight = at_least(room).take(PROBES).find_map(fit);
        let roomy = || at_least(room.checked_add(align - MIN_ALIGN)?).next().and_then(fit);
        tight.or_else(roomy).or_else(|| at_least(room).find_map(fit))
    }

    fn hold(&mut self, hole: usize, offset: usize, held: Held) {
        let bytes = self.remove_hole(hole);
        let (front, back) = (offset - hole, hole + bytes - (offset + held.room));
        if front > 0 {
            self.add_hole(hole, front);
        }
        if back > 0 {
            self.add_hole(offset + held.room, back);
        }
        self.held.insert(offset, held);
        self.used += held.room;
        self.peak = self.peak.max(self.used);
    }

    fn release(&mut self, offset: usize, held: Held) {
        self.held.remove(&offset);
        self.used -= held.room;
        let (mut start, mut end) = (offset, offset + held.room);
        if let Some((&before, &bytes)) = self.holes.range(..offset).next_back()
            && before + bytes == offset
        {
            self.remove_hole(before);
            start = before;
        }
        if self.holes.contains_key(&end) {
            end += self.remove_hole(end);
        }
        self.add_hole(start, end - start);
    }

    /// The last hole that starts at or before `offset`: the one that holds a block just released there.
    fn hole_around(&self, offset: usize) -> usize {
        self.holes.range(..=offset).next_back().map_or(offset, |(&hole, _)| hole)
    }

    fn add_hole(&mut self, offset: usize, bytes: usize) {
        self.holes.insert(offset, bytes);
        self.holes_by_size.insert((bytes, offset));
    }

    fn remove_hole(&mut self, offset: usize) -> usize {
        let bytes = self.holes.remove(&offset).unwrap_or(0);
        self.holes_by_size.remove(&(bytes, offset));
        bytes
    }

    fn block(&self, operation: &'static str, offset: usize) -> Result<Held, HeapError> {
        self.held.get(&offset).copied().ok_or_else(|| self.not_a_block(operation, offset))
    }

    /// Why no block starts at `offset`.
    pub(super) fn not_a_block(&self, operation: &'static str, offset: usize) -> HeapError {
        if !self.contains(offset) {
            return HeapError::Foreign { operation, offset, heaps: vec![self.range()] };
        }
        let near = |(&offset, held): (&usize, &Held)| Block { offset, bytes: held.bytes };
        let before = self.held.range(..offset).next_back();
        if let Some((start, held)) = before
            && offset - start < held.room
        {
            let block = near((start, held));
            return HeapError::InsideBlock { operation, offset, name: self.name, block };
        }
        let after = self.held.range(offset..).next();
        let near = Neighbours { before: before.map(near), after: after.map(near) };
        HeapError::DoubleFree { operation, offset, name: self.name, near }
    }

    fn exhausted(&self, bytes: usize, align: usize) -> HeapError {
        let Usage { free, largest_free, .. } = self.usage();
        let end = self.heap.end;
        let last = self.holes.last_key_value().filter(|&(hole, bytes)| hole + bytes == end);
        let from = last.map_or(end, |(&hole, _)| hole);
        let short = from
            .checked_next_multiple_of(align.max(MIN_ALIGN))
            .and_then(|offset| offset.checked_add(bytes)?.checked_next_multiple_of(MIN_ALIGN))
            .map_or(usize::MAX, |needed| needed - end);
        HeapError::Exhausted {
            partition: self.partition,
            name: self.name,
            bytes,
            align,
            size: self.heap.len(),
            free,
            largest_free,
            short,
            enough: None,
            dropped: None,
        }
    }
}

fn check(bytes: usize, align: usize) -> Result<(), HeapError> {
    match bytes {
        0 => Err(HeapError::ZeroBytes),
        _ if !align.is_power_of_two() || align > MAX_ALIGN => Err(HeapError::Alignment { align }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
