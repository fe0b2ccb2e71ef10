//! Places of arrays: an array on a PE, or a part of it, as the argument of put and get, or as the calling PE's own copy.

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

/// The PE of a place in an array: any [`Pe`], or the calling PE as [`OwnCopy`].
pub trait Copied<'a>: Copy {
    /// The type of a place in the array's copy on this PE: [`On`] or [`Here`].
    type At<P: Contents + ?Sized + 'a>;

    /// Returns the place of `len` items in the array's copy on this PE.
    ///
    /// # Safety
    ///
    /// At `offset` in segment `segment`, every PE's slot must have `len` items of `P`, aligned, and reserved for all of `'a`.
    #[doc(hidden)]
    unsafe fn place<P: Contents + ?Sized + 'a>(self, segment: u32, offset: usize, len: usize) -> Self::At<P>;
}

impl<'a> Copied<'a> for Pe {
    type At<P: Contents + ?Sized + 'a> = On<'a, P>;

    unsafe fn place<P: Contents + ?Sized + 'a>(self, segment: u32, offset: usize, len: usize) -> On<'a, P> {
        // SAFETY: the caller guarantees what `On::new` requires.
        unsafe { On::new(self, segment, offset, len) }
    }
}

/// The calling PE's own copy of an array. Not `Send`, because only the thread of its token (the borrowed world or context) may use
/// it.
#[derive(Clone, Copy)]
pub struct OwnCopy<'a> {
    token: &'a Endpoint,
    _thread: PhantomData<*const ()>,
}

impl<'a> Copied<'a> for OwnCopy<'a> {
    type At<P: Contents + ?Sized + 'a> = Here<'a, P>;

    unsafe fn place<P: Contents + ?Sized + 'a>(self, segment: u32, offset: usize, len: usize) -> Here<'a, P> {
        // SAFETY: the caller guarantees what `On::new` requires.
        Here::of(unsafe { On::new(self.token.me(), segment, offset, len) }, self.token)
    }
}

/// A symmetric array on a PE, or a part of it whose elements are adjacent in row-major order: [`ArrayOn`] or [`ArrayHere`].
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
    /// Row-major position of the place's first element in the array.
    first: usize,
    shape: [usize; D],
    _elements: PhantomData<fn() -> *const T>,
}

/// An array on a PE, or a part of it: the argument of put and get.
pub type ArrayOn<'a, T, const D: usize> = ArrayPlace<'a, T, D, Pe>;

/// The calling PE's own copy of an array, or a part of it. Gives no references to elements, because other PEs may write them at any
/// time. The counterpart for other objects is [`Here`].
pub type ArrayHere<'a, T, const D: usize> = ArrayPlace<'a, T, D, OwnCopy<'a>>;

copied! { [T, const D: usize, C: Copy] ArrayPlace<'_, T, D, C>; }

impl<T: SymmetricData, const D: usize, S: Storage> NumaArray<T, D, S> {
    fn place<C>(&self, copy: C) -> ArrayPlace<'_, T, D, C> {
        ArrayPlace { copy, pieces: self.pieces(), first: 0, shape: self.shape(), _elements: PhantomData }
    }

    /// The copy of the array on `pe`.
    pub fn on(&self, pe: impl OnPe) -> ArrayOn<'_, T, D> {
        self.place(pe.pe())
    }

    /// The calling PE's own copy of the array.
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

    /// The PE of the place.
    pub fn pe(&self) -> Pe {
        self.copy
    }
}

impl<'a, T: SymmetricData, const D: usize, C: Copied<'a>> ArrayPlace<'a, T, D, C> {
    /// Returns a part of the place: an element (index `[i, j]`, or `i` in one dimension), a row of two dimensions or a plane of
    /// three (index `i`), or a range of elements, rows or planes (index `i..j`).
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

    /// Whether the place has no elements, because its index was an empty range.
    pub fn is_empty(&self) -> bool {
        self.shape[0] == 0
    }

    /// The place's contiguous ranges of memory, in order: one if the storage is a single range, else one per run of each chunk.
    pub fn pieces(self) -> impl Iterator<Item = C::At<[T]>> {
        let size = size_of::<T>();
        let (start, end) = (self.first * size, (self.first + self.len()) * size);
        let before = self.pieces.partition_point(|piece| piece.start + piece.bytes <= start);
        self.pieces[before..].iter().take_while(move |piece| piece.start < end).map(move |piece| {
            let from = piece.start.max(start);
            let bytes = (piece.start + piece.bytes).min(end) - from;
            let offset = piece.offset + (from - piece.start);
            // SAFETY: the bytes are inside a piece of the array, and are whole elements, because pieces and the range from `start`
            // to `end` are. Pieces are reserved for as long as the handle lives (caller of `__new`).
            unsafe { self.copy.place(piece.segment, offset, bytes / size) }
        })
    }

    /// Returns the element at this row-major position in the place.
    pub(super) fn element(self, number: usize) -> C::At<T> {
        let size = size_of::<T>();
        let at = (self.first + number) * size;
        let piece = self.pieces[self.pieces.partition_point(|piece| piece.start <= at) - 1];
        // SAFETY: `piece` has the element, at byte `at`, and is reserved while the handle lives (caller of `__new`).
        unsafe { self.copy.place(piece.segment, piece.offset + (at - piece.start), 1) }
    }

    #[track_caller]
    pub(super) fn some(self, range: impl RangeBounds<usize>) -> Self {
        let (from, count) = many(range, self.shape[0], NAMELESS);
        let (first, mut shape) = (self.first + from * self.row_len(), self.shape);
        shape[0] = count;
        Self { first, shape, ..self }
    }

    /// Returns the part with this index in the first dimension. The part has the other dimensions.
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
    /// Returns the place's pieces, each with the range of its elements in a slice of length `len`. Panics, and calls the slice
    /// `other`, if the place has another length.
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

    /// Copies the elements to `to`, in row-major order.
    ///
    /// # Panics
    ///
    /// If the lengths of `to` and the place differ.
    #[track_caller]
    pub fn copy_to(self, to: &mut [T]) {
        for (range, piece) in self.opposite(to.len(), "the destination") {
            piece.copy_to(&mut to[range]);
        }
    }

    /// Copies `from` to the elements, in row-major order.
    ///
    /// # Panics
    ///
    /// If the lengths of `from` and the place differ.
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
