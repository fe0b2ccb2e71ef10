//! What an array in one place can be indexed with: on a PE, and here.

use core::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use super::here::ArrayHere;
use super::place::ArrayOn;
use crate::data::SymmetricData;
use crate::object::{Here, On, one};

impl<'a, T: SymmetricData, const D: usize> ArrayOn<'a, T, D> {
    /// A part: an element by its index (`[i, j]`, or `i` in one dimension), a row of two dimensions or a plane of three
    /// (`i`), or some of them, one behind the other (`i..j`).
    ///
    /// # Panics
    ///
    /// If the index is beyond the end.
    #[track_caller]
    pub fn index<I: ArrayPlaceIndex<D>>(self, index: I) -> I::Place<'a, T> {
        index.of(self)
    }
}

impl<'a, T: SymmetricData, const D: usize> ArrayHere<'a, T, D> {
    /// A part: an element by its index (`[i, j]`, or `i` in one dimension), a row of two dimensions or a plane of three
    /// (`i`), or some of them, one behind the other (`i..j`).
    ///
    /// # Panics
    ///
    /// If the index is beyond the end.
    #[track_caller]
    pub fn index<I: ArrayPlaceIndex<D>>(self, index: I) -> I::Here<'a, T> {
        index.here_of(self)
    }
}

/// What an array on a PE can be indexed with.
#[diagnostic::on_unimplemented(
    message = "an array of {D} dimensions on a PE cannot be indexed by `{Self}`",
    note = "elements are indexed by `[i, j]`, rows by `usize` and by ranges of `usize`; for columns and other regions, use `strided!`"
)]
pub trait ArrayPlaceIndex<const D: usize> {
    /// The part on a PE.
    type Place<'a, T: SymmetricData>;

    /// The same part on the calling PE.
    type Here<'a, T: SymmetricData>;

    #[doc(hidden)]
    #[track_caller]
    fn of<T: SymmetricData>(self, place: ArrayOn<'_, T, D>) -> Self::Place<'_, T>;

    #[doc(hidden)]
    #[track_caller]
    fn here_of<T: SymmetricData>(self, place: ArrayHere<'_, T, D>) -> Self::Here<'_, T>;
}

/// What is found is one element.
macro_rules! elements {
    ($([$($parameter:tt)*] $index:ty, $d:tt: |$number:ident, $place:ident| $element:expr;)*) => {$(
        impl<$($parameter)*> ArrayPlaceIndex<$d> for $index {
            type Place<'a, T: SymmetricData> = On<'a, T>;
            type Here<'a, T: SymmetricData> = Here<'a, T>;

            fn of<T: SymmetricData>(self, $place: ArrayOn<'_, T, $d>) -> On<'_, T> {
                let $number = self;
                $place.element($element)
            }

            fn here_of<T: SymmetricData>(self, here: ArrayHere<'_, T, $d>) -> Here<'_, T> {
                here.part(self.of(here.place()))
            }
        }
    )*};
}
elements! {
    [] usize, 1: |index, place| one(index, place.shape()[0]).0;
    [const D: usize] [usize; D], D: |index, place| {
        let shape = place.shape();
        let inside = index.iter().zip(&shape).all(|(index, length)| index < length);
        assert!(inside, "index {index:?} is beyond the end: the place is {shape:?}");
        index.iter().zip(&shape).fold(0, |number, (index, length)| number * length + index)
    };
}

/// What is found are elements, an array of as many dimensions or of one less.
macro_rules! parts {
    ($([$($parameter:tt)*] $index:ty, $d:tt to $part:tt: $method:ident;)*) => {$(
        impl<$($parameter)*> ArrayPlaceIndex<$d> for $index {
            type Place<'a, T: SymmetricData> = ArrayOn<'a, T, $part>;
            type Here<'a, T: SymmetricData> = ArrayHere<'a, T, $part>;

            fn of<T: SymmetricData>(self, place: ArrayOn<'_, T, $d>) -> ArrayOn<'_, T, $part> {
                place.$method(self)
            }

            fn here_of<T: SymmetricData>(self, here: ArrayHere<'_, T, $d>) -> ArrayHere<'_, T, $part> {
                here.with(self.of(here.place()))
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
