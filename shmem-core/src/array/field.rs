//! An array in one place.

use core::marker::PhantomData;
use core::ops::Range;

use super::address::Addressing;
use super::geometry::Geometry;
use super::rows::{Run, Tour};
use super::storage::Storage;

/// What the views of both sorts are made of.
pub(super) struct Field<'x, T, const D: usize, S: Storage> {
    pub(super) shape: [usize; D],
    addressing: S::Addressing<'x, D>,
    pub(super) geometry: &'x Geometry<D>,
    pub(super) mine: *mut u8,
    _elements: PhantomData<*mut T>,
}

impl<T, const D: usize, S: Storage> Clone for Field<'_, T, D, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const D: usize, S: Storage> Copy for Field<'_, T, D, S> {}

impl<'x, T, const D: usize, S: Storage> Field<'x, T, D, S> {
    #[inline(always)]
    pub(super) fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
        let shape = geometry.chunking().shape();
        Self { shape, addressing: Addressing::new(mine, geometry), geometry, mine, _elements: PhantomData }
    }

    /// What is wrong with an index.
    pub(super) fn beyond(index: &[usize], shape: [usize; D]) -> String {
        match (index, shape.as_slice()) {
            ([index], [length]) => {
                format!("index {index} is beyond the end: the array has {length} elements (0..{length})")
            }
            _ => format!("index {index:?} is beyond the end: the array has the shape {shape:?}"),
        }
    }

    /// Number of elements that have a first index in common.
    #[inline(always)]
    pub(super) fn row_len(&self) -> usize {
        self.shape[1..].iter().product()
    }

    /// The numbers of the elements with this first index, in row-major order.
    #[inline(always)]
    #[track_caller]
    pub(super) fn row(&self, i: usize) -> Range<usize> {
        if i >= self.shape[0] {
            no_row(i, self.shape[0]);
        }
        i * self.row_len()..(i + 1) * self.row_len()
    }

    /// The address of an element, if there is such an element.
    #[inline(always)]
    pub(super) fn locate(&self, index: [usize; D]) -> Option<*mut T> {
        self.addressing.locate(&self.shape, index)
    }

    /// The same, for one element after the other.
    #[inline(always)]
    pub(super) fn locate_near(&mut self, index: [usize; D]) -> Option<*mut T> {
        self.addressing.locate_near(&self.shape, index)
    }

    /// All elements, if they are neighbours.
    #[inline(always)]
    pub(super) fn run(&self) -> Option<Run<T>> {
        let mut tour = self.tour();
        let run = tour.first();
        (tour.runs() == 0).then_some(run)
    }

    #[inline(always)]
    pub(super) fn tour(&self) -> Tour<'x, T, D, S> {
        Tour::new(self.mine, self.geometry)
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_row(row: usize, rows: usize) -> ! {
    panic!("row {row} is beyond the end: the array has {rows} (0..{rows})")
}
