//! The free memory of one partition's heap.
//!
//! The allocator returns offsets. Its state is in private memory, where remote writes cannot corrupt it, and an unused heap
//! costs no pages. PEs that make equal calls get equal offsets. The [`Ledger`](super::Ledger) records the allocated blocks.
//!
//! The policy is best fit: the smallest hole that suffices, and of equal ones the one with the lowest offset. A freed block is
//! merged with adjacent holes at once. Operations cost O(log n) for n holes. An alignment above [`MIN_ALIGN`] costs more, because
//! holes may be large enough but badly aligned.

use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};

use shmem_grammar::show_size;

use super::error::HeapError;
use crate::memory::ADDRESS_ALIGN;
use crate::text::Text;

/// Offsets and sizes of blocks are multiples of this number of bytes, so different objects never share a cache line.
pub const MIN_ALIGN: usize = 64;

/// The largest alignment of a block: the alignment of slots, because offsets count from the start of a slot.
pub const MAX_ALIGN: usize = ADDRESS_ALIGN;

/// The use of a heap's memory. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of all allocated blocks, each rounded up to [`MIN_ALIGN`].
    pub used: usize,
    /// Free bytes.
    pub free: usize,
    /// Maximum of `used` since the heap was created.
    pub peak: usize,
    /// Bytes of the largest hole.
    pub largest_free: usize,
    /// Number of allocated blocks.
    pub blocks: usize,
}

/// The allocator of one partition's heap.
#[derive(Clone, Debug)]
pub struct Allocator {
    partition: u32,
    pub(super) name: Text<32>,
    /// The range of the heap, in bytes from the start of a PE's slot.
    pub(super) heap: Range<usize>,
    /// Bytes of the whole partition.
    size: usize,
    holes: BTreeMap<usize, usize>,
    holes_by_size: BTreeSet<(usize, usize)>,
    used: usize,
    peak: usize,
    blocks: usize,
}

impl Allocator {
    /// Returns the empty heap of all whole [`MIN_ALIGN`] units in `offsets`. The other arguments are for error texts.
    pub fn new(partition: u32, name: Text<32>, offsets: Range<usize>, size: usize) -> Self {
        let start = offsets.start.next_multiple_of(MIN_ALIGN);
        let heap = start..(offsets.end - offsets.end % MIN_ALIGN).max(start);
        let (holes, holes_by_size) = (BTreeMap::new(), BTreeSet::new());
        let mut new = Self { partition, name, heap, size, holes, holes_by_size, used: 0, peak: 0, blocks: 0 };
        if !new.heap.is_empty() {
            new.add_hole(start, new.heap.len());
        }
        new
    }

    /// Reserves `bytes` (0 counts as 1), aligned to the larger of `align` and [`MIN_ALIGN`], and returns the offset. Fails if
    /// `align` is invalid, or no hole is large enough.
    pub(super) fn allocate(&mut self, bytes: usize, align: usize) -> Result<usize, HeapError> {
        check(align)?;
        let found = room_of(bytes).and_then(|room| Some((self.find(room, align)?, room)));
        let (offset, room) = found.ok_or_else(|| self.exhausted(bytes, align))?;
        self.take(offset, room);
        Ok(offset)
    }

    /// Reserves `bytes` at `offset`, for an object to which an earlier job gave a name. Fails unless the range is aligned and free.
    pub(super) fn allocate_at(&mut self, offset: usize, bytes: usize, align: usize) -> Result<(), HeapError> {
        check(align)?;
        let end = self.holes.range(..=offset).next_back().map_or(0, |(hole, bytes)| hole + bytes);
        let fits = |room: &usize| {
            offset.is_multiple_of(align.max(MIN_ALIGN))
                && offset.checked_add(*room).is_some_and(|needed| needed <= end)
        };
        let Some(room) = room_of(bytes).filter(fits) else {
            let (bytes, name) = (show_size(bytes as u64), self.name);
            return Err(HeapError::Block(format!(
                "{bytes} at offset {offset:#x} in partition `{name}` are not free"
            )));
        };
        self.take(offset, room);
        Ok(())
    }

    pub(super) fn free(&mut self, offset: usize, bytes: usize) {
        self.give(offset, bytes.max(1).next_multiple_of(MIN_ALIGN));
    }

    /// Resizes a block of `old` bytes, in place if possible, and returns its offset. If the offset changes, the caller copies the
    /// contents before the next allocation; the two ranges may overlap. Fails, and keeps the block, if no hole is large enough.
    pub(super) fn reallocate(
        &mut self,
        offset: usize,
        old: usize,
        bytes: usize,
        align: usize,
    ) -> Result<usize, HeapError> {
        let (Some(before), Some(room)) = (room_of(old), room_of(bytes)) else {
            return Err(self.exhausted(bytes, align));
        };
        let behind = self.holes.get(&(offset + before)).copied().unwrap_or(0);
        if room <= before + behind {
            self.give(offset, before);
            self.take(offset, room);
            return Ok(offset);
        }
        if let Some(to) = self.find(room, align) {
            self.take(to, room);
            self.give(offset, before);
            return Ok(to);
        }
        // Try the hole that results when the block is freed. The old and the new range overlap in it.
        self.give(offset, before);
        let Some(to) = self.find(room, align) else {
            self.take(offset, before);
            return Err(self.exhausted(bytes, align));
        };
        self.take(to, room);
        Ok(to)
    }

    pub(super) fn usage(&self) -> Usage {
        Usage {
            used: self.used,
            free: self.heap.len() - self.used,
            peak: self.peak,
            largest_free: self.holes_by_size.last().map_or(0, |&(bytes, _)| bytes),
            blocks: self.blocks,
        }
    }

    /// Returns an aligned offset in the smallest hole with `room` bytes behind that offset.
    fn find(&self, room: usize, align: usize) -> Option<usize> {
        let fit = |&(bytes, hole): &(usize, usize)| {
            let offset = hole.checked_next_multiple_of(align.max(MIN_ALIGN))?;
            (offset - hole <= bytes && room <= bytes - (offset - hole)).then_some(offset)
        };
        self.holes_by_size.range((room, 0)..).find_map(fit)
    }

    fn take(&mut self, offset: usize, room: usize) {
        let hole = self.holes.range(..=offset).next_back().map_or(offset, |(&hole, _)| hole);
        let end = hole + self.remove_hole(hole);
        if hole < offset {
            self.add_hole(hole, offset - hole);
        }
        if offset + room < end {
            self.add_hole(offset + room, end - (offset + room));
        }
        self.used += room;
        self.blocks += 1;
        self.peak = self.peak.max(self.used);
    }

    fn give(&mut self, offset: usize, room: usize) {
        self.used -= room;
        self.blocks -= 1;
        let (mut start, mut end) = (offset, offset + room);
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

    fn add_hole(&mut self, offset: usize, bytes: usize) {
        self.holes.insert(offset, bytes);
        self.holes_by_size.insert((bytes, offset));
    }

    fn remove_hole(&mut self, offset: usize) -> usize {
        let bytes = self.holes.remove(&offset).unwrap_or(0);
        self.holes_by_size.remove(&(bytes, offset));
        bytes
    }

    fn exhausted(&self, bytes: usize, align: usize) -> HeapError {
        let Usage { free, largest_free, .. } = self.usage();
        let end = self.heap.end;
        let last = self.holes.last_key_value().filter(|&(hole, bytes)| hole + bytes == end);
        let from = last.map_or(end, |(&hole, _)| hole);
        let needed = from
            .checked_next_multiple_of(align.max(MIN_ALIGN))
            .and_then(|offset| offset.checked_add(bytes)?.checked_next_multiple_of(MIN_ALIGN));
        HeapError::Exhausted {
            partition: self.partition,
            name: self.name,
            bytes,
            align,
            size: self.heap.len(),
            free,
            largest_free,
            enough: needed.and_then(|needed| self.size.checked_add(needed - end)),
        }
    }
}

fn check(align: usize) -> Result<(), HeapError> {
    match align.is_power_of_two() && align <= MAX_ALIGN {
        true => Ok(()),
        false => Err(HeapError::Alignment { align }),
    }
}

/// Returns `bytes` rounded up to the size of a block; `None` on overflow.
pub(super) fn room_of(bytes: usize) -> Option<usize> {
    bytes.max(1).checked_next_multiple_of(MIN_ALIGN)
}
