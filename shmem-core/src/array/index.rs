//! Indices of elements, and iteration over them.

use core::iter::FusedIterator;
use core::ops::Range;

/// An index into an array of `D` dimensions: `[usize; D]`, and `usize` for one dimension.
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

/// Panics about an index. Inlined, so that the index stays in registers.
#[inline(always)]
#[track_caller]
pub(super) fn refuse<C: Copy, const D: usize>(
    index: [usize; D],
    context: C,
    message: fn(&[usize], C) -> String,
) -> ! {
    let number = |d| if d < D { index[d] } else { 0 };
    refused::<C, D>(number(0), number(1), number(2), context, message)
}

#[cold]
#[inline(never)]
#[track_caller]
fn refused<C, const D: usize>(
    a: usize,
    b: usize,
    c: usize,
    context: C,
    message: fn(&[usize], C) -> String,
) -> ! {
    panic!("{}", message(&[a, b, c][..D], context))
}

/// The indices of an array or of a chunk of two or three dimensions, in row-major order. (In one dimension
/// they are a `Range<usize>`.)
///
/// `for_each` is as fast as nested loops; a `for` loop has one more test per index.
#[derive(Clone, Debug)]
pub struct Indices<const D: usize> {
    lows: [usize; D],
    highs: [usize; D],
    next: [usize; D],
    /// End of the current row.
    end: usize,
    /// Number of indices after the current row.
    behind: usize,
}

impl<const D: usize> Indices<D> {
    /// The indices in these ranges.
    ///
    /// # Panics
    ///
    /// If a range ends before it starts, or the number of indices overflows.
    #[inline(always)]
    #[track_caller]
    pub fn new(ranges: [Range<usize>; D]) -> Self {
        let (lows, highs) = (ranges.each_ref().map(|range| range.start), ranges.map(|range| range.end));
        let mut rows = 1_usize;
        for d in 0..D {
            assert!(lows[d] <= highs[d], "range {}..{} ends before it starts", lows[d], highs[d]);
            if d < D - 1 {
                rows = rows.checked_mul(highs[d] - lows[d]).expect("more rows than numbers");
            }
        }
        let row = if rows == 0 { 0 } else { highs[D - 1] - lows[D - 1] };
        let behind = rows.saturating_sub(1).checked_mul(row).expect("more indices than numbers");
        Self { lows, highs, next: lows, end: lows[D - 1] + row, behind }
    }

    /// Goes on to the next row, if there is one.
    #[inline(always)]
    fn go_on(&mut self) -> Option<()> {
        if self.behind == 0 {
            return None;
        }
        for d in (1..D).rev() {
            self.next[d] = self.lows[d];
            self.next[d - 1] += 1;
            if self.next[d - 1] < self.highs[d - 1] {
                break;
            }
        }
        let row = (self.highs[D - 1] - self.lows[D - 1]).min(self.behind);
        self.end = self.lows[D - 1] + row;
        self.behind -= row;
        Some(())
    }
}

impl<const D: usize> Iterator for Indices<D> {
    type Item = [usize; D];

    #[inline(always)]
    fn next(&mut self) -> Option<[usize; D]> {
        loop {
            if self.next[D - 1] < self.end {
                let index = self.next;
                self.next[D - 1] += 1;
                return Some(index);
            }
            self.go_on()?;
        }
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end - self.next[D - 1] + self.behind;
        (left, Some(left))
    }

    #[inline]
    fn fold<B, F: FnMut(B, [usize; D]) -> B>(mut self, first: B, mut f: F) -> B {
        let mut result = first;
        loop {
            let mut index = self.next;
            for last in self.next[D - 1]..self.end {
                index[D - 1] = last;
                result = f(result, index);
            }
            if self.go_on().is_none() {
                return result;
            }
        }
    }
}

impl<const D: usize> ExactSizeIterator for Indices<D> {}
impl<const D: usize> FusedIterator for Indices<D> {}

/// `indices` of views and chunks: a range in one dimension, else [`Indices`].
macro_rules! indices {
    ([$($parameter:tt)*] $of:ident $storage:tt: |$this:ident| $ranges:expr) => {
        indices!(@ [$($parameter)*] $of $storage 1 core::ops::Range<usize> |$this| { let [range] = $ranges; range });
        indices!(@ [$($parameter)*] $of $storage 2 Indices<2> |$this| Indices::new($ranges));
        indices!(@ [$($parameter)*] $of $storage 3 Indices<3> |$this| Indices::new($ranges));
    };
    (@ [$($parameter:tt)*] $of:ident [$($storage:tt)*] $d:literal $indices:ty |$this:ident| $made:expr) => {
        impl<$($parameter)*> $of<'_, T, $d $($storage)*> {
            /// All its indices in the array, in row-major order.
            #[inline(always)]
            pub fn indices(&self) -> $indices {
                let $this = self;
                $made
            }
        }
    };
}
pub(super) use indices;
