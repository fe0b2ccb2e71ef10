//! The calling PE's own copy of an array, outside phases: by value.

use core::fmt;
use core::marker::PhantomData;

use super::handle::NumaArray;
use super::place::ArrayOn;
use super::storage::{Contiguous, Storage};
use crate::data::{PlainData, SymmetricData};
use crate::endpoint::{Endpoint, Initiator};
use crate::object::{Here, On};

/// The calling PE's own copy of an array or of a part of it, as [`Here`] is of other objects: other PEs may write it at any
/// time, so there is no reference to it. It stays in the thread of its token.
pub struct ArrayHere<'a, T, const D: usize> {
    place: ArrayOn<'a, T, D>,
    token: &'a Endpoint,
    _thread: PhantomData<*const ()>,
}

impl<T, const D: usize> Clone for ArrayHere<'_, T, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const D: usize> Copy for ArrayHere<'_, T, D> {}

impl<T: SymmetricData, const D: usize, S: Storage> NumaArray<T, D, S> {
    /// The calling PE's own copy.
    #[inline]
    pub fn here<'a>(&'a self, token: &'a (impl Initiator + ?Sized)) -> ArrayHere<'a, T, D> {
        let token = token.endpoint();
        ArrayHere { place: self.on(token.me()), token, _thread: PhantomData }
    }
}

impl<T: SymmetricData, const D: usize, S: Storage> NumaArray<T, D, S> {
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

impl<T: PlainData, const D: usize> ArrayHere<'_, T, D> {
    /// Copies the elements out, in row-major order.
    ///
    /// # Panics
    ///
    /// If `to` has another length.
    #[track_caller]
    pub fn copy_to(self, to: &mut [T]) {
        let len = self.len();
        assert_eq!(len, to.len(), "the place has {len} elements, the destination {}", to.len());
        let mut rest = to;
        for piece in self.pieces() {
            let (next, behind) = rest.split_at_mut(piece.len());
            piece.copy_to(next);
            rest = behind;
        }
    }

    /// Copies elements in, in row-major order.
    ///
    /// # Panics
    ///
    /// If `from` has another length.
    #[track_caller]
    pub fn copy_from(self, from: &[T]) {
        let len = self.len();
        assert_eq!(len, from.len(), "the place has {len} elements, the source {}", from.len());
        let mut rest = from;
        for piece in self.pieces() {
            let (next, behind) = rest.split_at(piece.len());
            piece.copy_from(next);
            rest = behind;
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
