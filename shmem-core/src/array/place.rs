//! An array, or a part of one, in one place: on one PE, as put and get take it, and the calling PE's own copy, by value.

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use super::handle::NumaArray;
use super::storage::{Contiguous, Storage};
use crate::data::{PlainData, SymmetricData, copied};
use crate::endpoint::{Endpoint, Initiator};
use crate::object::{Here, NAMELESS, On, many, one};
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

copied! { [T, const D: usize] ArrayOn<'_, T, D>; }

impl<T: SymmetricData, const D: usize, S: Storage> NumaArray<T, D, S> {
    /// The array on `pe`.
    pub fn on(&self, pe: impl OnPe) -> ArrayOn<'_, T, D> {
        ArrayOn { pe: pe.pe(), pieces: self.pieces(), first: 0, shape: self.shape(), _elements: PhantomData }
    }

    /// The array on `pe`, as the one range of row-major elements that it is.
    pub fn slice_on(&self, pe: impl OnPe) -> On<'_, [T]>
    where
        S: Contiguous,
    {
        let (pe, part) = (pe.pe(), self.parts()[0]);
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
        let (from, count) = many(range, self.shape[0], NAMELESS);
        let (first, mut shape) = (self.first + from * self.row_len(), self.shape);
        shape[0] = count;
        Self { first, shape, ..self }
    }

    /// One of the outermost rows, which has the other dimensions.
    #[track_caller]
    pub(super) fn row<const R: usize>(self, index: usize) -> ArrayOn<'a, T, R> {
        let first = self.first + one(index, self.shape[0], NAMELESS).0 * self.row_len();
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

/// The calling PE's own copy of an array or of a part of it, as [`Here`] is of other objects: other PEs may write it at any
/// time, so there is no reference to it. It stays in the thread of its token.
pub struct ArrayHere<'a, T, const D: usize> {
    place: ArrayOn<'a, T, D>,
    token: &'a Endpoint,
    _thread: PhantomData<*const ()>,
}

copied! { [T, const D: usize] ArrayHere<'_, T, D>; }

impl<T: SymmetricData, const D: usize, S: Storage> NumaArray<T, D, S> {
    /// The calling PE's own copy.
    #[inline]
    pub fn here<'a>(&'a self, token: &'a (impl Initiator + ?Sized)) -> ArrayHere<'a, T, D> {
        let token = token.endpoint();
        ArrayHere { place: self.on(token.me()), token, _thread: PhantomData }
    }

    /// The calling PE's own copy, as the one range of row-major elements that it is.
    #[inline]
    pub fn slice_here<'a>(&'a self, token: &'a (impl Initiator + ?Sized)) -> Here<'a, [T]>
    where
        S: Contiguous,
    {
        let here = self.here(token);
        here.part(self.slice_on(here.token.me()))
    }
}

impl<'a, T: SymmetricData, const D: usize> ArrayHere<'a, T, D> {
    /// The place as [`ArrayOn`] has it.
    pub(super) fn place(self) -> ArrayOn<'a, T, D> {
        self.place
    }

    /// Another part of the array.
    pub(super) fn with<const R: usize>(self, place: ArrayOn<'a, T, R>) -> ArrayHere<'a, T, R> {
        ArrayHere { place, token: self.token, _thread: PhantomData }
    }

    /// Another part of the array, which is one range.
    pub(super) fn part<P: crate::data::Contents + ?Sized>(self, place: On<'a, P>) -> Here<'a, P> {
        Here::of(place, self.token)
    }

    /// Lengths of the dimensions.
    pub fn shape(self) -> [usize; D] {
        self.place.shape()
    }

    /// Number of elements.
    pub fn len(self) -> usize {
        self.place.len()
    }

    /// Whether it has no elements: an empty range of an array.
    pub fn is_empty(self) -> bool {
        self.place.is_empty()
    }

    /// The ranges of memory that the elements lie in, in order: one for a storage of one range, else one for
    /// each run of neighbours in one chunk.
    pub fn pieces(self) -> impl Iterator<Item = Here<'a, [T]>> {
        self.place.pieces().map(move |piece| self.part(piece))
    }
}

impl<'a, T: PlainData, const D: usize> ArrayHere<'a, T, D> {
    /// The pieces, and which of the place's elements each has; `other` must have as many.
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

impl<T: SymmetricData, const D: usize> fmt::Debug for ArrayHere<'_, T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, which is the calling one", self.place)
    }
}

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
    [] usize, 1: |index, place| one(index, place.shape()[0], NAMELESS).0;
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
