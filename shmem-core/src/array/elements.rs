//! Iterators over the elements and runs of arrays and chunks, as references.
//!
//! An iterator over elements is one over a slice, the run that it is in, and the runs behind it. So a
//! loop spends its time where a loop over a slice does.

use core::iter::FusedIterator;
use core::marker::PhantomData;

use super::rows::{Rows, Tour, Walk};
use super::storage::Storage;

/// Elements one after the other: those of a run, and then those of the runs that are left behind it.
macro_rules! by_runs {
    ([$($parameters:tt)*] $iter:ty, $reference:ty, $behind:ident) => {
        impl<$($parameters)*> Iterator for $iter {
            type Item = $reference;

            #[inline(always)]
            fn next(&mut self) -> Option<$reference> {
                loop {
                    if let Some(element) = self.run.next() {
                        return Some(element);
                    }
                    self.run = self.go_on()?;
                }
            }

            #[inline(always)]
            fn size_hint(&self) -> (usize, Option<usize>) {
                let left = self.run.len() + self.$behind.len();
                (left, Some(left))
            }

            #[inline]
            fn fold<B, F: FnMut(B, $reference) -> B>(mut self, first: B, mut f: F) -> B {
                let mut result = first;
                loop {
                    result = core::mem::take(&mut self.run).fold(result, &mut f);
                    match self.go_on() {
                        Some(run) => self.run = run,
                        None => return result,
                    }
                }
            }
        }
    };
}

macro_rules! elements {
    (
        $reference:ty, $slice:ty, $run:ident, $from_raw:path, $send:ident,
        $iter:ident, $runs:ident, $chunk_iter:ident, $chunk_runs:ident, $of:literal
    ) => {
        #[doc = concat!("The elements of an array, in row-major order: ", $of, ".")]
        #[derive(Debug)]
        pub struct $iter<'x, T, const D: usize, S: Storage> {
            run: core::slice::$run<'x, T>,
            tour: Tour<'x, T, D, S>,
        }

        #[doc = concat!("The elements of an array, as slices of neighbours in row-major order: ", $of, ".")]
        #[derive(Debug)]
        pub struct $runs<'x, T, const D: usize, S: Storage> {
            tour: Tour<'x, T, D, S>,
            _lent: PhantomData<$reference>,
        }

        #[doc = concat!("The elements of a chunk, in row-major order: ", $of, ".")]
        #[derive(Debug)]
        pub struct $chunk_iter<'x, T> {
            run: core::slice::$run<'x, T>,
            walk: Walk<T>,
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
        // SAFETY: it is to be seen as an iterator over `$reference`. A shared iterator gives nothing out.
        unsafe impl<T: Sync, const D: usize, S: Storage> Sync for $iter<'_, T, D, S> {}
        // SAFETY: it is to be seen as an iterator over `$reference`.
        unsafe impl<T: $send, const D: usize, S: Storage> Send for $runs<'_, T, D, S> {}
        // SAFETY: it is to be seen as an iterator over `$reference`. A shared iterator gives nothing out.
        unsafe impl<T: Sync, const D: usize, S: Storage> Sync for $runs<'_, T, D, S> {}
        // SAFETY: it is to be seen as an iterator over `$reference`.
        unsafe impl<T: $send> Send for $chunk_iter<'_, T> {}
        // SAFETY: it is to be seen as an iterator over `$reference`. A shared iterator gives nothing out.
        unsafe impl<T: Sync> Sync for $chunk_iter<'_, T> {}
        // SAFETY: it is to be seen as an iterator over `$reference`.
        unsafe impl<T: $send> Send for $chunk_runs<'_, T> {}
        // SAFETY: it is to be seen as an iterator over `$reference`. A shared iterator gives nothing out.
        unsafe impl<T: Sync> Sync for $chunk_runs<'_, T> {}

        impl<'x, T, const D: usize, S: Storage> $iter<'x, T, D, S> {
            /// # Safety
            ///
            /// The tour must be through elements that are lent for `'x`, and to this iterator only if
            /// they are lent mutably.
            #[inline(always)]
            pub(super) unsafe fn new(mut tour: Tour<'x, T, D, S>) -> Self {
                let (start, length) = tour.first();
                // SAFETY: elements that are lent (caller), and a tour comes to each one once.
                let run: $slice = unsafe { $from_raw(start, length) };
                Self { run: run.into_iter(), tour }
            }

            #[inline(always)]
            fn go_on(&mut self) -> Option<core::slice::$run<'x, T>> {
                let (start, length) = self.tour.another()?;
                // SAFETY: elements that were lent (`new`), and a tour comes to each one once.
                let run: $slice = unsafe { $from_raw(start, length) };
                Some(run.into_iter())
            }
        }

        by_runs!(['x, T, const D: usize, S: Storage] $iter<'x, T, D, S>, $reference, tour);
        impl<T, const D: usize, S: Storage> ExactSizeIterator for $iter<'_, T, D, S> {}
        impl<T, const D: usize, S: Storage> FusedIterator for $iter<'_, T, D, S> {}

        impl<'x, T, const D: usize, S: Storage> $runs<'x, T, D, S> {
            /// # Safety
            ///
            /// As for the iterator over elements.
            #[inline(always)]
            pub(super) unsafe fn new(tour: Tour<'x, T, D, S>) -> Self {
                Self { tour, _lent: PhantomData }
            }
        }

        impl<'x, T, const D: usize, S: Storage> Iterator for $runs<'x, T, D, S> {
            type Item = $slice;

            #[inline(always)]
            fn next(&mut self) -> Option<$slice> {
                let (start, length) = self.tour.next()?;
                // SAFETY: elements that were lent (`new`), and a tour comes to each one once.
                Some(unsafe { $from_raw(start, length) })
            }

            #[inline(always)]
            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.tour.runs(), Some(self.tour.runs()))
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
                Self { run: Default::default(), walk: Walk::new(rows) }
            }

            /// The first `count` elements, and the others.
            ///
            /// # Panics
            ///
            /// If there are fewer.
            #[must_use]
            pub fn split_at(self, count: usize) -> (Self, Self) {
                let before = self.run.len();
                assert!(count <= self.len(), "{count} of {} elements", self.len());
                // Elements of the run have not been given out: they are walked through again.
                let (front, back) = self.walk.split_at(before, count);
                let from = |walk| Self { run: Default::default(), walk };
                (from(front), from(back))
            }

            #[inline(always)]
            fn go_on(&mut self) -> Option<core::slice::$run<'x, T>> {
                let (start, length) = self.walk.next()?;
                // SAFETY: elements that were lent (`new`), and a walk comes to each one once; one that is
                // split begins behind what this iterator has given out.
                let run: $slice = unsafe { $from_raw(start, length) };
                Some(run.into_iter())
            }
        }

        by_runs!(['x, T] $chunk_iter<'x, T>, $reference, walk);

        impl<'x, T> DoubleEndedIterator for $chunk_iter<'x, T> {
            #[inline]
            fn next_back(&mut self) -> Option<$reference> {
                let Some(element) = self.walk.next_back() else {
                    let element = self.run.next_back()?;
                    self.walk.end_earlier();
                    return Some(element);
                };
                // SAFETY: an element that was lent (`new`), and the walk does not come to it again.
                let element: $slice = unsafe { $from_raw(element, 1) };
                element.into_iter().next()
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
                let (start, length) = self.walk.next()?;
                self.left -= 1;
                // SAFETY: elements that were lent (`new`), and a walk comes to each one once.
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
elements!(
    &'x T,
    &'x [T],
    Iter,
    core::slice::from_raw_parts,
    Sync,
    Iter,
    Runs,
    ChunkIter,
    ChunkRuns,
    "shared references"
);
elements!(
    &'x mut T,
    &'x mut [T],
    IterMut,
    core::slice::from_raw_parts_mut,
    Send,
    IterMut,
    RunsMut,
    ChunkIterMut,
    ChunkRunsMut,
    "exclusive references"
);

impl<T, const D: usize, S: Storage> Clone for Iter<'_, T, D, S> {
    fn clone(&self) -> Self {
        Self { run: self.run.clone(), tour: self.tour.clone() }
    }
}

impl<T> Clone for ChunkIter<'_, T> {
    fn clone(&self) -> Self {
        Self { run: self.run.clone(), walk: self.walk.clone() }
    }
}
