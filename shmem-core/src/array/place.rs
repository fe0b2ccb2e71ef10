//! An array on one PE: what put and get take.

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use super::geometry::Geometry;
use super::handle::NumaArray;
use super::storage::{Contiguous, Storage};
use crate::data::SymmetricData;
use crate::object::{On, many, one};
use crate::pe::{OnPe, Pe};

/// A symmetric array, or a range of its elements, on one PE.
///
/// ```text
/// ARRAY.on(right)                  all elements, in row-major order
/// ARRAY.on(right).index([3, 4])    one element: an `On`
/// ARRAY.on(right).index(1..=n)     a range of a one-dimensional array, whatever chunks it lies in
/// ```
pub struct ArrayOn<'a, T, const D: usize> {
    pe: Pe,
    geometry: &'a Geometry<D>,
    first: usize,
    len: usize,
    _elements: PhantomData<fn() -> *const T>,
}

impl<T, const D: usize> Clone for ArrayOn<'_, T, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const D: usize> Copy for ArrayOn<'_, T, D> {}

impl<T: SymmetricData, const D: usize, S: Storage> NumaArray<T, D, S> {
    /// The array on `pe`.
    pub fn on(&self, pe: impl OnPe) -> ArrayOn<'_, T, D> {
        let pe = pe.pe();
        ArrayOn { pe, geometry: self.geometry(), first: 0, len: self.len(), _elements: PhantomData }
    }
}

impl<T: SymmetricData, const D: usize, S: Contiguous> NumaArray<T, D, S> {
    /// The array on `pe`, as the one range of row-major elements that it is.
    pub fn slice_on(&self, pe: Pe) -> On<'_, [T]> {
        let part = self.parts().list()[0];
        // SAFETY: `__new` was promised the elements at the only part, reserved for as long as the handle.
        unsafe { On::new(pe, part.segment, part.offset, part.elements) }
    }
}

impl<'a, T: SymmetricData, const D: usize> ArrayOn<'a, T, D> {
    /// Index of the segment of the first element.
    pub(crate) fn segment(&self) -> u32 {
        self.geometry.parts().list()[0].segment
    }

    /// Bytes from the start of the PE's slot to the first element.
    pub(crate) fn offset(&self) -> usize {
        self.geometry.parts().list()[0].offset
    }

    /// The PE.
    pub fn pe(&self) -> Pe {
        self.pe
    }

    /// Number of elements.
    #[expect(clippy::len_without_is_empty, reason = "a place of a whole array is never empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// A part: an element by its index (`[i, j]`, or `i` in one dimension), or a range of a one-dimensional
    /// array.
    ///
    /// # Panics
    ///
    /// If the index is beyond the end.
    #[track_caller]
    pub fn index<I: ArrayPlaceIndex<D>>(self, index: I) -> I::Place<'a, T> {
        index.of(self)
    }

    /// The ranges of memory that the elements lie in, in order: one for a storage of one range, else one for
    /// each run of neighbours in one chunk.
    pub fn pieces(self) -> impl Iterator<Item = On<'a, [T]>> {
        let size = size_of::<T>();
        let (start, end) = (self.first * size, (self.first + self.len) * size);
        let pieces = self.geometry.pieces();
        let before = pieces.partition_point(|piece| piece.start + piece.bytes <= start);
        pieces[before..].iter().take_while(move |piece| piece.start < end).map(move |piece| {
            let from = piece.start.max(start);
            let bytes = (piece.start + piece.bytes).min(end) - from;
            let offset = piece.offset + (from - piece.start);
            // SAFETY: the bytes lie in a piece of the array, and are whole elements: pieces are, and so is the
            // range. `__new` was promised the pieces, reserved for as long as the handle.
            unsafe { On::new(self.pe, piece.segment, offset, bytes / size) }
        })
    }

    fn element(self, number: usize) -> On<'a, T> {
        let size = size_of::<T>();
        let at = (self.first + number) * size;
        let pieces = self.geometry.pieces();
        let piece = pieces[pieces.partition_point(|piece| piece.start <= at) - 1];
        // SAFETY: an element of the array, in the piece that holds it.
        unsafe { On::new(self.pe, piece.segment, piece.offset + (at - piece.start), 1) }
    }
}

/// What an array on a PE can be indexed with.
#[diagnostic::on_unimplemented(
    message = "an array of {D} dimensions on a PE cannot be indexed by `{Self}`",
    note = "elements are indexed by `[i, j]`, one-dimensional arrays by `usize` and by ranges of `usize`; for regions of several dimensions, use `strided!`"
)]
pub trait ArrayPlaceIndex<const D: usize> {
    /// The part.
    type Place<'a, T: SymmetricData>;

    #[doc(hidden)]
    #[track_caller]
    fn of<T: SymmetricData>(self, place: ArrayOn<'_, T, D>) -> Self::Place<'_, T>;
}

impl ArrayPlaceIndex<1> for usize {
    type Place<'a, T: SymmetricData> = On<'a, T>;

    fn of<T: SymmetricData>(self, place: ArrayOn<'_, T, 1>) -> On<'_, T> {
        place.element(one(self, place.len).0)
    }
}

impl<const D: usize> ArrayPlaceIndex<D> for [usize; D] {
    type Place<'a, T: SymmetricData> = On<'a, T>;

    fn of<T: SymmetricData>(self, place: ArrayOn<'_, T, D>) -> On<'_, T> {
        // Only places in arrays of one dimension are ranges.
        let shape = if D == 1 { [place.len; D] } else { place.geometry.chunking().shape() };
        let inside = self.iter().zip(&shape).all(|(index, length)| index < length);
        assert!(inside, "index {self:?} is beyond the end: the place is {shape:?}");
        place.element(self.iter().zip(&shape).fold(0, |number, (index, length)| number * length + index))
    }
}

macro_rules! ranges {
    ($($range:ty)*) => {$(
        impl ArrayPlaceIndex<1> for $range {
            type Place<'a, T: SymmetricData> = ArrayOn<'a, T, 1>;

            fn of<T: SymmetricData>(self, place: ArrayOn<'_, T, 1>) -> ArrayOn<'_, T, 1> {
                let (first, len) = many(self, place.len);
                ArrayOn { first: place.first + first, len, ..place }
            }
        }
    )*};
}
ranges!(Range<usize> RangeInclusive<usize> RangeFrom<usize> RangeTo<usize> RangeToInclusive<usize> RangeFull);

impl<T: SymmetricData, const D: usize> fmt::Debug for ArrayOn<'_, T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "elements {}..{} of an array on {:?}", self.first, self.first + self.len, self.pe)
    }
}
