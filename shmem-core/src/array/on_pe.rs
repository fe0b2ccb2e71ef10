//! An array, or a part of one, on a PE: argument of put and get; and the calling PE's own copy, by value.

use core::marker::PhantomData;
use core::ops::{Range, RangeBounds};

use super::handle::NumaArray;
use super::index::ArrayPlaceIndex;
use super::storage::Storage;
use crate::endpoint::{Endpoint, Initiator};
use crate::object::{Here, NAMELESS, On, many, one};
use crate::pe::{OnPe, Pe};
use crate::strided::Piece;
use crate::symmetric_data::{Contents, PlainData, SymmetricData, copied};

/// Says whose copy of an array a place is in: that of a [`Pe`], or the calling PE's [`OwnCopy`].
pub trait Copied<'a>: Copy {
    /// A place in the copy.
    type At<P: Contents + ?Sized + 'a>;

    /// `len` items in the copy.
    ///
    /// # Safety
    ///
    /// As [`On::new`].
    #[doc(hidden)]
    unsafe fn place<P: Contents + ?Sized + 'a>(self, segment: u32, offset: usize, len: usize) -> Self::At<P>;
}

impl<'a> Copied<'a> for Pe {
    type At<P: Contents + ?Sized + 'a> = On<'a, P>;

    unsafe fn place<P: Contents + ?Sized + 'a>(self, segment: u32, offset: usize, len: usize) -> On<'a, P> {
        // SAFETY: the caller's promise.
        unsafe { On::new(self, segment, offset, len) }
    }
}

/// The calling PE's own copy, which stays in the thread of its token.
#[derive(Clone, Copy)]
pub struct OwnCopy<'a> {
    token: &'a Endpoint,
    _thread: PhantomData<*const ()>,
}

impl<'a> Copied<'a> for OwnCopy<'a> {
    type At<P: Contents + ?Sized + 'a> = Here<'a, P>;

    unsafe fn place<P: Contents + ?Sized + 'a>(self, segment: u32, offset: usize, len: usize) -> Here<'a, P> {
        // SAFETY: the caller's promise.
        Here::of(unsafe { On::new(self.token.me(), segment, offset, len) }, self.token)
    }
}

/// A symmetric array, or a part of it whose elements follow each other: [`ArrayOn`] or [`ArrayHere`].
///
/// ```text
/// ARRAY.on(right)                  all elements, in row-major order
/// ARRAY.on(right).index([3, 4])    one element: an `On`
/// ARRAY.on(right).index(3)         a row of two dimensions, a plane of three; an element of one
/// ARRAY.on(right).index(1..=n)     some rows or planes, across chunks
/// ```
///
/// `strided!` moves columns, and other elements with gaps between them.
pub struct ArrayPlace<'a, T, const D: usize, C> {
    copy: C,
    pieces: &'a [Piece],
    /// Number of the first element in the array.
    first: usize,
    shape: [usize; D],
    _elements: PhantomData<fn() -> *const T>,
}

/// An array, or a part of it, on one PE: what put and get take.
pub type ArrayOn<'a, T, const D: usize> = ArrayPlace<'a, T, D, Pe>;

/// The calling PE's own copy of an array or of a part of it, as [`Here`] is of other objects: other PEs may write it at any
/// time, so there is no reference to it.
pub type ArrayHere<'a, T, const D: usize> = ArrayPlace<'a, T, D, OwnCopy<'a>>;

copied! { [T, const D: usize, C: Copy] ArrayPlace<'_, T, D, C>; }

impl<T: SymmetricData, const D: usize, S: Storage> NumaArray<T, D, S> {
    fn place<C>(&self, copy: C) -> ArrayPlace<'_, T, D, C> {
        ArrayPlace { copy, pieces: self.pieces(), first: 0, shape: self.shape(), _elements: PhantomData }
    }

    /// The array on `pe`.
    pub fn on(&self, pe: impl OnPe) -> ArrayOn<'_, T, D> {
        self.place(pe.pe())
    }

    /// The calling PE's own copy.
    #[inline]
    pub fn here<'a>(&'a self, token: &'a (impl Initiator + ?Sized)) -> ArrayHere<'a, T, D> {
        self.place(OwnCopy { token: token.endpoint(), _thread: PhantomData })
    }
}

impl<T: SymmetricData, const D: usize> ArrayOn<'_, T, D> {
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
        self.copy
    }
}

impl<'a, T: SymmetricData, const D: usize, C: Copied<'a>> ArrayPlace<'a, T, D, C> {
    /// A part: an element by its index (`[i, j]`, or `i` in one dimension), a row of two dimensions or a plane of three
    /// (`i`), or a range of adjacent ones (`i..j`).
    ///
    /// # Panics
    ///
    /// If the index is beyond the end.
    #[track_caller]
    pub fn index<I: ArrayPlaceIndex<D>>(self, index: I) -> I::Part<'a, T, C> {
        index.of(self)
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

    /// The contiguous ranges of memory of the elements, in order: one if the storage is one range, else one for each run of a chunk.
    pub fn pieces(self) -> impl Iterator<Item = C::At<[T]>> {
        let size = size_of::<T>();
        let (start, end) = (self.first * size, (self.first + self.len()) * size);
        let before = self.pieces.partition_point(|piece| piece.start + piece.bytes <= start);
        self.pieces[before..].iter().take_while(move |piece| piece.start < end).map(move |piece| {
            let from = piece.start.max(start);
            let bytes = (piece.start + piece.bytes).min(end) - from;
            let offset = piece.offset + (from - piece.start);
            // SAFETY: the bytes are in a piece of the array, and are whole elements, as pieces and the range are.
            // The caller of `__new` promised that the pieces are reserved for as long as the handle.
            unsafe { self.copy.place(piece.segment, offset, bytes / size) }
        })
    }

    /// The element with a number in row-major order.
    pub(super) fn element(self, number: usize) -> C::At<T> {
        let size = size_of::<T>();
        let at = (self.first + number) * size;
        let piece = self.pieces[self.pieces.partition_point(|piece| piece.start <= at) - 1];
        // SAFETY: an element of the array, in the piece that holds it.
        unsafe { self.copy.place(piece.segment, piece.offset + (at - piece.start), 1) }
    }

    #[track_caller]
    pub(super) fn some(self, range: impl RangeBounds<usize>) -> Self {
        let (from, count) = many(range, self.shape[0], NAMELESS);
        let (first, mut shape) = (self.first + from * self.row_len(), self.shape);
        shape[0] = count;
        Self { first, shape, ..self }
    }

    /// The part with an index in the outermost dimension, which has the other dimensions.
    #[track_caller]
    pub(super) fn row<const R: usize>(self, index: usize) -> ArrayPlace<'a, T, R, C> {
        let Self { copy, pieces, .. } = self;
        let first = self.first + one(index, self.shape[0], NAMELESS).0 * self.row_len();
        let shape = core::array::from_fn(|d| self.shape[D - R + d]);
        ArrayPlace { copy, pieces, first, shape, _elements: PhantomData }
    }

    fn row_len(&self) -> usize {
        self.shape[1..].iter().product()
    }
}

impl<'a, T: PlainData, const D: usize> ArrayHere<'a, T, D> {
    /// The pieces, each with its range of elements. Panics unless the place has `len` elements, as many as `other`.
    #[track_caller]
    fn opposite(self, len: usize, other: &str) -> impl Iterator<Item = (Range<usize>, Here<'a, [T]>)> {
        let own = self.len();
        assert_eq!(own, len, "the place has {own} elements, {other} {len}");
        self.pieces().scan(0, |first, piece| {
            let start = *first;
            *first += piece.len();
            Some((start..*first, piece))
        })
    }

    /// Copies the elements out, in row-major order.
    ///
    /// # Panics
    ///
    /// If `to` has another length.
    #[track_caller]
    pub fn copy_to(self, to: &mut [T]) {
        for (range, piece) in self.opposite(to.len(), "the destination") {
            piece.copy_to(&mut to[range]);
        }
    }

    /// Copies elements in, in row-major order.
    ///
    /// # Panics
    ///
    /// If `from` has another length.
    #[track_caller]
    pub fn copy_from(self, from: &[T]) {
        for (range, piece) in self.opposite(from.len(), "the source") {
            piece.copy_from(&from[range]);
        }
    }

    /// Writes `value` to every element.
    #[track_caller]
    pub fn fill(self, value: T) {
        for piece in self.pieces() {
            piece.fill(value);
        }
    }
}
