//! Plans of transfers: a pattern, and the method that moves it.

use core::fmt;

use super::byte_layout::Layout;
use super::choose_kernel::{Settings, Thresholds, choose, settings};
use super::kernel::Kernel;
use super::loop_nest::{Level, Pattern};
use super::published_algorithms::{Algorithm, Columns, published};

/// A method that moves a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// No copy, because there is nothing to move.
    Nothing,
    /// One copy of a contiguous block.
    Contiguous,
    /// Algorithm 1 of the paper (`published_algorithms`): a put for every block.
    Putmem,
    /// Algorithm 2: blocks are cut into columns of 16, 8 and 4 bytes, with an `iput` for every column.
    Columns(Columns),
    /// A kernel of this project.
    Kernel(Kernel),
}

/// A pattern and the method that moves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferPlan {
    pattern: Pattern,
    method: Method,
}

impl TransferPlan {
    /// Returns the plan for a transfer between two layouts. Panics if they differ in shape or make too many loops, or if the
    /// number of bytes overflows.
    #[track_caller]
    pub(crate) const fn new(
        to: &Layout,
        from: &Layout,
        algorithm: Algorithm,
        thresholds: &Thresholds,
    ) -> Self {
        let align = to.alignment() | from.alignment();
        Self::of(Pattern::join(to, from), 1 << align.trailing_zeros(), algorithm, thresholds)
    }

    /// Returns the plan for a pattern whose first block is aligned to `align` at destination and source.
    ///
    /// # Panics
    ///
    /// If the alignment is no power of two.
    pub const fn of(pattern: Pattern, align: usize, algorithm: Algorithm, thresholds: &Thresholds) -> Self {
        assert!(align.is_power_of_two(), "an alignment is a power of two");
        let method = if pattern.block() == 0 {
            Method::Nothing
        } else if pattern.levels().is_empty() {
            Method::Contiguous
        } else {
            match algorithm {
                Algorithm::One => Method::Putmem,
                Algorithm::Two => columns(&pattern, align),
                Algorithm::Three => {
                    let inner = pattern.inner()[1];
                    if published(inner.to, inner.from, pattern.block()) {
                        columns(&pattern, align)
                    } else {
                        Method::Putmem
                    }
                }
                Algorithm::Auto => Method::Kernel(choose(&pattern, thresholds)),
            }
        };
        Self { pattern, method }
    }

    /// Returns the plan that [`Algorithm::Auto`] chooses for a pattern on this processor.
    pub(crate) fn auto(pattern: Pattern) -> Self {
        Self::of(pattern, 1, Algorithm::Auto, &settings().thresholds)
    }

    /// Returns the plan for blocks in one loop, by the settings of the process. Panics if the number of bytes overflows, or `align`
    /// is no power of two.
    pub(crate) fn blocks(block: usize, level: Level, align: usize) -> Self {
        let Settings { algorithm, thresholds } = settings();
        let pattern = Pattern::blocks(block, level.count, level.to, level.from);
        Self::of(pattern, align, *algorithm, thresholds)
    }

    /// Returns the plan that moves a pattern by `method`. A kernel that cannot move the pattern falls back to `Rows`. If columns
    /// are together shorter than a block, the rest of each block is not moved.
    ///
    /// # Panics
    ///
    /// If columns are together longer than a block.
    #[track_caller]
    pub const fn by(pattern: Pattern, method: Method) -> Self {
        if let Method::Columns(columns) = method {
            columns.require_inside(pattern.block());
        }
        Self { pattern, method }
    }

    /// Returns the plan for this processor. A constant plan cannot know whether this processor gains from throttled blocks.
    #[must_use]
    pub(crate) fn here(&self) -> Self {
        match self.method {
            Method::Kernel(Kernel::Throttled(_)) => Self::auto(self.pattern),
            _ => *self,
        }
    }

    /// Returns the pattern that is moved.
    #[inline(always)]
    pub const fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Returns the method that moves the pattern.
    #[inline(always)]
    pub const fn method(&self) -> Method {
        self.method
    }
}

const fn columns(pattern: &Pattern, align: usize) -> Method {
    let mut align = align;
    let mut i = 0;
    while i < pattern.levels().len() {
        let level = pattern.levels()[i];
        align |= level.to | level.from;
        i += 1;
    }
    match Columns::of(pattern.block(), 1 << align.trailing_zeros()) {
        Some(columns) => Method::Columns(columns),
        None => Method::Putmem,
    }
}

impl fmt::Display for TransferPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.method {
            Method::Nothing => return f.write_str("nothing to move"),
            Method::Contiguous => return write!(f, "one copy of {} bytes", self.pattern.block()),
            Method::Putmem => f.write_str("putmem for each of ")?,
            Method::Columns(Columns { iput128, iput64, iput32 }) => {
                write!(f, "{iput128} iput128, {iput64} iput64, {iput32} iput32 for ")?;
            }
            Method::Kernel(kernel) => write!(f, "{kernel} for ")?,
        }
        for level in self.pattern.levels() {
            write!(f, "{} x ", level.count)?;
        }
        write!(f, "{} bytes, strides", self.pattern.block())?;
        for level in self.pattern.levels() {
            write!(f, " {} <- {}", level.to, level.from)?;
        }
        Ok(())
    }
}
