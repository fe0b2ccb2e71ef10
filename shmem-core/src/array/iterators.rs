//! Iterators over the elements of arrays and chunks, as references, and over their runs, as slices.
//!
//! An iterator over elements has a slice iterator for the current run, and a [`Route`] through the runs that follow. So it is as
//! fast as an iterator over a slice. A route only computes addresses. The iterators dereference them.

use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::Range;
use core::slice;

use super::element_address::Addressing;
use super::geometry::Geometry;
use super::storage::Storage;
use crate::strided::Piece;
use crate::symmetric_data::copied;

/// A reference to an element: `&T` or `&mut T`.
pub trait ElementRef: Sized {
    /// The element's type.
    type Element;
    /// The slice type with the same lifetime and mutability as the reference.
    type Slice: IntoIterator<Item = Self, IntoIter = Self::Each>;
    /// The iterator over a `Slice`.
    type Each: ExactSizeIterator<Item = Self> + Default;

    /// # Safety
    ///
    /// For the reference's lifetime, the run's elements must be valid, and nothing else may write them (for `&mut`: access them).
    unsafe fn slice(run: Run<Self::Element>) -> Self::Slice;
}

macro_rules! lent {
    ($($reference:ty: $slice:ty, $each:ty, $from_raw:path;)*) => {$(
        impl<'x, T> ElementRef for $reference {
            type Element = T;
            type Slice = $slice;
            type Each = $each;

            #[inline(always)]
            unsafe fn slice((start, length): Run<T>) -> $slice {
                // SAFETY: the elements are contiguous, and valid for the lifetime and mutability of `$reference` (caller).
                unsafe { $from_raw(start, length) }
            }
        }
    )*};
}
lent! {
    &'x T: &'x [T], slice::Iter<'x, T>, slice::from_raw_parts;
    &'x mut T: &'x mut [T], slice::IterMut<'x, T>, slice::from_raw_parts_mut;
}

/// An iterator over elements: those of the current run (`run`), then those of the runs that follow (`behind`).
#[derive(Debug)]
pub struct Elements<L: ElementRef, R> {
    run: L::Each,
    behind: R,
}

/// An iterator over runs of elements, as contiguous slices.
#[derive(Debug)]
pub struct Slices<L: ElementRef, R> {
    behind: R,
    _lent: PhantomData<L>,
}

// SAFETY: `Elements` may be sent where its items, `L`s, may. A route has addresses and dereferences none.
unsafe impl<L: ElementRef + Send, R: Route> Send for Elements<L, R> {}
// SAFETY: `Elements` may be shared where its items, `L`s, may. A shared reference to an iterator yields no items.
unsafe impl<L: ElementRef + Sync, R: Route> Sync for Elements<L, R> {}
// SAFETY: `Slices` may be sent where its items, slices of elements, may. A route has addresses and dereferences none.
unsafe impl<L: ElementRef + Send, R: Route> Send for Slices<L, R> {}
// SAFETY: `Slices` may be shared where its items may. A shared reference to an iterator yields no items.
unsafe impl<L: ElementRef + Sync, R: Route> Sync for Slices<L, R> {}

impl<L: ElementRef, R: Route<Element = L::Element>> Elements<L, R> {
    /// # Safety
    ///
    /// For the lifetime of `L`, the route's elements must be valid, and nothing else may write them (for `&mut`: access them).
    #[inline(always)]
    pub(super) unsafe fn new(mut route: R) -> Self {
        // SAFETY: the route's elements are valid for `L` (caller), and the route visits each one once.
        let run = route.first().map(|run| unsafe { L::slice(run) }.into_iter());
        Self { run: run.unwrap_or_default(), behind: route }
    }

    #[inline(always)]
    fn go_on(&mut self) -> Option<L::Each> {
        let run = self.behind.another()?;
        // SAFETY: the route's elements are valid for `L` (caller of `new`), and the route visits each one once.
        Some(unsafe { L::slice(run) }.into_iter())
    }
}

impl<L: ElementRef, R: Route<Element = L::Element>> Iterator for Elements<L, R> {
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

impl<L: ElementRef, R: Route<Element = L::Element>> ExactSizeIterator for Elements<L, R> {}
impl<L: ElementRef, R: Route<Element = L::Element>> FusedIterator for Elements<L, R> {}

impl<T, R: Clone> Clone for Elements<&T, R> {
    fn clone(&self) -> Self {
        Self { run: self.run.clone(), behind: self.behind.clone() }
    }
}

impl<L: ElementRef, R: Route<Element = L::Element>> Slices<L, R> {
    /// # Safety
    ///
    /// For the lifetime of `L`, the route's elements must be valid, and nothing else may write them (for `&mut`: access them).
    #[inline(always)]
    pub(super) unsafe fn new(route: R) -> Self {
        Self { behind: route, _lent: PhantomData }
    }
}

impl<L: ElementRef, R: Route<Element = L::Element>> Iterator for Slices<L, R> {
    type Item = L::Slice;

    #[inline(always)]
    fn next(&mut self) -> Option<L::Slice> {
        let run = self.behind.next()?;
        // SAFETY: the route's elements are valid for `L` (caller of `new`), and the route visits each one once.
        Some(unsafe { L::slice(run) })
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.behind.runs(), Some(self.behind.runs()))
    }
}

impl<L: ElementRef, R: Route<Element = L::Element>> ExactSizeIterator for Slices<L, R> {}
impl<L: ElementRef, R: Route<Element = L::Element>> FusedIterator for Slices<L, R> {}

/// A run of contiguous elements: the address of its first element, and its length in elements.
pub(super) type Run<T> = (*mut T, usize);

/// An iterator over the runs of an array or chunk, as addresses. Each element is in one run.
pub trait Route {
    type Element;

    fn next(&mut self) -> Option<Run<Self::Element>>;

    fn len(&self) -> usize;

    fn runs(&self) -> usize;

    /// Returns the first run of a route that always has one. `None` for other routes, whose runs `another` returns.
    #[inline(always)]
    fn first(&mut self) -> Option<Run<Self::Element>> {
        None
    }

    /// Returns the next run that `first` did not return.
    #[inline(always)]
    fn another(&mut self) -> Option<Run<Self::Element>> {
        self.next()
    }
}

/// The route of a chunk: a run for each row.
#[derive(Debug)]
pub struct Rows<T> {
    /// Address of the next row.
    start: *mut T,
    /// Number of rows that are not yet visited.
    rows: usize,
    /// Number of elements of a row.
    row: usize,
    /// Distance between the starts of two rows, in elements.
    pitch: usize,
}

copied! { [T] Rows<T>; }

impl<T> Rows<T> {
    /// Returns the route through `rows` rows of `row` elements. Rows start `pitch` elements apart, the first at `start`.
    pub(super) fn new(start: *mut T, rows: usize, row: usize, pitch: usize) -> Self {
        // Rows without gaps between them are one run.
        if pitch == row {
            return Self { start, rows: 1, row: rows * row, pitch: rows * row };
        }
        Self { start, rows, row, pitch }
    }

    /// Returns the chunk's elements as one run, if there is only one row.
    #[inline(always)]
    pub(super) fn as_run(&self) -> Option<Run<T>> {
        (self.rows == 1).then_some((self.start, self.row))
    }
}

impl<T> Route for Rows<T> {
    type Element = T;

    #[inline(always)]
    fn next(&mut self) -> Option<Run<T>> {
        self.rows = self.rows.checked_sub(1)?;
        let run = (self.start, self.row);
        self.start = self.start.wrapping_add(self.pitch);
        Some(run)
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.rows * self.row
    }

    #[inline(always)]
    fn runs(&self) -> usize {
        self.rows
    }
}

/// The route of a whole array, in row-major order.
#[derive(Debug)]
pub struct ArrayRoute<'x, T, const D: usize, S: Storage> {
    mine: *mut u8,
    /// Contiguous ranges of memory that are not yet visited.
    pieces: &'x [Piece],
    runs: usize,
    elements: usize,
    _array: PhantomData<(*mut T, S)>,
}

impl<T, const D: usize, S: Storage> Clone for ArrayRoute<'_, T, D, S> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'x, T, const D: usize, S: Storage> ArrayRoute<'x, T, D, S> {
    /// Whether every array with this storage is one run.
    const ONE: bool = matches!(<S::Addressing<'x, D> as Addressing<'x, D>>::ONE_RANGE, Some(true));

    #[inline(always)]
    pub(super) fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
        let pieces = &geometry.pieces;
        let runs = if Self::ONE { 1 } else { pieces.len() };
        Self { mine, pieces, runs, elements: geometry.chunking.len(), _array: PhantomData }
    }
}

impl<T, const D: usize, S: Storage> Route for ArrayRoute<'_, T, D, S> {
    type Element = T;

    #[inline(always)]
    fn next(&mut self) -> Option<Run<T>> {
        if self.runs == 0 {
            return None;
        }
        let (piece, behind) = self.pieces.split_first()?;
        let length = if Self::ONE { self.elements } else { piece.bytes / size_of::<T>() };
        self.runs -= 1;
        self.elements -= length;
        self.pieces = behind;
        Some((self.mine.wrapping_add(piece.offset).cast(), length))
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.elements
    }

    #[inline(always)]
    fn runs(&self) -> usize {
        self.runs
    }

    /// Always a run, because an array has at least one element.
    #[inline(always)]
    fn first(&mut self) -> Option<Run<T>> {
        self.next()
    }

    /// `None` at once if the storage guarantees one run, which `first` returned.
    #[inline(always)]
    fn another(&mut self) -> Option<Run<T>> {
        if Self::ONE { None } else { self.next() }
    }
}

/// Indices of several dimensions, in row-major order. `fold` loops over the rows, and in each row over its indices. It is up to
/// eight times faster than nested `flat_map`s.
#[derive(Clone, Debug)]
pub struct Indices<const D: usize> {
    ranges: [Range<usize>; D],
    next: [usize; D],
}

impl<const D: usize> Indices<D> {
    #[inline(always)]
    pub(super) fn new(ranges: [Range<usize>; D]) -> Self {
        let mut next = ranges.each_ref().map(|range| range.start);
        if ranges.iter().any(Range::is_empty) {
            next[0] = ranges[0].end;
        }
        Self { ranges, next }
    }

    /// Continues with the next row if a row ends here.
    #[inline(always)]
    fn carry(&mut self) {
        for d in (1..D).rev() {
            if self.next[d] < self.ranges[d].end {
                return;
            }
            self.next[d] = self.ranges[d].start;
            self.next[d - 1] += 1;
        }
    }
}

impl<const D: usize> FusedIterator for Indices<D> {}

impl<const D: usize> Iterator for Indices<D> {
    type Item = [usize; D];

    #[inline(always)]
    fn next(&mut self) -> Option<[usize; D]> {
        let index = self.next;
        if index[0] >= self.ranges[0].end {
            return None;
        }
        self.next[D - 1] += 1;
        self.carry();
        Some(index)
    }

    #[inline]
    fn fold<B, F: FnMut(B, [usize; D]) -> B>(mut self, first: B, mut f: F) -> B {
        let mut result = first;
        while self.next[0] < self.ranges[0].end {
            let mut index = self.next;
            for last in self.next[D - 1]..self.ranges[D - 1].end {
                index[D - 1] = last;
                result = f(result, index);
            }
            self.next[D - 1] = self.ranges[D - 1].end;
            self.carry();
        }
        result
    }
}
