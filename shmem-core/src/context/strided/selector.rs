//! What stands behind `dyn`: selectors that only the run knows, an index or a variable that is a range.
//!
//! Which of the two it is, its type says. So with indices alone the plan stays a constant, and with a range it is made
//! when the transfer runs.

use core::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::strided::Axis;

/// What selects elements of a dimension: an index, or a range of indices.
#[diagnostic::on_unimplemented(
    message = "`{Self}` selects nothing of a dimension",
    label = "neither a `usize` nor a range of `usize`",
    note = "behind `dyn` stands an index or a range of indices: `dyn i`, `dyn a..b`, or a variable that is a range"
)]
pub trait Selector: Clone {
    /// Whether it is a range.
    #[doc(hidden)]
    const IS_RANGE: bool;

    /// What it takes.
    #[doc(hidden)]
    fn axis(&self) -> Axis;
}

impl Selector for usize {
    const IS_RANGE: bool = false;

    #[inline(always)]
    fn axis(&self) -> Axis {
        Axis::index(*self)
    }
}

macro_rules! ranges {
    ($($range:ty)*) => {$(
        impl Selector for $range {
            const IS_RANGE: bool = true;

            #[inline(always)]
            fn axis(&self) -> Axis {
                ranged(self)
            }
        }
    )*};
}
ranges!(Range<usize> RangeInclusive<usize> RangeFrom<usize> RangeTo<usize> RangeToInclusive<usize> RangeFull);

/// A copy of a selector: a range is still there for the other side.
#[inline(always)]
pub fn selected<S: Selector>(selector: &S) -> S {
    selector.clone()
}

/// What a selector takes.
#[inline(always)]
pub fn axis(selector: &impl Selector) -> Axis {
    selector.axis()
}

/// What a range takes.
#[inline(always)]
pub fn ranged(range: &impl RangeBounds<usize>) -> Axis {
    let first = match range.start_bound() {
        Bound::Included(first) => *first,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    match range.end_bound() {
        Bound::Included(last) => Axis::through(first, *last),
        Bound::Excluded(end) => Axis::range(first, *end),
        Bound::Unbounded => Axis::from(first),
    }
}

/// The selectors of a side that only the run knows, in the order of its axes: `(first, (second, ()))`.
pub trait Selectors {
    /// How many they are.
    const COUNT: usize;

    /// Whether there is a range among them.
    const HAS_RANGES: bool;

    /// What number `number` takes.
    fn axis(&self, number: usize) -> Axis;
}

impl Selectors for () {
    const COUNT: usize = 0;
    const HAS_RANGES: bool = false;

    #[inline(always)]
    fn axis(&self, _: usize) -> Axis {
        unreachable!("a region has as many selectors as it needs")
    }
}

impl<S: Selector, R: Selectors> Selectors for (S, R) {
    const COUNT: usize = 1 + R::COUNT;
    const HAS_RANGES: bool = S::IS_RANGE || R::HAS_RANGES;

    #[inline(always)]
    fn axis(&self, number: usize) -> Axis {
        if number == 0 { self.0.axis() } else { self.1.axis(number - 1) }
    }
}
