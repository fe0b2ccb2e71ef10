//! Regions: the elements of an array that a transfer reads or writes.

use super::byte_layout::Layout;
use super::dimensions::{Dim, Shape};
use crate::const_format::refuse;

/// A region's part of one dimension: an index, elements at a stride, or blocks of elements at a stride.
///
/// `0..8` are elements 0 to 7; `0..8; 2` are 0, 2, 4, 6; `0..8; 4; 2` are the blocks 0, 1 and 4, 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    first: usize,
    end: End,
    step: usize,
    block: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Ends after one element, given by its index. The region drops the dimension.
    Index,
    /// Ends after one element, whose index is known at run time only. The region drops the dimension.
    Dynamic,
    /// Ends before this element.
    Before(usize),
    /// Ends where the dimension ends.
    Open,
}

impl Axis {
    /// Selects one element; the region drops the dimension.
    pub const fn index(index: usize) -> Self {
        Self { first: index, end: End::Index, step: 1, block: 1 }
    }

    /// Selects one element whose index is added when the transfer runs. Until then the index counts as 0.
    pub const fn dynamic() -> Self {
        Self { first: 0, end: End::Dynamic, step: 1, block: 1 }
    }

    /// Selects `first..end`.
    pub const fn range(first: usize, end: usize) -> Self {
        Self { first, end: End::Before(end), step: 1, block: 1 }
    }

    /// Selects `first..=last`.
    pub const fn through(first: usize, last: usize) -> Self {
        // No dimension has an element `usize::MAX`.
        Self::range(first, last.saturating_add(1))
    }

    /// Selects `first..`, to the end of the dimension.
    pub const fn from(first: usize) -> Self {
        Self { first, end: End::Open, step: 1, block: 1 }
    }

    /// Selects `..`, the whole dimension.
    pub const fn all() -> Self {
        Self::from(0)
    }

    /// Reduces the axis to every `step`-th element of it.
    ///
    /// # Panics
    ///
    /// If `step` is 0.
    #[must_use]
    #[track_caller]
    pub const fn step(mut self, step: usize) -> Self {
        if step == 0 {
            panic!("a stride must be at least 1");
        }
        self.step = step;
        self
    }

    /// Extends every element of the axis to a block of `block` elements that begins there.
    ///
    /// # Panics
    ///
    /// If `block` is 0, or the blocks would overlap.
    #[must_use]
    #[track_caller]
    pub const fn block(mut self, block: usize) -> Self {
        if block == 0 {
            panic!("a block has at least 1 element");
        }
        if block > self.step {
            refuse!("blocks of " [block] " elements overlap at a stride of " [self.step] "; the stride must be at least the block");
        }
        self.block = block;
        self
    }

    /// Returns the number of blocks in a dimension of `len` elements. The axis must be inside the dimension.
    #[inline(always)]
    pub const fn count(self, len: usize) -> usize {
        if self.is_index() {
            return 1;
        }
        self.end_in(len).saturating_sub(self.first).div_ceil(self.step)
    }

    #[inline(always)]
    const fn end_in(self, len: usize) -> usize {
        match self.end {
            End::Before(end) => end,
            End::Index | End::Dynamic | End::Open => len,
        }
    }

    /// Whether the axis is `..`, the whole dimension.
    #[inline(always)]
    pub const fn is_all(self) -> bool {
        matches!(self.end, End::Open) && self.first == 0 && self.step == 1 && self.block == 1
    }

    /// Whether the axis is an index known at run time.
    #[inline(always)]
    pub const fn is_dynamic(self) -> bool {
        matches!(self.end, End::Dynamic)
    }

    /// Whether the axis is inside a dimension of `len` elements and selects `count` blocks. (A run-time index is checked later.)
    #[inline(always)]
    pub const fn fits(self, len: usize, count: usize) -> bool {
        match self.end {
            End::Index => return self.first < len && count == 1,
            End::Dynamic => return true,
            End::Before(_) | End::Open => {}
        }
        let end = self.end_in(len);
        self.first <= end
            && end <= len
            && self.count(len) == count
            && (self.block == 1 || count == 0 || self.block <= end - self.last(count))
    }

    /// Returns the start of the last of `count` blocks. This start is before the end of the axis, so it does not overflow.
    #[inline(always)]
    const fn last(self, count: usize) -> usize {
        self.first + (count - 1) * self.step
    }

    const fn is_dense(self) -> bool {
        !self.is_index() && self.step == 1 && self.block == 1
    }

    const fn is_index(self) -> bool {
        matches!(self.end, End::Index | End::Dynamic)
    }

    /// Panics unless the axis is inside dimension `number`, of `len` elements, of the object `name`.
    #[track_caller]
    const fn check(self, name: &str, number: usize, len: usize) {
        let (what, end) = match self.end {
            End::Dynamic => return,
            End::Index => ("the index is ", self.first),
            End::Before(end) => ("the region ends at ", end),
            End::Open if len == Dim::DYNAMIC => return,
            End::Open => ("the region starts at ", if self.first > len { self.first } else { len }),
        };
        if (matches!(self.end, End::Index) && end >= len) || end > len {
            refuse!("`" (name) "` has " [len] " elements in dimension " [number] ", but " (what) [end]);
        }
        if !self.is_index() && self.first > end {
            refuse!("the region starts at " [self.first] " and ends at " [end]);
        }
        let count = self.count(len);
        if self.block > 1 && count > 0 {
            let last = self.last(count);
            if self.block > end - last {
                refuse!(
                    "the last block starts at " [last] " and has " [self.block] " elements, but the region ends at " [end]
                );
            }
        }
    }
}

/// The bytes of each element that a transfer moves: all of them, or adjacent fields of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
}

impl Part {
    pub(crate) const fn whole(bytes: usize) -> Self {
        Self { offset: 0, bytes }
    }
}

/// Returns the layout of a region: the `axes` of the object `name` with this `shape` and alignment, and the `part` of each element.
/// Panics if the region has another number of dimensions, is not inside the object, or the alignment is no power of two. (In a
/// constant, the panic is a compile-time error.)
#[track_caller]
pub(crate) const fn lower(name: &str, shape: &Shape, align: usize, axes: &[Axis], part: Part) -> Layout {
    let dims = shape.dims();
    if axes.len() != dims.len() {
        refuse!("`" (name) "` has " [dims.len()] " dimension(s), but the region names " [axes.len()]);
    }
    let mut layout = Layout::block(part.bytes, align);
    layout.offset = part.offset;
    layout.is_line = is_line(axes);
    let mut i = 0;
    while i < axes.len() {
        let (axis, dim) = (axes[i], dims[i]);
        axis.check(name, i, dim.len);
        layout.offset = match axis.first.checked_mul(dim.stride) {
            Some(bytes) if bytes <= usize::MAX - layout.offset => layout.offset + bytes,
            _ => beyond(name, i, axis.first),
        };
        if matches!(axis.end, End::Dynamic) {
            // At run time a multiple of the stride is added to the offset, so the stride limits the alignment.
            layout.align = 1 << (layout.align | dim.stride).trailing_zeros();
        }
        if !axis.is_index() {
            let unknown = matches!(axis.end, End::Open) && dim.len == Dim::DYNAMIC;
            let count = if unknown { Dim::DYNAMIC } else { axis.count(dim.len) };
            // The stride of a single block is never used, and may be longer than any memory.
            layout = layout.repeated(count, axis.step.saturating_mul(dim.stride));
            if axis.block > 1 {
                layout = layout.repeated(axis.block, dim.stride);
                layout.is_block[layout.rank - 1] = true;
            }
        }
        i += 1;
    }
    layout
}

/// Whether the axes select a line: contiguous items of the outermost dimension, each item whole.
const fn is_line(axes: &[Axis]) -> bool {
    let [outermost, inside @ ..] = axes else { return false };
    let mut i = 0;
    while i < inside.len() {
        if !inside[i].is_all() {
            return false;
        }
        i += 1;
    }
    outermost.is_dense()
}

#[cold]
#[track_caller]
const fn beyond(name: &str, number: usize, first: usize) -> ! {
    refuse!(
        "the region starts at element " [first] " of dimension " [number] " of `" (name)
        "`, which is further than any memory reaches"
    )
}
