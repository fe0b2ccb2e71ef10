//! An array, or a part of one, on one PE: what put and get take.

use core::fmt;
use core::marker::PhantomData;
use core::ops::RangeBounds;

use super::handle::NumaArray;
use super::storage::{Contiguous, Storage};
use crate::data::SymmetricData;
use crate::object::{On, many, one};
use crate::pe::{OnPe, Pe};
use crate::strided::Piece;

/// A symmetric array, or a part of it whose elements follow each other, on one PE.
///
/// ```text
/// ARRAY.on(right)                  all elements, in row-major order
/// ARRAY.on(right).index([3, 4])    one element: an `On`
/// ARRAY.on(right).index(3)         a row of two dimensions, a plane of three; an element of one
/// ARRAY.on(right).index(1..=n)     some of them, whatever chunks they lie in
/// ```
///
/// Columns, and what else does not follow each other, is moved by `strided!`.
pub struct ArrayOn<'a, T, const D: usize> {
    pe: Pe,
    pieces: &'a [Piece],
    /// The first element, counted from that of the array.
    first: usize,
    shape: [usize; D],
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
        ArrayOn { pe: pe.pe(), pieces: self.pieces(), first: 0, shape: self.shape(), _elements: PhantomData }
    }
}

impl<T: SymmetricData, const D: usize, S: Storage> NumaArray<T, D, S> {
    /// The array on `pe`, as the one range of row-major elements that it is.
    pub fn slice_on(&self, pe: impl OnPe) -> On<'_, [T]>
    where
        S: Contiguous,
    {
        let (pe, part) = (pe.pe(), self.parts().list()[0]);
        // SAFETY: `__new` was promised the elements at the only part, reserved for as long as the handle.
        unsafe { On::new(pe, part.segment, part.offset, part.elements) }
    }
}

impl<'a, T: SymmetricData, const D: usize> ArrayOn<'a, T, D> {
    /// Index of the segment of the array's first element.
    pub(crate) fn segment(&self) -> u32 {
        self.pieces[0].segment
    }

    /// Bytes from the start of the PE's slot to the array's first element.
    pub(crate) fn offset(&self) -> usize {
        self.pieces[0].offset
    }

    /// The PE.
    pub fn pe(&self) -> Pe {
        self.pe
    }

    /// Lengths of the dimensions.
    pub fn shape(&self) -> [usize; D] {
        self.shape
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has no elements: an empty range of an array.
    pub fn is_empty(&self) -> bool {
        self.shape[0] == 0
    }

    /// The ranges of memory that the elements lie in, in order: one for a storage of one range, else one for
    /// each run of neighbours in one chunk.
    pub fn pieces(self) -> impl Iterator<Item = On<'a, [T]>> {
        let size = size_of::<T>();
        let (start, end) = (self.first * size, (self.first + self.len()) * size);
        let before = self.pieces.partition_point(|piece| piece.start + piece.bytes <= start);
        self.pieces[before..].iter().take_while(move |piece| piece.start < end).map(move |piece| {
            let from = piece.start.max(start);
            let bytes = (piece.start + piece.bytes).min(end) - from;
            let offset = piece.offset + (from - piece.start);
            // SAFETY: the bytes lie in a piece of the array, and are whole elements: pieces are, and so is the
            // range. `__new` was promised the pieces, reserved for as long as the handle.
            unsafe { On::new(self.pe, piece.segment, offset, bytes / size) }
        })
    }

    /// The element with this number, counted from the first of the place.
    pub(super) fn element(self, number: usize) -> On<'a, T> {
        let size = size_of::<T>();
        let at = (self.first + number) * size;
        let piece = self.pieces[self.pieces.partition_point(|piece| piece.start <= at) - 1];
        // SAFETY: an element of the array, in the piece that holds it.
        unsafe { On::new(self.pe, piece.segment, piece.offset + (at - piece.start), 1) }
    }

    /// Some of the outermost rows.
    #[track_caller]
    pub(super) fn some(self, range: impl RangeBounds<usize>) -> Self {
        let (from, count) = many(range, self.shape[0]);
        let (first, mut shape) = (self.first + from * self.row_len(), self.shape);
        shape[0] = count;
        Self { first, shape, ..self }
    }

    /// One of the outermost rows, which has the other dimensions.
    #[track_caller]
    pub(super) fn row<const R: usize>(self, index: usize) -> ArrayOn<'a, T, R> {
        let first = self.first + one(index, self.shape[0]).0 * self.row_len();
        let shape = core::array::from_fn(|d| self.shape[D - R + d]);
        ArrayOn { pe: self.pe, pieces: self.pieces, first, shape, _elements: PhantomData }
    }

    /// Elements of an outermost row.
    fn row_len(&self) -> usize {
        self.shape[1..].iter().product()
    }
}

impl<T: SymmetricData, const D: usize> fmt::Debug for ArrayOn<'_, T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "elements {}..{} of an array on {:?}", self.first, self.first + self.len(), self.pe)
    }
}
