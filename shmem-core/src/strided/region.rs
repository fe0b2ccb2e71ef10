//! Regions: which elements of an array one side of a transfer is about.

use super::layout::Layout;
use super::shape::{Dim, Shape};
use crate::message::Message;

/// What a region takes of one dimension: an index, or elements at a distance, or blocks of them.
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
    /// One element: the dimension is not one of the region.
    Index,
    /// One element whose number only the run knows.
    Dynamic,
    /// Before this element.
    Before(usize),
    /// With this element.
    With(usize),
    /// To the end of the dimension.
    Open,
}

impl Axis {
    /// One element; the region has a dimension less.
    pub const fn index(index: usize) -> Self {
        Self { first: index, end: End::Index, step: 1, block: 1 }
    }

    /// One element whose number is added when the transfer runs: here it counts as 0.
    pub const fn dynamic() -> Self {
        Self { first: 0, end: End::Dynamic, step: 1, block: 1 }
    }

    /// `first..end`
    pub const fn range(first: usize, end: usize) -> Self {
        Self { first, end: End::Before(end), step: 1, block: 1 }
    }

    /// `first..=last`
    pub const fn through(first: usize, last: usize) -> Self {
        Self { first, end: End::With(last), step: 1, block: 1 }
    }

    /// `first..`
    pub const fn from(first: usize) -> Self {
        Self { first, end: End::Open, step: 1, block: 1 }
    }

    /// `..`
    pub const fn all() -> Self {
        Self::from(0)
    }

    /// Every `step`-th element of it.
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

    /// `block` elements from each of these on.
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
            let message = Message::new()
                .text("blocks of ")
                .number(block as u64)
                .text(" elements overlap at a stride of ")
                .number(self.step as u64)
                .text("; the stride must be at least the block");
            panic!("{}", message.as_str());
        }
        self.block = block;
        self
    }

    /// The first element.
    #[inline(always)]
    pub(crate) const fn first(self) -> usize {
        self.first
    }

    /// How many blocks it takes of a dimension of `len` elements, which it must lie in.
    #[inline(always)]
    pub const fn count(self, len: usize) -> usize {
        let end = match self.end {
            End::Index | End::Dynamic => return 1,
            End::Before(end) => end,
            End::With(last) => last.saturating_add(1),
            End::Open => len,
        };
        end.saturating_sub(self.first).div_ceil(self.step)
    }

    /// Whether it is `..`
    #[inline(always)]
    pub const fn is_all(self) -> bool {
        matches!(self.end, End::Open) && self.first == 0 && self.step == 1 && self.block == 1
    }

    /// Whether it is an index that only the run knows.
    #[inline(always)]
    pub const fn is_dynamic(self) -> bool {
        matches!(self.end, End::Dynamic)
    }

    /// Whether it lies in a dimension of `len` elements and takes `count` blocks of it. (An index that
    /// only the run knows is looked at by whoever adds it.)
    #[inline(always)]
    pub const fn fits(self, len: usize, count: usize) -> bool {
        let end = match self.end {
            End::Index => return self.first < len && count == 1,
            End::Dynamic => return true,
            End::Before(end) => end,
            End::With(last) => last.saturating_add(1),
            End::Open => len,
        };
        self.first <= end
            && end <= len
            && self.count(len) == count
            && (self.block == 1 || count == 0 || self.block <= end - self.last(count))
    }

    /// Where the last of `count` blocks starts, which is before the end. (Where it ends may be no number.)
    #[inline(always)]
    const fn last(self, count: usize) -> usize {
        self.first + (count - 1) * self.step
    }

    /// Whether it takes elements one behind the other.
    const fn is_dense(self) -> bool {
        !self.is_index() && self.step == 1 && self.block == 1
    }

    /// Whether it is an index.
    const fn is_index(self) -> bool {
        matches!(self.end, End::Index | End::Dynamic)
    }

    /// Panics unless it lies in dimension `number` of `name`.
    #[track_caller]
    const fn check(self, name: &str, number: usize, len: usize) {
        let (what, end) = match self.end {
            End::Dynamic => return,
            End::Index => ("the index is ", self.first),
            End::Before(end) => ("the region ends at ", end),
            End::With(usize::MAX) => ("the region ends at ", usize::MAX),
            End::With(last) => ("the region ends at ", last + 1),
            End::Open if len == Dim::DYNAMIC => return,
            End::Open => ("the region starts at ", if self.first > len { self.first } else { len }),
        };
        if (matches!(self.end, End::Index) && end >= len) || end > len {
            let message = Message::new()
                .text("`")
                .text(name)
                .text("` has ")
                .number(len as u64)
                .text(" elements in dimension ")
                .number(number as u64)
                .text(", but ")
                .text(what)
                .number(end as u64);
            panic!("{}", message.as_str());
        }
        if !self.is_index() && self.first > end {
            let message = Message::new()
                .text("the region starts at ")
                .number(self.first as u64)
                .text(" and ends at ")
                .number(end as u64);
            panic!("{}", message.as_str());
        }
        let count = self.count(len);
        if self.block > 1 && count > 0 {
            let last = self.last(count);
            if self.block > end - last {
                let message = Message::new()
                    .text("the last block starts at ")
                    .number(last as u64)
                    .text(" and has ")
                    .number(self.block as u64)
                    .text(" elements, but the region ends at ")
                    .number(end as u64);
                panic!("{}", message.as_str());
            }
        }
    }
}

/// The bytes of each element that a transfer is about: all, or a field of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Bytes from the start of the element.
    pub offset: usize,
    /// Bytes.
    pub bytes: usize,
}

impl Part {
    /// All of an element of `bytes` bytes.
    pub const fn whole(bytes: usize) -> Self {
        Self { offset: 0, bytes }
    }
}

/// The layout of a region: `axes` and `part` of the object `name`, which has `shape` and is aligned to
/// `align`.
///
/// # Panics
///
/// If the region names another number of dimensions, or does not lie in the object, or the alignment is no power of
/// two. While compiling, that is an error at the call.
#[track_caller]
pub const fn lower(name: &str, shape: &Shape, align: usize, axes: &[Axis], part: Part) -> Layout {
    let dims = shape.dims();
    if axes.len() != dims.len() {
        let message = Message::new()
            .text("`")
            .text(name)
            .text("` has ")
            .number(dims.len() as u64)
            .text(" dimension(s), but the region names ")
            .number(axes.len() as u64);
        panic!("{}", message.as_str());
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
            // Whatever is added is a multiple of the stride.
            layout.align = 1 << (layout.align | dim.stride).trailing_zeros();
        }
        if !axis.is_index() {
            let unknown = matches!(axis.end, End::Open) && dim.len == Dim::DYNAMIC;
            let count = if unknown { Dim::DYNAMIC } else { axis.count(dim.len) };
            // Of one block the distance is never used, and may be longer than any memory.
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

/// Whether these are whole items of the outermost dimension, one behind the other.
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
    let message = Message::new()
        .text("the region starts at element ")
        .number(first as u64)
        .text(" of dimension ")
        .number(number as u64)
        .text(" of `")
        .text(name)
        .text("`, which is further than any memory reaches");
    panic!("{}", message.as_str());
}
