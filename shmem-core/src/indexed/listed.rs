//! Lists of elements by index ([`Listed`]), and the error of an index beyond the end.

use core::ops::RangeFull;

use crate::object::{On, PlaceIndex, object_at};
use crate::pe::Pe;
use crate::symmetric_data::{Contents, SymmetricData, copied};
use crate::text::counted;

/// An index of a list: `u32`, `u64` or `usize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no index of a list",
    label = "not `u32`, `u64` or `usize`",
    note = "numbers that are written down without a type are taken for `i32`: `&[1_usize, 5]`"
)]
pub trait ListIndex: Copy + sealed::Sealed {
    /// Returns the index as a `usize`; `usize::MAX` if the index is larger.
    #[doc(hidden)]
    fn index(self) -> usize;
}

macro_rules! indices {
    ($($index:ty)*) => {$(
        impl sealed::Sealed for $index {}
        impl ListIndex for $index {
            #[inline(always)]
            fn index(self) -> usize {
                usize::try_from(self).unwrap_or(usize::MAX)
            }
        }
    )*};
}
indices!(u32 u64 usize);

/// A list of elements, by index, of a place or of an object over several PEs. [`On::at`] and [`Over::at`](crate::indexed::Over::at)
/// make the list, and the methods of [`Indexed`](super::Indexed) access its elements.
#[derive(Debug)]
pub struct Listed<'i, P, X> {
    place: P,
    indices: &'i [X],
}

copied! { [P: Copy, X] Listed<'_, P, X>; }

impl<'i, P, X> Listed<'i, P, X> {
    #[inline(always)]
    pub(super) fn new(place: P, indices: &'i [X]) -> Self {
        Self { place, indices }
    }

    /// Returns the place and the indices.
    #[doc(hidden)]
    pub fn __parts(self) -> (P, &'i [X]) {
        (self.place, self.indices)
    }
}

impl<'a, T: Contents + ?Sized> On<'a, T> {
    /// Lists the elements with these indices, in this order. An index may repeat. The methods of
    /// [`Indexed`](crate::indexed::Indexed) check each index.
    #[inline(always)]
    pub fn at<'i, E: SymmetricData, X: ListIndex>(self, indices: &'i [X]) -> Listed<'i, On<'a, [E]>, X>
    where
        RangeFull: PlaceIndex<T, Output = [E]>,
    {
        Listed::new(self.index(..), indices)
    }
}

pub(super) mod sealed {
    use super::{Pe, SymmetricData};

    pub trait Sealed {}

    /// The memory range of an object's elements, which is the same in the slots of all its PEs.
    #[derive(Clone, Copy, Debug)]
    pub struct Span {
        /// Number of elements that have an index, on all PEs.
        pub len: usize,
        /// Index of the object's segment.
        pub segment: u32,
        /// Bytes from the start of a PE's slot to the first element.
        pub offset: usize,
        /// Number of elements on each PE.
        pub share: usize,
        /// Whether numbers of other sizes may overlap the object's numbers; see [`On::is_named`](crate::object::On::is_named).
        pub is_named: bool,
    }

    /// The location of elements that have an index.
    ///
    /// # Safety
    ///
    /// `share` elements of `Item` must be at `offset` in the slot of each of the PEs, aligned, and reserved for as long as the
    /// value lives. `locator` must return, for every index below `len`, a position in `pes` and an element number below `share`.
    pub unsafe trait Spread: Copy {
        /// Type of the elements.
        type Item: SymmetricData;

        /// Whether one PE has all elements, so that an element is found without a division.
        const IS_ONE: bool;

        /// Returns the memory range of the elements in a slot.
        fn span(self) -> Span;
        /// Returns the PEs that have the elements.
        fn pes(&self) -> &[Pe];
        /// Returns a function that maps an index to a position in `pes` and an element number there. The function owns its data,
        /// because otherwise the compiler would assume that a loop's stores change the data.
        fn locator(self) -> impl Fn(usize) -> (usize, usize) + Copy;
    }
}

// SAFETY: the elements of a place are at its offset, on its PE (`On::new`), and index `i` is element `i`.
unsafe impl<E: SymmetricData> sealed::Spread for On<'_, [E]> {
    type Item = E;

    const IS_ONE: bool = true;

    #[inline(always)]
    fn span(self) -> sealed::Span {
        let (len, is_named) = (On::len(&self), On::is_named(&self));
        sealed::Span { len, segment: On::segment(&self), offset: On::offset(&self), share: len, is_named }
    }

    #[inline(always)]
    fn pes(&self) -> &[Pe] {
        On::pes(self)
    }

    #[inline(always)]
    fn locator(self) -> impl Fn(usize) -> (usize, usize) + Copy {
        |index| (0, index)
    }
}

/// The error of an index beyond the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexBeyondEnd {
    pub(super) position: usize,
    pub(super) index: usize,
}

impl IndexBeyondEnd {
    /// Panics at the source line of the caller. The object has `len` elements, at `offset`.
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub(super) fn refuse(self, len: usize, offset: usize) -> ! {
        let Self { position, index } = self;
        panic!(
            "index {index} at position {position} of the list is beyond the end: {} has {} (0..{len})",
            object_at(offset),
            counted(len, "element")
        )
    }
}
