//! Iterators over the elements and runs of arrays and chunks, as references.

use core::iter::FusedIterator;
use core::marker::PhantomData;

use super::rows::{Rows, Runs as RawRuns, Tour, Walk};
use super::storage::Storage;

macro_rules! elements {
    (
        $reference:ty, $slice:ty, $from_raw:path, ($($mutable:tt)?), $send:ident,
        $iter:ident, $runs:ident, $chunk_iter:ident, $chunk_runs:ident, $of:literal
    ) => {
        #[doc = concat!("The elements of an array, in row-major order: ", $of, ".")]
        #[derive(Debug)]
        pub struct $iter<'x, T, const D: usize, S: Storage> {
            tour: Tour<'x, T, D, S>,
            _lent: PhantomData<$reference>,
        }

        #[doc = concat!("The elements of an array, as slices of neighbours in row-major order: ", $of, ".")]
        #[derive(Debug)]
        pub struct $runs<'x, T, const D: usize, S: Storage> {
            runs: RawRuns<'x, T, D, S>,
            _lent: PhantomData<$reference>,
        }

        #[doc = concat!("The elements of a chunk, in row-major order: ", $of, ".")]
        #[derive(Debug)]
        pub struct $chunk_iter<'x, T> {
            walk: Walk<T>,
            _lent: PhantomData<$reference>,
        }

        #[doc = concat!("The elements of a chunk, as slices of neighbours in row-major order: ", $of, ".")]
        #[derive(Debug)]
        pub struct $chunk_runs<'x, T> {
            walk: Walk<T>,
            left: usize,
            _lent: PhantomData<$reference>,
        }

        // SAFETY: it is to be seen as an iterator over `$reference`.
        unsafe impl<T: $send, const D: usize, S: Storage> Send for $iter<'_, T, D, S> {}
        // SAFETY: as above. A shared iterator gives nothing out.
        unsafe impl<T: Sync, const D: usize, S: Storage> Sync for $iter<'_, T, D, S> {}
        // SAFETY: as above.
        unsafe impl<T: $send, const D: usize, S: Storage> Send for $runs<'_, T, D, S> {}
        // SAFETY: as above.
        unsafe impl<T: Sync, const D: usize, S: Storage> Sync for $runs<'_, T, D, S> {}
        // SAFETY: as above.
        unsafe impl<T: $send> Send for $chunk_iter<'_, T> {}
        // SAFETY: as above.
        unsafe impl<T: Sync> Sync for $chunk_iter<'_, T> {}
        // SAFETY: as above.
        unsafe impl<T: $send> Send for $chunk_runs<'_, T> {}
        // SAFETY: as above.
        unsafe impl<T: Sync> Sync for $chunk_runs<'_, T> {}

        impl<'x, T, const D: usize, S: Storage> $iter<'x, T, D, S> {
            /// # Safety
            ///
            /// The tour must be through elements that are lent for `'x`, and to this iterator only if
            /// they are lent mutably.
            #[inline(always)]
            pub(super) unsafe fn new(tour: Tour<'x, T, D, S>) -> Self {
                Self { tour, _lent: PhantomData }
            }
        }

        impl<'x, T, const D: usize, S: Storage> Iterator for $iter<'x, T, D, S> {
            type Item = $reference;

            #[inline(always)]
            fn next(&mut self) -> Option<$reference> {
                let element = self.tour.next()?;
                // SAFETY: an element that was lent (`new`), and a tour comes to each one once.
                Some(unsafe { & $($mutable)? *element })
            }

            #[inline(always)]
            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.tour.len(), Some(self.tour.len()))
            }

            #[inline]
            fn fold<B, F: FnMut(B, $reference) -> B>(mut self, first: B, mut f: F) -> B {
                let mut result = first;
                while let Some((start, length)) = self.tour.next_run() {
                    // SAFETY: elements that were lent (`new`), and a tour comes to each one once.
                    let run: $slice = unsafe { $from_raw(start, length) };
                    result = run.into_iter().fold(result, &mut f);
                }
                result
            }
        }

        impl<T, const D: usize, S: Storage> ExactSizeIterator for $iter<'_, T, D, S> {}
        impl<T, const D: usize, S: Storage> FusedIterator for $iter<'_, T, D, S> {}

        impl<'x, T, const D: usize, S: Storage> $runs<'x, T, D, S> {
            /// # Safety
            ///
            /// As for the iterator over elements.
            #[inline(always)]
            pub(super) unsafe fn new(runs: RawRuns<'x, T, D, S>) -> Self {
                Self { runs, _lent: PhantomData }
            }
        }

        impl<'x, T, const D: usize, S: Storage> Iterator for $runs<'x, T, D, S> {
            type Item = $slice;

            #[inline(always)]
            fn next(&mut self) -> Option<$slice> {
                let (start, length) = self.runs.next()?;
                // SAFETY: elements that were lent (`new`), each of them in one run.
                Some(unsafe { $from_raw(start, length) })
            }

            #[inline(always)]
            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.runs.len(), Some(self.runs.len()))
            }
        }

        impl<T, const D: usize, S: Storage> ExactSizeIterator for $runs<'_, T, D, S> {}
        impl<T, const D: usize, S: Storage> FusedIterator for $runs<'_, T, D, S> {}

        impl<'x, T> $chunk_iter<'x, T> {
            /// # Safety
            ///
            /// The rows must hold elements that are lent for `'x`, and to this iterator only if they are
            /// lent mutably.
            #[inline(always)]
            pub(super) unsafe fn new(rows: Rows<T>) -> Self {
                Self { walk: Walk::new(rows), _lent: PhantomData }
            }

            /// The first `count` elements, and the others.
            ///
            /// # Panics
            ///
            /// If there are fewer.
            #[must_use]
            pub fn split_at(self, count: usize) -> (Self, Self) {
                let (front, back) = self.walk.split_at(count);
                (Self { walk: front, _lent: PhantomData }, Self { walk: back, _lent: PhantomData })
            }
        }

        impl<'x, T> Iterator for $chunk_iter<'x, T> {
            type Item = $reference;

            #[inline(always)]
            fn next(&mut self) -> Option<$reference> {
                let element = self.walk.next()?;
                // SAFETY: an element that was lent (`new`), and a walk comes to each one once.
                Some(unsafe { & $($mutable)? *element })
            }

            #[inline(always)]
            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.walk.len(), Some(self.walk.len()))
            }

            #[inline]
            fn fold<B, F: FnMut(B, $reference) -> B>(mut self, first: B, mut f: F) -> B {
                let mut result = first;
                while let Some((start, length)) = self.walk.next_run() {
                    // SAFETY: elements that were lent (`new`), and a walk comes to each one once.
                    let run: $slice = unsafe { $from_raw(start, length) };
                    result = run.into_iter().fold(result, &mut f);
                }
                result
            }
        }

        impl<'x, T> DoubleEndedIterator for $chunk_iter<'x, T> {
            #[inline]
            fn next_back(&mut self) -> Option<$reference> {
                let element = self.walk.next_back()?;
                // SAFETY: as in `next`.
                Some(unsafe { & $($mutable)? *element })
            }
        }

        impl<T> ExactSizeIterator for $chunk_iter<'_, T> {}
        impl<T> FusedIterator for $chunk_iter<'_, T> {}

        impl<'x, T> $chunk_runs<'x, T> {
            /// # Safety
            ///
            /// As for the iterator over elements.
            #[inline(always)]
            pub(super) unsafe fn new(rows: Rows<T>) -> Self {
                Self { walk: Walk::new(rows), left: rows.count(), _lent: PhantomData }
            }
        }

        impl<'x, T> Iterator for $chunk_runs<'x, T> {
            type Item = $slice;

            #[inline(always)]
            fn next(&mut self) -> Option<$slice> {
                let (start, length) = self.walk.next_run()?;
                self.left -= 1;
                // SAFETY: elements that were lent (`new`), each of them in one run.
                Some(unsafe { $from_raw(start, length) })
            }

            #[inline(always)]
            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.left, Some(self.left))
            }
        }

        impl<T> ExactSizeIterator for $chunk_runs<'_, T> {}
        impl<T> FusedIterator for $chunk_runs<'_, T> {}
    };
}

impl<T, const D: usize, S: Storage> Clone for Iter<'_, T, D, S> {
    fn clone(&self) -> Self {
        Self { tour: self.tour.clone(), _lent: PhantomData }
    }
}

impl<T> Clone for ChunkIter<'_, T> {
    fn clone(&self) -> Self {
        Self { walk: self.walk.clone(), _lent: PhantomData }
    }
}

elements!(
    &'x T,
    &'x [T],
    core::slice::from_raw_parts,
    (),
    Sync,
    Iter,
    Runs,
    ChunkIter,
    ChunkRuns,
    "shared references"
);
elements!(
    &'x mut T, &'x mut [T], core::slice::from_raw_parts_mut, (mut), Send,
    IterMut, RunsMut, ChunkIterMut, ChunkRunsMut, "exclusive references"
);
