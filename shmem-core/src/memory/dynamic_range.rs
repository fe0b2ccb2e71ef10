//! Allocation of addresses in a slot for dynamic segments, which are made after init.
//!
//! First fit, at multiples of the granule ([`SlotLayout::granule`]), with the lowest free segment index. Equal calls in equal order
//! give equal results, so PEs need not communicate.

use core::ops::Range;

use super::error::{MemoryError, Size};
use super::layout::SlotLayout;
use crate::segment_table::{FIRST_DYNAMIC, MAX_SEGMENTS};

const MOST: usize = MAX_SEGMENTS - FIRST_DYNAMIC as usize;

/// A dynamic segment (one made after init): its index and its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DynamicSegment {
    /// Index of the segment.
    pub index: u32,
    /// Bytes from the start of a PE's slot to the segment.
    pub offset: usize,
}

/// The addresses for dynamic segments in a slot, and the segments in use.
#[derive(Clone, Debug)]
pub struct DynamicRange {
    range: Range<usize>,
    granule: usize,
    /// Offsets and index of each segment in use, in the order of offsets.
    used: Vec<(Range<usize>, u32)>,
}

impl DynamicRange {
    /// Returns the range of a layout, without segments.
    pub fn new(layout: &SlotLayout) -> Self {
        Self { range: layout.dynamic(), granule: layout.granule(), used: Vec::new() }
    }

    /// Allocates a segment of `bytes` bytes at a multiple of `room` ([`Request::room`](super::Request::room)).
    /// Fails if no gap is large enough, or no index is free. Panics if `bytes` is 0 or `room` is not a power of two.
    pub fn allocate(&mut self, bytes: usize, room: usize) -> Result<DynamicSegment, MemoryError> {
        assert!(bytes > 0, "a segment has bytes");
        assert!(room.is_power_of_two(), "pages have sizes that are powers of two");
        let room = room.max(self.granule);
        let index =
            (FIRST_DYNAMIC..MAX_SEGMENTS as u32).find(|i| self.used.iter().all(|(_, used)| used != i));
        let fit = self.gaps().enumerate().find_map(|(at, gap)| {
            let start = gap.start.checked_next_multiple_of(room)?;
            let end = start.checked_add(bytes.checked_next_multiple_of(room)?)?;
            (end <= gap.end).then_some((at, start..end))
        });
        let (Some(index), Some((at, range))) = (index, fit) else {
            let [asked, largest, total] =
                [bytes, self.largest_free(), self.range.len()].map(|n| Size(n as u64));
            let pages = match room > self.granule {
                true => format!(" that starts at a multiple of {}, for its page size", Size(room as u64)),
                false => String::new(),
            };
            return Err(MemoryError::new(format!(
                "no room for another segment of {asked}{pages}: {} of {MOST} are in use, and the largest free range has {largest} of {total}; drop one, ask for less or for smaller pages, or raise SHMEM_DYNAMIC_SIZE",
                self.used.len()
            )));
        };
        let offset = range.start;
        self.used.insert(at, (range, index));
        Ok(DynamicSegment { index, offset })
    }

    /// Bytes of the largest free range.
    pub fn largest_free(&self) -> usize {
        self.gaps().map(|gap| gap.len()).max().unwrap_or(0)
    }

    /// Frees a segment. Panics if the segment is not in use.
    pub fn release(&mut self, segment: DynamicSegment) {
        let DynamicSegment { index, offset } = segment;
        let at = self.used.iter().position(|(range, used)| (range.start, *used) == (offset, index));
        let at = at.unwrap_or_else(|| panic!("there is no dynamic segment {index} at {offset:#x}"));
        self.used.remove(at);
    }

    /// The free ranges in the order of their offsets, some of them empty. Range `i` ends where segment `used[i]` starts. The last
    /// range ends where the addresses end.
    fn gaps(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = core::iter::once(self.range.start).chain(self.used.iter().map(|(range, _)| range.end));
        let ends = self.used.iter().map(|(range, _)| range.start).chain(core::iter::once(self.range.end));
        starts.zip(ends).map(|(start, end)| start..end)
    }
}
