//! Index types: of an element in a view ([`ArrayIndex`]), and of a part of an array on a PE ([`ArrayPlaceIndex`]).

use core::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use super::on_pe::{ArrayPlace, Copied};
use crate::object::{NAMELESS, one};
use crate::symmetric_data::SymmetricData;

/// An index of an element in an array of `D` dimensions: `[usize; D]`, or `usize` if `D` is 1.
#[diagnostic::on_unimplemented(
    message = "an array of {D} dimensions cannot be indexed by `{Self}`",
    note = "arrays are indexed by `usize` in one dimension, and by `[usize; D]` in any number"
)]
pub trait ArrayIndex<const D: usize>: Copy {
    /// Returns the index in each dimension.
    fn position(self) -> [usize; D];
}

impl ArrayIndex<1> for usize {
    #[inline(always)]
    fn position(self) -> [usize; 1] {
        [self]
    }
}

impl<const D: usize> ArrayIndex<D> for [usize; D] {
    #[inline(always)]
    fn position(self) -> [usize; D] {
        self
    }
}

/// Panics because an index is out of range. Inlined, so that the index stays in registers.
#[inline(always)]
#[track_caller]
pub(super) fn refuse<C: Copy, const D: usize>(
    index: [usize; D],
    context: C,
    message: fn(&[usize], C) -> String,
) -> ! {
    let number = |d| if d < D { index[d] } else { 0 };
    refused::<C, D>(number(0), number(1), number(2), context, message)
}

#[cold]
#[inline(never)]
#[track_caller]
fn refused<C, const D: usize>(
    a: usize,
    b: usize,
    c: usize,
    context: C,
    message: fn(&[usize], C) -> String,
) -> ! {
    panic!("{}", message(&[a, b, c][..D], context))
}

/// An index of an element or a part of an [`ArrayPlace`].
#[diagnostic::on_unimplemented(
    message = "an array of {D} dimensions on a PE cannot be indexed by `{Self}`",
    note = "elements are indexed by `[i, j]`, rows by `usize` and by ranges of `usize`; for columns and other regions, use `strided!`"
)]
pub trait ArrayPlaceIndex<const D: usize> {
    /// The type of the indexed part: an element, a row or a range.
    type Part<'a, T: SymmetricData, C: Copied<'a>>;

    #[doc(hidden)]
    #[track_caller]
    fn of<'a, T: SymmetricData, C: Copied<'a>>(self, place: ArrayPlace<'a, T, D, C>) -> Self::Part<'a, T, C>;
}

/// Implements [`ArrayPlaceIndex`] for indices of one element.
macro_rules! elements {
    ($([$($parameter:tt)*] $index:ty, $d:tt: |$number:ident, $place:ident| $element:expr;)*) => {$(
        impl<$($parameter)*> ArrayPlaceIndex<$d> for $index {
            type Part<'a, T: SymmetricData, C: Copied<'a>> = C::At<T>;

            fn of<'a, T: SymmetricData, C: Copied<'a>>(self, $place: ArrayPlace<'a, T, $d, C>) -> C::At<T> {
                let $number = self;
                $place.element($element)
            }
        }
    )*};
}
elements! {
    [] usize, 1: |index, place| one(index, place.shape()[0], NAMELESS).0;
    [const D: usize] [usize; D], D: |index, place| {
        let shape = place.shape();
        let inside = index.iter().zip(&shape).all(|(index, length)| index < length);
        assert!(inside, "index {index:?} is beyond the end: the place is {shape:?}");
        index.iter().zip(&shape).fold(0, |number, (index, length)| number * length + index)
    };
}

/// Implements [`ArrayPlaceIndex`] for indices of several elements. The part has the same number of dimensions, or one less.
macro_rules! parts {
    ($([$($parameter:tt)*] $index:ty, $d:tt to $part:tt: $method:ident;)*) => {$(
        impl<$($parameter)*> ArrayPlaceIndex<$d> for $index {
            type Part<'a, T: SymmetricData, C: Copied<'a>> = ArrayPlace<'a, T, $part, C>;

            fn of<'a, T: SymmetricData, C: Copied<'a>>(
                self,
                place: ArrayPlace<'a, T, $d, C>,
            ) -> ArrayPlace<'a, T, $part, C> {
                place.$method(self)
            }
        }
    )*};
}
parts! {
    [] usize, 2 to 1: row;
    [] usize, 3 to 2: row;
    [const D: usize] Range<usize>, D to D: some;
    [const D: usize] RangeInclusive<usize>, D to D: some;
    [const D: usize] RangeFrom<usize>, D to D: some;
    [const D: usize] RangeTo<usize>, D to D: some;
    [const D: usize] RangeToInclusive<usize>, D to D: some;
    [const D: usize] RangeFull, D to D: some;
}
