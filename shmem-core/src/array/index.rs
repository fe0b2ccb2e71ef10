//! Indices of elements, and all of them in order.

use core::iter::FusedIterator;
use core::ops::Range;

/// What an array of `D` dimensions is indexed by: `[usize; D]`, and for one dimension `usize` as well.
#[diagnostic::on_unimplemented(
    message = "an array of {D} dimensions cannot be indexed by `{Self}`",
    note = "arrays are indexed by `usize` in one dimension, and by `[usize; D]` in any number"
)]
pub trait ArrayIndex<const D: usize>: Copy {
    /// The index in each dimension.
    fn position(self) -> [usize; D];
}

impl ArrayIndex<1> for usize {
    #[inline(always)]
    fn position(self) -> [usize; 1] {
        [self]
    }
}

impl<const D: usize> ArrayIndex<D> for [usize; D] {
    #[inline(always)]
    fn position(self) -> [usize; D] {
        self
    }
}

/// The indices of an array or of a chunk of two or three dimensions, in row-major order. (In one dimension
/// they are a `Range<usize>`.)
///
/// `for_each`, `map` and `fold` are loops in loops; a `for` loop over it is one loop, with a test more per
/// element.
#[derive(Clone, Debug)]
pub struct Indices<const D: usize> {
    lows: [usize; D],
    highs: [usize; D],
    /// The next one, if there is one.
    next: [usize; D],
    left: usize,
}

impl<const D: usize> Indices<D> {
    /// The indices in these ranges. Their number must be one of a place's elements.
    pub(super) fn new(ranges: [Range<usize>; D]) -> Self {
        let (lows, highs) = (ranges.each_ref().map(|range| range.start), ranges.map(|range| range.end));
        let left = (0..D).map(|d| highs[d] - lows[d]).product();
        Self { lows, highs, next: lows, left }
    }

    /// The first `count` of them, and the others.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    #[must_use]
    pub fn split_at(self, count: usize) -> (Self, Self) {
        assert!(count <= self.left, "{count} of {} indices", self.left);
        let behind = Self { next: self.at(count), left: self.left - count, ..self };
        (Self { left: count, ..self }, behind)
    }

    /// The index that is `count` behind the next one.
    fn at(&self, count: usize) -> [usize; D] {
        let mut index = self.next;
        let mut carry = count;
        for d in (1..D).rev() {
            let length = self.highs[d] - self.lows[d];
            let sum = index[d] - self.lows[d] + carry;
            index[d] = self.lows[d] + sum % length;
            carry = sum / length;
        }
        index[0] += carry;
        index
    }

    /// Goes on to the next row: the last dimension is at its end.
    #[inline(always)]
    fn carry(&mut self) {
        for d in (1..D).rev() {
            if self.next[d] < self.highs[d] {
                return;
            }
            self.next[d] = self.lows[d];
            self.next[d - 1] += 1;
        }
    }
}

impl<const D: usize> Iterator for Indices<D> {
    type Item = [usize; D];

    #[inline(always)]
    fn next(&mut self) -> Option<[usize; D]> {
        if self.left == 0 {
            return None;
        }
        let index = self.next;
        self.left -= 1;
        self.next[D - 1] += 1;
        self.carry();
        Some(index)
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    #[inline]
    fn nth(&mut self, count: usize) -> Option<[usize; D]> {
        let skipped = count.min(self.left);
        self.next = self.at(skipped);
        self.left -= skipped;
        self.next()
    }

    #[inline]
    fn fold<B, F: FnMut(B, [usize; D]) -> B>(mut self, first: B, mut f: F) -> B {
        let mut result = first;
        while self.left > 0 {
            let row = (self.highs[D - 1] - self.next[D - 1]).min(self.left);
            let mut index = self.next;
            for last in index[D - 1]..index[D - 1] + row {
                index[D - 1] = last;
                result = f(result, index);
            }
            self.left -= row;
            self.next[D - 1] += row;
            self.carry();
        }
        result
    }
}

impl<const D: usize> DoubleEndedIterator for Indices<D> {
    #[inline]
    fn next_back(&mut self) -> Option<[usize; D]> {
        self.left = self.left.checked_sub(1)?;
        Some(self.at(self.left))
    }
}

impl<const D: usize> ExactSizeIterator for Indices<D> {}
impl<const D: usize> FusedIterator for Indices<D> {}
