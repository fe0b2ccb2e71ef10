//! Elements by a list of their indices; an index that is out of bounds.

use core::ops::RangeFull;

use crate::data::{Contents, SymmetricData, copied};
use crate::object::{On, PlaceIndex, object_at};
use crate::pe::Pe;
use crate::text::counted;

/// What lists consist of: `u32`, `u64` or `usize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no index of a list",
    label = "not `u32`, `u64` or `usize`",
    note = "numbers that are written down without a type are taken for `i32`: `&[1_usize, 5]`"
)]
pub trait ListIndex: Copy + sealed::Sealed {
    /// The index; what no object has where it is larger than addresses are.
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

/// Elements of a place, or of an object over several PEs, by index: what [`On::at`] and
/// [`Over::at`](crate::indexed::Over::at) give, and the verbs of
/// [`Indexed`](super::Indexed) take.
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

    /// What they are elements of, and the list.
    #[doc(hidden)]
    pub fn __parts(self) -> (P, &'i [X]) {
        (self.place, self.indices)
    }
}

impl<'a, T: Contents + ?Sized> On<'a, T> {
    /// Those elements whose indices are in a list, in its order; any may be there several times. The verbs of
    /// [`Indexed`](crate::indexed::Indexed) check each of them.
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

    /// Types of indices.
    pub trait Sealed {}

    /// The same part of a slot on each of some PEs, and how many elements have an index.
    #[derive(Clone, Copy, Debug)]
    pub struct Span {
        /// How many elements there are.
        pub len: usize,
        /// Index of the segment.
        pub segment: u32,
        /// Bytes from the start of a slot.
        pub offset: usize,
        /// How many elements each PE has.
        pub share: usize,
        /// As [`On::is_named`](crate::object::On::is_named).
        pub is_named: bool,
    }

    /// Where elements are that have an index.
    ///
    /// # Safety
    ///
    /// Of its span, `share` elements of `Item` must lie at `offset` in the segment of each of the PEs, aligned, and reserved for as
    /// long as the value lives. What `locator` gives must give, for every index below `len`, which of the PEs has the element, and which of
    /// the `share` elements it is there.
    pub unsafe trait Spread: Copy {
        /// What they are.
        type Item: SymmetricData;

        /// Whether all are with one PE, so that nothing has to be divided to find one.
        const IS_ONE: bool;

        /// Where each PE has them.
        fn span(self) -> Span;
        /// Who has them.
        fn pes(&self) -> &[Pe];
        /// What says which of the PEs has an element, and which one it is there: for loops, all by value, since what they write may
        /// be anything that has an address, for all that the compiler knows.
        fn locator(self) -> impl Fn(usize) -> (usize, usize) + Copy;
    }
}

// SAFETY: a place of a slice has its elements at its offset, on its PE (`On::new`), and index `i` is element `i`.
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

/// An index beyond the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// Its position in the list.
    pub(super) position: usize,
    /// What it is.
    pub(super) index: usize,
}

impl Wrong {
    /// Tells the program's line, of an object of `len` elements at an offset.
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
