//! Destination and source of a transfer as one nest of loops over blocks.

use super::byte_layout::{Layout, MAX_RUNS, Run};
use super::dimensions::Dim;
use crate::const_format::{Message, refuse};

/// Upper limit on the loops of a pattern.
pub const MAX_LEVELS: usize = MAX_RUNS;

/// One loop of a nest. Its turns move blocks, or run the loop inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Number of turns of the loop.
    pub count: usize,
    /// Bytes from the start of one turn to the start of the next, at the destination.
    pub to: usize,
    /// Bytes from the start of one turn to the start of the next, at the source.
    pub from: usize,
}

impl Level {
    /// A loop of one turn.
    pub const ONCE: Self = Self { count: 1, to: 0, from: 0 };
}

/// Blocks in a nest of loops over both sides, in normal form. Blocks that are contiguous on both sides are one block. A loop
/// whose next turn begins where the inner loop ends is merged with the inner loop. Loops are sorted by their stride at the
/// destination, largest outermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    block: usize,
    levels: [Level; MAX_RUNS],
    depth: usize,
}

impl Pattern {
    /// Joins the layouts of destination and source. A line of contiguous items matches a region of any shape with as many items, in
    /// row-major order, so that the transfer packs or unpacks the region. Panics if the two differ in shape (dimensions of length 1
    /// do not count), if they make more than [`MAX_LEVELS`] loops, or if the number of bytes overflows.
    #[track_caller]
    pub(crate) const fn join(to: &Layout, from: &Layout) -> Self {
        if to.block != from.block {
            refuse!("the destination takes " [to.block] " bytes of each element, the source " [from.block]);
        }
        let mut pattern = Self { block: to.block, levels: [Level::ONCE; MAX_RUNS], depth: 0 };
        if (to.count() == 0 && (from.count() == 0 || from.is_open())) || (from.count() == 0 && to.is_open()) {
            return pattern.with(0, 0, 0).normal();
        }
        let (mut to, mut from) = (significant(to, Dim::DYNAMIC), significant(from, Dim::DYNAMIC));
        if to.has_more_axes(&from) || from.has_more_axes(&to) {
            (to, from) = if let Some(packed) = to.folded(&from) {
                (packed, from)
            } else if let Some(packed) = from.folded(&to) {
                (to, packed)
            } else if (to.is_line && to.rank == 1) || (from.is_line && from.rank == 1) {
                differ(&to, &from)
            } else {
                // The dimension of unknown length must have length 1, which is checked at run time.
                (significant(&to, 1), significant(&from, 1))
            };
        }
        let (mut i, mut j) = (0, 0);
        while i < to.rank && j < from.rank {
            let (a, b) = (to.runs[i], from.runs[j]);
            if to.is_split(i, &from, j) {
                let block = to.runs[i + 1];
                let count = if a.count == Dim::DYNAMIC { b.count / block.count } else { a.count };
                pattern = pattern.with(count, a.stride, block.count.saturating_mul(b.stride));
                pattern = pattern.with(block.count, block.stride, b.stride);
                (i, j) = (i + 2, j + 1);
            } else if from.is_split(j, &to, i) {
                let block = from.runs[j + 1];
                let count = if b.count == Dim::DYNAMIC { a.count / block.count } else { b.count };
                pattern = pattern.with(count, block.count.saturating_mul(a.stride), b.stride);
                pattern = pattern.with(block.count, a.stride, block.stride);
                (i, j) = (i + 1, j + 2);
            } else if a.count == b.count || a.count == Dim::DYNAMIC || b.count == Dim::DYNAMIC {
                let count = if a.count == Dim::DYNAMIC { b.count } else { a.count };
                pattern = pattern.with(count, a.stride, b.stride);
                (i, j) = (i + 1, j + 1);
            } else {
                differ(&to, &from);
            }
        }
        if i < to.rank || j < from.rank {
            differ(&to, &from);
        }
        pattern.normal()
    }

    /// Returns the pattern of `count` blocks of `block` bytes, at the strides `to` (destination) and `from` (source), in bytes.
    ///
    /// # Panics
    ///
    /// If the number of bytes overflows.
    #[inline(always)]
    #[track_caller]
    pub const fn blocks(block: usize, count: usize, to: usize, from: usize) -> Self {
        // Does not call `normal`: that takes longer, and every strided routine calls this function.
        let mut levels = [Level::ONCE; MAX_RUNS];
        if block == 0 || count == 0 {
            return Self { block: 0, levels, depth: 0 };
        }
        let Some(bytes) = block.checked_mul(count) else { too_large() };
        if count == 1 || (to == block && from == block) {
            return Self { block: bytes, levels, depth: 0 };
        }
        levels[0] = Level { count, to, from };
        Self { block, levels, depth: 1 }
    }

    /// Returns the pattern of one block of `block` bytes.
    #[inline(always)]
    pub const fn contiguous(block: usize) -> Self {
        Self::blocks(block, 1, 0, 0)
    }

    /// Returns the pattern of blocks of `block` bytes in loops, outermost first.
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_LEVELS`] loops, or the number of bytes overflows.
    #[track_caller]
    pub fn of_levels(block: usize, levels: &[Level]) -> Self {
        assert!(levels.len() <= MAX_RUNS, "a pattern has at most {MAX_RUNS} loops");
        let nothing = Self { block, levels: [Level::ONCE; MAX_RUNS], depth: 0 };
        levels.iter().fold(nothing, |pattern, level| pattern.with(level.count, level.to, level.from)).normal()
    }

    pub(super) fn with_count(&self, level: usize, count: usize) -> Self {
        let mut levels = self.levels;
        levels[level].count = count;
        Self::of_levels(self.block, &levels[..self.depth])
    }

    /// Returns the bytes of a block; 0 if nothing is moved.
    #[inline(always)]
    pub const fn block(&self) -> usize {
        self.block
    }

    /// Returns the loops, outermost first.
    #[inline(always)]
    pub const fn levels(&self) -> &[Level] {
        self.levels.split_at(self.depth).0
    }

    /// Returns the two innermost loops, the outer of them first.
    #[inline(always)]
    pub const fn inner(&self) -> [Level; 2] {
        match self.depth {
            0 => [Level::ONCE; 2],
            1 => [Level::ONCE, self.levels[0]],
            n => [self.levels[n - 2], self.levels[n - 1]],
        }
    }

    /// Returns the number of blocks.
    #[inline(always)]
    pub const fn count(&self) -> usize {
        let mut count = 1;
        let mut i = 0;
        while i < self.depth {
            count *= self.levels[i].count;
            i += 1;
        }
        count
    }

    /// Returns the number of bytes that are moved.
    #[inline(always)]
    pub const fn bytes(&self) -> usize {
        self.count() * self.block
    }

    /// Returns the bytes from the first to the last byte moved, at the destination and at the source; `usize::MAX` on overflow.
    pub const fn hulls(&self) -> (usize, usize) {
        let (mut to, mut from) = (self.block, self.block);
        let mut i = 0;
        while i < self.depth {
            let Level { count, to: to_stride, from: from_stride } = self.levels[i];
            to = to.saturating_add((count - 1).saturating_mul(to_stride));
            from = from.saturating_add((count - 1).saturating_mul(from_stride));
            i += 1;
        }
        (to, from)
    }

    /// Returns the pattern that packs the source, in the order of this pattern.
    pub(crate) const fn packed(&self) -> Self {
        self.dense(true)
    }

    /// Returns the pattern that unpacks to the destination, in the order of this pattern.
    pub(crate) const fn unpacked(&self) -> Self {
        self.dense(false)
    }

    const fn dense(mut self, at_destination: bool) -> Self {
        let mut bytes = self.block;
        let mut i = self.depth;
        while i > 0 {
            i -= 1;
            let Level { count, to, from } = self.levels[i];
            let (to, from) = if at_destination { (bytes, from) } else { (to, bytes) };
            self.levels[i] = Level { count, to, from };
            bytes *= count;
        }
        self.normal()
    }

    /// Whether, at the destination, all turns of each loop fit in one step of the loop around it, so that blocks do not overlap.
    pub(crate) const fn is_nested(&self) -> bool {
        let mut inside = self.block;
        let mut i = self.depth;
        while i > 0 {
            i -= 1;
            let Level { count, to, .. } = self.levels[i];
            if to < inside {
                return false;
            }
            inside = inside.saturating_add((count - 1).saturating_mul(to));
        }
        true
    }

    /// Calls `each` for every block, in order, with the block's offsets at the destination and at the source.
    ///
    /// # Panics
    ///
    /// If the pattern reaches beyond the address space.
    pub fn each_block(&self, mut each: impl FnMut(usize, usize)) {
        if self.block > 0 {
            self.require_memory();
            walk(self.levels(), 0, 0, &mut each);
        }
    }

    #[track_caller]
    pub(super) const fn require_memory(&self) {
        let (to, from) = self.hulls();
        assert!(to < usize::MAX && from < usize::MAX, "a pattern reaches further than any memory");
    }

    /// Adds a loop inside the others, unless the loop has one turn.
    #[track_caller]
    const fn with(mut self, count: usize, to: usize, from: usize) -> Self {
        if count != 1 {
            assert!(
                self.depth < MAX_LEVELS,
                "the two regions make more than 8 loops: name fewer dimensions, or take fewer of them in blocks"
            );
            self.levels[self.depth] = Level { count, to, from };
            self.depth += 1;
        }
        self
    }

    /// Returns the pattern in normal form. Panics if the number of bytes overflows.
    #[track_caller]
    const fn normal(mut self) -> Self {
        if self.is_nothing() {
            return Self { block: 0, levels: [Level::ONCE; MAX_RUNS], depth: 0 };
        }
        self = self.sorted();
        while self.depth > 0 {
            let inner = self.levels[self.depth - 1];
            if inner.count == 1 || (inner.to == self.block && inner.from == self.block) {
                self.block *= inner.count;
                self.depth -= 1;
            } else {
                break;
            }
        }
        let mut i = self.depth;
        while i > 1 {
            i -= 1;
            let (outer, inner) = (self.levels[i - 1], self.levels[i]);
            if goes_on(outer.to, inner.count, inner.to) && goes_on(outer.from, inner.count, inner.from) {
                self.levels[i - 1] = Level { count: outer.count * inner.count, ..inner };
                let mut j = i;
                while j + 1 < self.depth {
                    self.levels[j] = self.levels[j + 1];
                    j += 1;
                }
                self.depth -= 1;
            }
        }
        let mut i = self.depth;
        while i < MAX_RUNS {
            self.levels[i] = Level::ONCE;
            i += 1;
        }
        self
    }

    /// Whether no bytes are moved. Panics if the number of bytes overflows.
    #[track_caller]
    const fn is_nothing(&self) -> bool {
        let (mut bytes, mut is_nothing, mut i) = (Some(self.block), self.block == 0, 0);
        while i < self.depth {
            let count = self.levels[i].count;
            is_nothing |= count == 0;
            bytes = match bytes {
                Some(bytes) => bytes.checked_mul(count),
                None => None,
            };
            i += 1;
        }
        if bytes.is_none() && !is_nothing {
            too_large();
        }
        is_nothing
    }

    const fn sorted(mut self) -> Self {
        let mut i = 1;
        while i < self.depth {
            let mut j = i;
            while j > 0 && self.levels[j - 1].to < self.levels[j].to {
                let inner = self.levels[j];
                self.levels[j] = self.levels[j - 1];
                self.levels[j - 1] = inner;
                j -= 1;
            }
            i += 1;
        }
        self
    }
}

/// Whether each turn of the outer loop begins where the turn before ends: the step `outer` is `count` steps of `inner`.
const fn goes_on(outer: usize, count: usize, inner: usize) -> bool {
    match count.checked_mul(inner) {
        Some(end) => outer == end,
        None => false,
    }
}

#[cold]
#[inline(never)]
#[track_caller]
const fn too_large() -> ! {
    panic!("the blocks of a transfer have more bytes than there are numbers")
}

pub(super) fn walk(levels: &[Level], to: usize, from: usize, each: &mut impl FnMut(usize, usize)) {
    let Some((outer, inside)) = levels.split_first() else {
        return each(to, from);
    };
    for i in 0..outer.count {
        walk(inside, to + i * outer.to, from + i * outer.from, each);
    }
}

impl Layout {
    /// Returns the number of axes. An axis that is selected in blocks has two runs, and counts once.
    const fn axes(&self) -> usize {
        let mut axes = 0;
        let mut i = 0;
        while i < self.rank {
            axes += !self.is_block[i] as usize;
            i += 1;
        }
        axes
    }

    /// Whether this layout has more axes, and also more runs, than `other`.
    const fn has_more_axes(&self, other: &Self) -> bool {
        self.axes() > other.axes() && self.rank > other.rank
    }

    /// Whether an axis is selected in blocks here (run `i` counts the blocks), and element by element in `other` (run `j`), with as
    /// many elements. Run `j` then becomes two loops.
    const fn is_split(&self, i: usize, other: &Self, j: usize) -> bool {
        let is_blocks = i + 1 < self.rank && self.is_block[i + 1];
        if !is_blocks || (j + 1 < other.rank && other.is_block[j + 1]) {
            return false;
        }
        let has_more = other.rank - j < self.rank - i;
        let block = self.runs[i + 1].count;
        match (self.runs[i].count, other.runs[j].count) {
            (_, Dim::DYNAMIC) => has_more,
            (Dim::DYNAMIC, elements) => has_more && block > 0 && elements.is_multiple_of(block),
            (count, elements) => elements == count * block,
        }
    }
}

/// Returns the layout without runs of length 1. If `dynamic` is 1, runs of unknown count are left out as well.
const fn significant(layout: &Layout, dynamic: usize) -> Layout {
    let mut left = *layout;
    left.rank = 0;
    left.runs = [Run { count: 1, stride: 0 }; MAX_RUNS];
    left.is_block = [false; MAX_RUNS];
    let mut was_left_out = false;
    let mut i = 0;
    while i < layout.rank {
        let count = layout.runs[i].count;
        let leave_out = count == 1 || (count == Dim::DYNAMIC && dynamic == 1);
        if !leave_out {
            left.runs[left.rank] = layout.runs[i];
            left.is_block[left.rank] = layout.is_block[i] && !was_left_out;
            left.rank += 1;
        }
        was_left_out = leave_out;
        i += 1;
    }
    left
}

#[cold]
#[track_caller]
const fn differ(to: &Layout, from: &Layout) -> ! {
    let message = describe(Message::new().text("the destination is "), to).text(" elements, the source ");
    let message = describe(message, from);
    // If one side is a line, the numbers of elements must agree.
    let message = match (to.is_line, from.is_line) {
        _ if to.is_open() || from.is_open() => message,
        (true, false) if to.rank <= 1 && from.rank > 1 => {
            message.text(", which are ").number(from.count() as u64)
        }
        (false, true) if from.rank <= 1 && to.rank > 1 => {
            message.text("; those of the destination are ").number(to.count() as u64)
        }
        _ => message,
    };
    panic!("{}", message.as_str());
}

/// Appends the counts of a layout to a text, as `3 x 4`. For an axis in blocks, appends its number of elements.
const fn describe(mut message: Message, layout: &Layout) -> Message {
    if layout.rank == 0 {
        return message.number(1);
    }
    let mut i = 0;
    while i < layout.rank {
        if i > 0 {
            message = message.text(" x ");
        }
        let count = layout.runs[i].count;
        let is_blocks = i + 1 < layout.rank && layout.is_block[i + 1];
        message = match count {
            Dim::DYNAMIC => message.text("_"),
            _ if is_blocks => message.number((count * layout.runs[i + 1].count) as u64),
            _ => message.number(count as u64),
        };
        i += if is_blocks { 2 } else { 1 };
    }
    message
}
