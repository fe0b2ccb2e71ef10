//! Iterators over the elements of arrays and chunks, as references, and over their runs, as slices.
//!
//! An iterator over elements holds an iterator over the slice of the current run, and the later runs. So it is as fast as an iterator
//! over a slice.

use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::slice;

use super::rows::{Route, Run};

/// A reference to an element: `&T` or `&mut T`.
pub trait Lent: Sized {
    /// The element's type.
    type Element;
    /// A contiguous slice, lent in the same way.
    type Slice: IntoIterator<Item = Self, IntoIter = Self::Each>;
    /// The iterator over such a slice.
    type Each: ExactSizeIterator<Item = Self> + Default;

    /// # Safety
    ///
    /// The elements must be lent for the lifetime of the reference, exclusively if it is mutable.
    unsafe fn slice(run: Run<Self::Element>) -> Self::Slice;
}

macro_rules! lent {
    ($($reference:ty: $slice:ty, $each:ty, $from_raw:path;)*) => {$(
        impl<'x, T> Lent for $reference {
            type Element = T;
            type Slice = $slice;
            type Each = $each;

            #[inline(always)]
            unsafe fn slice((start, length): Run<T>) -> $slice {
                // SAFETY: neighbours, lent for that long and in that way (caller).
                unsafe { $from_raw(start, length) }
            }
        }
    )*};
}
lent! {
    &'x T: &'x [T], slice::Iter<'x, T>, slice::from_raw_parts;
    &'x mut T: &'x mut [T], slice::IterMut<'x, T>, slice::from_raw_parts_mut;
}

/// An iterator over elements: of the current run, and then of the later runs.
#[derive(Debug)]
pub struct Elements<L: Lent, R> {
    run: L::Each,
    behind: R,
}

/// An iterator over runs of elements, as contiguous slices.
#[derive(Debug)]
pub struct Slices<L: Lent, R> {
    behind: R,
    _lent: PhantomData<L>,
}

// SAFETY: `Elements` is like an iterator over `L`s; a route is addresses alone.
unsafe impl<L: Lent + Send, R: Route> Send for Elements<L, R> {}
// SAFETY: `Elements` is like an iterator over `L`s. A shared iterator lends nothing.
unsafe impl<L: Lent + Sync, R: Route> Sync for Elements<L, R> {}
// SAFETY: `Slices` is like an iterator over slices of what `L`s refer to; a route is addresses alone.
unsafe impl<L: Lent + Send, R: Route> Send for Slices<L, R> {}
// SAFETY: `Slices` is like an iterator over slices of what `L`s refer to. A shared iterator lends nothing.
unsafe impl<L: Lent + Sync, R: Route> Sync for Slices<L, R> {}

impl<L: Lent, R: Route<Element = L::Element>> Elements<L, R> {
    /// # Safety
    ///
    /// The route's elements must be lent for `L`'s lifetime, exclusively if `L` is `&mut`.
    #[inline(always)]
    pub(super) unsafe fn new(mut route: R) -> Self {
        // SAFETY: elements that are lent (caller), and a route visits each one once.
        let run = route.first().map(|run| unsafe { L::slice(run) }.into_iter());
        Self { run: run.unwrap_or_default(), behind: route }
    }

    #[inline(always)]
    fn go_on(&mut self) -> Option<L::Each> {
        let run = self.behind.another()?;
        // SAFETY: elements that were lent (`new`), and a route visits each one once.
        Some(unsafe { L::slice(run) }.into_iter())
    }
}

impl<L: Lent, R: Route<Element = L::Element>> Iterator for Elements<L, R> {
    type Item = L;

    #[inline(always)]
    fn next(&mut self) -> Option<L> {
        loop {
            if let Some(element) = self.run.next() {
                return Some(element);
            }
            self.run = self.go_on()?;
        }
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.run.len() + self.behind.len();
        (left, Some(left))
    }

    #[inline]
    fn fold<B, F: FnMut(B, L) -> B>(mut self, first: B, mut f: F) -> B {
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

impl<L: Lent, R: Route<Element = L::Element>> ExactSizeIterator for Elements<L, R> {}
impl<L: Lent, R: Route<Element = L::Element>> FusedIterator for Elements<L, R> {}

impl<T, R: Clone> Clone for Elements<&T, R> {
    fn clone(&self) -> Self {
        Self { run: self.run.clone(), behind: self.behind.clone() }
    }
}

impl<L: Lent, R: Route<Element = L::Element>> Slices<L, R> {
    /// # Safety
    ///
    /// As [`Elements::new`].
    #[inline(always)]
    pub(super) unsafe fn new(route: R) -> Self {
        Self { behind: route, _lent: PhantomData }
    }
}

impl<L: Lent, R: Route<Element = L::Element>> Iterator for Slices<L, R> {
    type Item = L::Slice;

    #[inline(always)]
    fn next(&mut self) -> Option<L::Slice> {
        let run = self.behind.next()?;
        // SAFETY: elements that were lent (`new`), and a route visits each one once.
        Some(unsafe { L::slice(run) })
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.behind.runs(), Some(self.behind.runs()))
    }
}

impl<L: Lent, R: Route<Element = L::Element>> ExactSizeIterator for Slices<L, R> {}
impl<L: Lent, R: Route<Element = L::Element>> FusedIterator for Slices<L, R> {}
