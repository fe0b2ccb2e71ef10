//! Runs of contiguous elements, by address: the routes of iterators over arrays and chunks.
//!
//! This module computes addresses and dereferences none. The iterators of `elements` know that the addresses are those of elements.

use core::marker::PhantomData;

use super::address::Addressing;
use super::geometry::Geometry;
use super::storage::Storage;
use crate::strided::Piece;
use crate::symmetric_data::copied;

/// A run of contiguous elements: address of the first, and number.
pub(super) type Run<T> = (*mut T, usize);

/// An iteration over runs of elements, each element once.
pub trait Route {
    type Element;

    fn next(&mut self) -> Option<Run<Self::Element>>;

    fn len(&self) -> usize;

    fn runs(&self) -> usize;

    /// The first run, for a route that is never empty.
    #[inline(always)]
    fn first(&mut self) -> Option<Run<Self::Element>> {
        None
    }

    /// A run after the first.
    #[inline(always)]
    fn another(&mut self) -> Option<Run<Self::Element>> {
        self.next()
    }
}

/// The elements of a chunk, in rows: a run for each row.
#[derive(Debug)]
pub struct Rows<T> {
    /// The next row.
    start: *mut T,
    /// Number of rows that are left.
    rows: usize,
    /// Elements of a row.
    row: usize,
    /// Distance of rows, in elements.
    pitch: usize,
}

copied! { [T] Rows<T>; }

impl<T> Rows<T> {
    /// `rows` rows of `row` elements, `pitch` elements apart, from `start` on.
    pub(super) fn new(start: *mut T, rows: usize, row: usize, pitch: usize) -> Self {
        // Rows without gaps are one row.
        if pitch == row {
            return Self { start, rows: 1, row: rows * row, pitch: rows * row };
        }
        Self { start, rows, row, pitch }
    }

    /// The elements, if they are one row.
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

/// The runs of a whole array, in row-major order.
#[derive(Debug)]
pub struct Tour<'x, T, const D: usize, S: Storage> {
    mine: *mut u8,
    /// The ranges of memory that are left.
    pieces: &'x [Piece],
    runs: usize,
    elements: usize,
    _array: PhantomData<(*mut T, S)>,
}

impl<T, const D: usize, S: Storage> Clone for Tour<'_, T, D, S> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'x, T, const D: usize, S: Storage> Tour<'x, T, D, S> {
    /// Whether every array with this storage is one run.
    const ONE: bool = matches!(<S::Addressing<'x, D> as Addressing<'x, D>>::ONE_RANGE, Some(true));

    #[inline(always)]
    pub(super) fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
        let pieces = &geometry.pieces;
        let runs = if Self::ONE { 1 } else { pieces.len() };
        Self { mine, pieces, runs, elements: geometry.chunking.len(), _array: PhantomData }
    }
}

impl<T, const D: usize, S: Storage> Route for Tour<'_, T, D, S> {
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

    /// Never `None`, because an array has elements.
    #[inline(always)]
    fn first(&mut self) -> Option<Run<T>> {
        self.next()
    }

    /// Without a search if there is one run.
    #[inline(always)]
    fn another(&mut self) -> Option<Run<T>> {
        if Self::ONE { None } else { self.next() }
    }
}
