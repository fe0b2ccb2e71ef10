//! The layout of one side of a transfer: which bytes its blocks are.

use super::dimensions::{Dim, MAX_DIMS};

/// A number of blocks at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Number of blocks; [`Dim::DYNAMIC`] if only the other side of the transfer determines the number.
    pub(crate) count: usize,
    pub(crate) stride: usize,
}

/// Upper limit on the runs of a layout. A dimension has one run, or two if it is selected in blocks. So of [`MAX_DIMS`] dimensions,
/// only two can be selected in blocks.
pub(super) const MAX_RUNS: usize = MAX_DIMS + 2;

/// The blocks of one side of a transfer: `block` bytes each, in nested runs, outermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes from the start of the object to the first block.
    pub(super) offset: usize,
    pub(super) align: usize,
    pub(super) block: usize,
    pub(super) runs: [Run; MAX_RUNS],
    /// For each run, whether it is the second of a dimension that is selected in blocks: it counts the elements of a block, and the
    /// run before it counts the blocks.
    pub(super) is_block: [bool; MAX_RUNS],
    pub(super) rank: usize,
    /// Whether the region is a line: contiguous items, each a whole element of the outermost dimension. The other side of the
    /// transfer may then have any shape whose innermost dimensions are those of an item.
    pub(super) is_line: bool,
}

impl Layout {
    /// Returns one block of `block` bytes, at the start of an object aligned to `align`. Panics if `align` is no power of two.
    pub(crate) const fn block(block: usize, align: usize) -> Self {
        assert!(align.is_power_of_two(), "an alignment is a power of two");
        Self {
            offset: 0,
            align,
            block,
            runs: [Run { count: 1, stride: 0 }; MAX_RUNS],
            is_block: [false; MAX_RUNS],
            rank: 0,
            is_line: false,
        }
    }

    /// Returns a line of `count` contiguous elements of `bytes` bytes, which matches a region of any shape.
    pub(crate) const fn line(count: usize, bytes: usize, align: usize) -> Self {
        let mut line = Self::block(bytes, align).repeated(count, bytes);
        line.is_line = true;
        line
    }

    /// Repeats each block `count` times, `stride` bytes apart: one more run, inside the others. Panics if there are too many runs.
    pub(crate) const fn repeated(mut self, count: usize, stride: usize) -> Self {
        assert!(self.rank < MAX_RUNS, "a region has at most 8 runs of blocks");
        self.runs[self.rank] = Run { count, stride };
        self.rank += 1;
        self
    }

    #[inline(always)]
    pub(crate) const fn offset(&self) -> usize {
        self.offset
    }

    #[inline(always)]
    pub(crate) const fn block_bytes(&self) -> usize {
        self.block
    }

    #[inline(always)]
    pub(crate) const fn runs(&self) -> &[Run] {
        self.runs.split_at(self.rank).0
    }

    /// Returns this line with the runs of `other`. Returns `None` if this layout is no line, or differs from `other` in the
    /// dimensions of an item or in the number of items. A count that only one side knows is used for both sides.
    pub(super) const fn folded(&self, other: &Self) -> Option<Self> {
        if !self.is_line || self.rank == 0 || other.rank + 1 < self.rank {
            return None;
        }
        let Run { count: items, stride } = self.runs[0];
        let outer = other.rank + 1 - self.rank;
        let mut folded = *self;
        folded.runs = other.runs;
        folded.is_block = other.is_block;
        folded.rank = other.rank;
        let mut i = outer;
        while i < other.rank {
            let inside = self.runs[i + 1 - outer];
            if inside.count != other.runs[i].count {
                return None;
            }
            folded.runs[i].stride = inside.stride;
            i += 1;
        }
        let inside = other.count_of(outer);
        if other.is_open() {
            if items == Dim::DYNAMIC || inside == 0 || !items.is_multiple_of(inside) {
                return None;
            }
            folded.runs[0].count = items / inside;
        } else if items != Dim::DYNAMIC && items != inside {
            return None;
        }
        let mut bytes = stride;
        let mut i = outer;
        while i > 0 {
            i -= 1;
            folded.runs[i].stride = bytes;
            bytes = bytes.saturating_mul(folded.runs[i].count);
        }
        Some(folded)
    }

    pub(crate) const fn alignment(&self) -> usize {
        1 << (self.align | self.offset).trailing_zeros()
    }

    /// Returns the layout, moved by `bytes` bytes. Panics if the offset overflows.
    pub(crate) const fn shifted(mut self, bytes: usize) -> Self {
        self.offset = match self.offset.checked_add(bytes) {
            Some(offset) => offset,
            None => panic!("a layout starts beyond the last number"),
        };
        self
    }

    /// Returns the number of blocks, where a run of unknown count counts once; `usize::MAX` on overflow.
    #[inline(always)]
    pub(crate) const fn count(&self) -> usize {
        self.count_of(self.rank)
    }

    #[inline(always)]
    const fn count_of(&self, rank: usize) -> usize {
        let mut count: usize = 1;
        let mut i = 0;
        while i < rank {
            if self.runs[i].count != Dim::DYNAMIC {
                count = count.saturating_mul(self.runs[i].count);
            }
            i += 1;
        }
        count
    }

    #[inline(always)]
    pub(crate) const fn is_open(&self) -> bool {
        self.rank > 0 && self.runs[0].count == Dim::DYNAMIC
    }

    /// Whether two layouts of one object have the same bytes in the same order.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.offset, self.block, self.runs()) == (other.offset, other.block, other.runs())
    }

    /// Whether two layouts of one object certainly share no byte. If this returns `false`, the layouts may or may not share a byte.
    ///
    /// Some innermost runs of each side are treated as one block; all numbers of such runs are tried. Two rows of these blocks
    /// share no byte if the blocks are disjoint modulo the greatest common divisor of all strides.
    pub(crate) const fn is_disjoint(&self, other: &Self) -> bool {
        if self.hull() == 0 || other.hull() == 0 {
            return true;
        }
        let mut mine = 0;
        while mine <= self.rank {
            let mut theirs = 0;
            while theirs <= other.rank {
                if apart(&self.outer(mine), &other.outer(theirs)) {
                    return true;
                }
                theirs += 1;
            }
            mine += 1;
        }
        false
    }

    /// Returns the layout of the outermost `rank` runs, with one block for all inner runs.
    const fn outer(&self, rank: usize) -> Self {
        let mut inside = *self;
        inside.offset = 0;
        let mut i = 0;
        while i < rank {
            inside.runs[i] = Run { count: 1, stride: 0 };
            i += 1;
        }
        let mut outer = *self;
        outer.block = inside.hull();
        outer.rank = rank;
        outer
    }

    /// Returns the bytes from the start of the first block to the end of the last; `usize::MAX` on overflow, 0 without blocks.
    pub(crate) const fn hull(&self) -> usize {
        let mut bytes = self.block;
        let mut i = 0;
        while i < self.rank {
            if self.runs[i].count == 0 {
                return 0;
            }
            let Run { count, stride } = self.runs[i];
            bytes = bytes.saturating_add((count - 1).saturating_mul(stride));
            i += 1;
        }
        bytes
    }
}

/// Whether the blocks of two layouts are disjoint modulo the greatest common divisor of all strides.
const fn apart(a: &Layout, b: &Layout) -> bool {
    let period = gcd(period(a), period(b));
    let (low, high) = if a.offset < b.offset { (a, b) } else { (b, a) };
    let distance = high.offset - low.offset;
    if period == 0 {
        return distance >= low.block;
    }
    let distance = distance % period;
    distance >= low.block && period - distance >= high.block
}

/// Returns the greatest common divisor of all strides; 0 without strides.
const fn period(layout: &Layout) -> usize {
    let mut period = 0;
    let mut i = 0;
    while i < layout.rank {
        if layout.runs[i].count > 1 {
            period = gcd(period, layout.runs[i].stride);
        }
        i += 1;
    }
    period
}

const fn gcd(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
