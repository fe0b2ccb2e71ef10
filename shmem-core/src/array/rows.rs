//! Elements in memory, by address: the iterators behind those of views and chunks.
//!
//! Everything here computes addresses and dereferences none, so nothing here is unsafe. The types that
//! wrap these know that the addresses are those of elements, and which of them they may lend.

use core::marker::PhantomData;

use super::address::Addressing;
use super::geometry::Geometry;
use super::storage::Storage;

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

impl<T> Clone for Rows<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Rows<T> {}

impl<T> Rows<T> {
    /// `rows` rows of `row` elements each, of which the first starts at `start`.
    pub(super) fn new(start: *mut T, rows: usize, row: usize, pitch: usize) -> Self {
        // Rows without gaps are one row.
        let (rows, row) = if pitch == row { (1, rows * row) } else { (rows, row) };
        Self { start, rows, row, pitch }
    }

    /// Number of elements.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.rows * self.row
    }

    /// The elements, if they are one row.
    #[inline(always)]
    pub(super) fn as_run(&self) -> Option<(*mut T, usize)> {
        (self.rows == 1).then_some((self.start, self.row))
    }

    /// Number of rows.
    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        self.rows
    }
}

/// The addresses of some of the elements in rows, in the order of their positions.
#[derive(Debug)]
pub(super) struct Walk<T> {
    rows: Rows<T>,
    /// The rest of the row that the front is in.
    current: *mut T,
    end: *mut T,
    /// Start of the row behind it.
    row: *mut T,
    /// The positions behind it.
    behind: usize,
    back: usize,
}

impl<T> Clone for Walk<T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<T> Walk<T> {
    /// All of them.
    pub(super) fn new(rows: Rows<T>) -> Self {
        Self::between(rows, 0, rows.len())
    }

    fn between(rows: Rows<T>, from: usize, to: usize) -> Self {
        let (number, column) = (from / rows.row, from % rows.row);
        let start = rows.start.wrapping_add(number * rows.pitch);
        let first = (rows.row - column).min(to - from);
        let current = start.wrapping_add(column);
        Self {
            rows,
            current,
            end: current.wrapping_add(first),
            row: start.wrapping_add(rows.pitch),
            behind: from + first,
            back: to,
        }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        distance(self.current, self.end) + (self.back - self.behind)
    }

    /// The first `count` of them, and the others.
    pub(super) fn split_at(self, count: usize) -> (Self, Self) {
        assert!(count <= self.len(), "{count} of {} elements", self.len());
        let from = self.behind - distance(self.current, self.end);
        let between = |from, to| Self::between(self.rows, from, to);
        (between(from, from + count), between(from + count, self.back))
    }

    /// The rest of the row in front, and after it the next row.
    #[inline(always)]
    pub(super) fn next_run(&mut self) -> Option<(*mut T, usize)> {
        if self.current == self.end && !self.go_on() {
            return None;
        }
        let run = (self.current, distance(self.current, self.end));
        self.current = self.end;
        Some(run)
    }

    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<*mut T> {
        if self.current == self.end && !self.go_on() {
            return None;
        }
        let element = self.current;
        self.current = element.wrapping_add(1);
        Some(element)
    }

    pub(super) fn next_back(&mut self) -> Option<*mut T> {
        if self.behind < self.back {
            self.back -= 1;
            let (number, column) = (self.back / self.rows.row, self.back % self.rows.row);
            return Some(self.rows.start.wrapping_add(number * self.rows.pitch + column));
        }
        if self.current == self.end {
            return None;
        }
        self.end = self.end.wrapping_sub(1);
        // The position that was given out must not count as one behind the row.
        self.behind -= 1;
        self.back -= 1;
        Some(self.end)
    }

    #[inline(always)]
    fn go_on(&mut self) -> bool {
        let left = self.back - self.behind;
        if left == 0 {
            return false;
        }
        let length = self.rows.row.min(left);
        self.current = self.row;
        self.end = self.row.wrapping_add(length);
        self.row = self.row.wrapping_add(self.rows.pitch);
        self.behind += length;
        true
    }
}

/// Elements from one address to another of the same run.
#[inline(always)]
fn distance<T>(from: *mut T, to: *mut T) -> usize {
    (to.addr() - from.addr()) / size_of::<T>()
}

/// The runs of neighbours of a whole array, in row-major order.
#[derive(Debug)]
pub(super) struct Runs<'x, T, const D: usize, S: Storage> {
    geometry: &'x Geometry<D>,
    mine: *mut u8,
    row: usize,
    chunk: usize,
    left: usize,
    _array: PhantomData<(*mut T, S)>,
}

impl<T, const D: usize, S: Storage> Clone for Runs<'_, T, D, S> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'x, T, const D: usize, S: Storage> Runs<'x, T, D, S> {
    pub(super) fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
        Self { geometry, mine, row: 0, chunk: 0, left: geometry.runs(), _array: PhantomData }
    }

    /// How many runs are left.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.left
    }

    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<(*mut T, usize)> {
        if self.left == 0 {
            return None;
        }
        let one = <S::Addressing<'x, D> as Addressing<'x, D>>::ONE_RANGE == Some(true);
        let (offset, length) = if one {
            (self.geometry.offset(), self.geometry.chunking().len())
        } else {
            self.geometry.run(self.row, self.chunk, size_of::<T>())
        };
        self.left -= 1;
        self.chunk += 1;
        if self.chunk == self.geometry.parts().list().len() {
            (self.row, self.chunk) = (self.row + 1, 0);
        }
        Some((self.mine.wrapping_add(offset).cast(), length))
    }
}

/// The addresses of all elements of an array, in row-major order.
#[derive(Debug)]
pub(super) struct Tour<'x, T, const D: usize, S: Storage> {
    current: *mut T,
    end: *mut T,
    runs: Runs<'x, T, D, S>,
    /// Number of elements in the runs that are left.
    behind: usize,
}

impl<T, const D: usize, S: Storage> Clone for Tour<'_, T, D, S> {
    fn clone(&self) -> Self {
        Self { runs: self.runs.clone(), ..*self }
    }
}

impl<'x, T, const D: usize, S: Storage> Tour<'x, T, D, S> {
    #[inline(always)]
    pub(super) fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
        let behind = geometry.chunking().len();
        let mut tour =
            Self { current: mine.cast(), end: mine.cast(), runs: Runs::new(mine, geometry), behind };
        tour.go_on();
        tour
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        distance(self.current, self.end) + self.behind
    }

    #[inline(always)]
    pub(super) fn next_run(&mut self) -> Option<(*mut T, usize)> {
        if self.current == self.end && !self.go_on() {
            return None;
        }
        let run = (self.current, distance(self.current, self.end));
        self.current = self.end;
        Some(run)
    }

    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<*mut T> {
        if self.current == self.end && !self.go_on() {
            return None;
        }
        let element = self.current;
        self.current = element.wrapping_add(1);
        Some(element)
    }

    #[inline(always)]
    fn go_on(&mut self) -> bool {
        let Some((start, length)) = self.runs.next() else {
            return false;
        };
        self.current = start;
        self.end = start.wrapping_add(length);
        self.behind -= length;
        true
    }
}
