//! Indices of parts, as in `OBJECT.on(pe).index(3)` and `OBJECT.here(token).index(1..4)`, and the names of objects in error texts.

use core::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::sync::OnceLock;

use crate::symmetric_data::{Contents, SymmetricData};
use crate::text::counted;

/// An index of a part of a place: a number, or any range of numbers.
///
/// # Safety
///
/// `locate` must return a first element and a number of elements whose sum is at most the number of elements of the place.
#[diagnostic::on_unimplemented(
    message = "a place of `{T}` cannot be indexed by `{Self}`",
    note = "places of arrays and slices are indexed by `usize` and by ranges of `usize`"
)]
pub unsafe trait PlaceIndex<T: Contents + ?Sized> {
    /// The contents of the part: an element, or a slice of elements.
    type Output: Contents + ?Sized;

    /// Returns the first element and the number of elements of the part. `len` is the number of items of the place. `offset` is the
    /// place's offset in a PE's slot, for error texts.
    #[track_caller]
    fn locate(self, len: usize, offset: usize) -> (usize, usize);
}

/// A function that returns the name of the object at an offset in a PE's slot.
type Names = Box<dyn Fn(usize) -> Option<String> + Send + Sync>;

static NAMES: OnceLock<Names> = OnceLock::new();

/// Sets the function that names objects in error texts. Only the first call counts: PEs that are threads all set the same names.
pub fn call_by(names: impl Fn(usize) -> Option<String> + Send + Sync + 'static) {
    _ = NAMES.set(Box::new(names));
}

pub(crate) fn place_at(offset: usize) -> String {
    name_at(offset).map_or_else(|| "the place".to_owned(), |name| format!("the place at {name}"))
}

pub(crate) fn object_at(offset: usize) -> String {
    name_at(offset).unwrap_or_else(|| "the object".to_owned())
}

fn name_at(offset: usize) -> Option<String> {
    NAMES.get().and_then(|names| names(offset))
}

/// An offset at which there is no object, for places that error texts cannot name.
pub(crate) const NAMELESS: usize = usize::MAX;

#[cold]
#[inline(never)]
#[track_caller]
fn beyond(index: usize, len: usize, offset: usize) -> ! {
    panic!("index {index} is beyond the end: {} has {} (0..{len})", place_at(offset), counted(len, "element"))
}

#[cold]
#[inline(never)]
#[track_caller]
fn range_beyond(from: usize, to: usize, len: usize, offset: usize) -> ! {
    panic!("range {from}..{to} does not fit: {} has {} (0..{len})", place_at(offset), counted(len, "element"))
}

/// Returns `(index, 1)`: the first element and the number of elements. Panics if `index` is not below `len`.
#[inline(always)]
#[track_caller]
pub(crate) fn one(index: usize, len: usize, offset: usize) -> (usize, usize) {
    if index >= len {
        beyond(index, len, offset);
    }
    (index, 1)
}

/// Returns the first index and the length of a range. Panics if the range is not inside `0..len`.
#[inline(always)]
#[track_caller]
pub(crate) fn many(range: impl RangeBounds<usize>, len: usize, offset: usize) -> (usize, usize) {
    let from = match range.start_bound() {
        Bound::Included(&n) => n,
        Bound::Excluded(&n) => n.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let to = match range.end_bound() {
        Bound::Included(&n) => n.saturating_add(1),
        Bound::Excluded(&n) => n,
        Bound::Unbounded => len,
    };
    if from > to || to > len {
        range_beyond(from, to, len, offset);
    }
    (from, to - from)
}

/// Contents that consist of numbered elements: an array or a slice.
///
/// # Safety
///
/// A place of `len` items must have `count(len)` contiguous elements from its start on. (A place of an array `[T; N]` has one item,
/// the array, and `N` elements.)
pub unsafe trait Elements: Contents {
    /// The type of an element.
    type Element: SymmetricData;

    /// Number of elements of a place of `len` items.
    fn count(len: usize) -> usize;
}

// SAFETY: an array `[T; N]` is `N` contiguous elements.
unsafe impl<T: SymmetricData, const N: usize> Elements for [T; N] {
    type Element = T;

    #[inline(always)]
    fn count(_: usize) -> usize {
        N
    }
}

// SAFETY: the items of a slice are its elements.
unsafe impl<T: SymmetricData> Elements for [T] {
    type Element = T;

    #[inline(always)]
    fn count(len: usize) -> usize {
        len
    }
}

// SAFETY: `one` panics if the index is not below the number of elements.
#[diagnostic::do_not_recommend]
unsafe impl<T: Elements + ?Sized> PlaceIndex<T> for usize {
    type Output = T::Element;

    #[inline(always)]
    fn locate(self, len: usize, offset: usize) -> (usize, usize) {
        one(self, T::count(len), offset)
    }
}

macro_rules! ranges {
    ($($range:ty)*) => {$(
        // SAFETY: `many` panics if the range is not inside the elements.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: Elements + ?Sized> PlaceIndex<T> for $range {
            type Output = [T::Element];

            #[inline(always)]
            fn locate(self, len: usize, offset: usize) -> (usize, usize) {
                many(self, T::count(len), offset)
            }
        }
    )*};
}
ranges!(Range<usize> RangeInclusive<usize> RangeFrom<usize> RangeTo<usize> RangeToInclusive<usize> RangeFull);
