//! Elements in memory, by address: what the iterators of views and chunks go through.
//!
//! Everything here computes addresses and dereferences none, so nothing here is unsafe. The types that
//! wrap these know that the addresses are those of elements, and which of them they may lend.

use core::marker::PhantomData;

use super::address::Addressing;
use super::geometry::Geometry;
use super::storage::Storage;
use crate::data::copied;

/// A run of neighbours: the first of them, and their number.
pub(super) type Run<T> = (*mut T, usize);

/// Elements that lie in rows: a chunk. Positions count them row by row.
#[derive(Debug)]
pub(super) struct Rows<T> {
    start: *mut T,
    /// Number of rows.
    rows: usize,
    /// Elements of a row.
    row: usize,
    /// Elements from the start of one row to that of the next.
    pitch: usize,
}

copied! { [T] Rows<T>; }

impl<T> Rows<T> {
    /// `rows` rows of `row` elements each, of which the first starts at `start`.
    pub(super) fn new(start: *mut T, rows: usize, row: usize, pitch: usize) -> Self {
        // Rows without gaps are one row.
        if pitch == row {
            return Self { start, rows: 1, row: rows * row, pitch: rows * row };
        }
        Self { start, rows, row, pitch }
    }

    /// Number of elements.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.rows * self.row
    }

    /// Number of rows.
    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        self.rows
    }

    /// The elements, if they are one row.
    #[inline(always)]
    pub(super) fn as_run(&self) -> Option<Run<T>> {
        (self.rows == 1).then_some((self.start, self.row))
    }

    /// The element at a position.
    fn at(&self, position: usize) -> *mut T {
        self.start.wrapping_add(position / self.row * self.pitch + position % self.row)
    }
}

/// The runs of some of the elements in rows, in the order of their positions.
#[derive(Debug)]
pub(super) struct Walk<T> {
    rows: Rows<T>,
    /// The next element, and how far it is to the end of its row.
    next: *mut T,
    rest: usize,
    /// The positions that are left.
    from: usize,
    to: usize,
}

impl<T> Clone for Walk<T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<T> Walk<T> {
    /// All of them.
    pub(super) fn new(rows: Rows<T>) -> Self {
        Self { rows, next: rows.start, rest: rows.row, from: 0, to: rows.len() }
    }

    /// Number of elements that are left.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.to - self.from
    }

    /// The walk from `before` elements ahead of this one's next to its end, cut behind `count` elements.
    pub(super) fn split_at(self, before: usize, count: usize) -> (Self, Self) {
        let (first, rows) = (self.from - before, self.rows);
        let from =
            |from: usize, to| Self { rows, next: rows.at(from), rest: rows.row - from % rows.row, from, to };
        (from(first, first + count), from(first + count, self.to))
    }

    /// The next elements as far as they are neighbours.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<Run<T>> {
        if self.from == self.to {
            return None;
        }
        let run = (self.next, self.rest.min(self.to - self.from));
        self.from += run.1;
        self.next = self.next.wrapping_add(self.rest + self.rows.pitch - self.rows.row);
        self.rest = self.rows.row;
        Some(run)
    }

    /// The last element.
    pub(super) fn next_back(&mut self) -> Option<*mut T> {
        if self.from == self.to {
            return None;
        }
        self.to -= 1;
        Some(self.rows.at(self.to))
    }

    /// A walk that is at its end ends one element earlier: somebody gave that one out from the end of the last
    /// run.
    pub(super) fn end_earlier(&mut self) {
        self.to -= 1;
        self.from = self.to;
    }
}

/// The runs of neighbours of a whole array, in row-major order.
#[derive(Debug)]
pub(super) struct Tour<'x, T, const D: usize, S: Storage> {
    geometry: &'x Geometry<D>,
    mine: *mut u8,
    row: usize,
    chunk: usize,
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
    /// Whether there is one run, for every array with this storage.
    const ONE: bool = matches!(<S::Addressing<'x, D> as Addressing<'x, D>>::ONE_RANGE, Some(true));

    #[inline(always)]
    pub(super) fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
        let runs = if Self::ONE { 1 } else { geometry.runs() };
        let elements = geometry.chunking().len();
        Self { geometry, mine, row: 0, chunk: 0, runs, elements, _array: PhantomData }
    }

    /// How many runs are left.
    #[inline(always)]
    pub(super) fn runs(&self) -> usize {
        self.runs
    }

    /// How many elements are left.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.elements
    }

    /// The first run: without a search if there is no other.
    #[inline(always)]
    pub(super) fn first(&mut self) -> Run<T> {
        self.next().unwrap_or_else(|| unreachable!("an array has elements"))
    }

    /// The run behind the first.
    #[inline(always)]
    pub(super) fn another(&mut self) -> Option<Run<T>> {
        if Self::ONE { None } else { self.next() }
    }

    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<Run<T>> {
        if self.runs == 0 {
            return None;
        }
        let (offset, length) = if Self::ONE {
            (self.geometry.offset(), self.elements)
        } else {
            self.geometry.run(self.row, self.chunk, size_of::<T>())
        };
        self.runs -= 1;
        self.elements -= length;
        self.chunk += 1;
        if self.chunk == self.geometry.parts().list().len() {
            (self.row, self.chunk) = (self.row + 1, 0);
        }
        Some((self.mine.wrapping_add(offset).cast(), length))
    }
}
