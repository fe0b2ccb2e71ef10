//! From indices to addresses.

use core::marker::PhantomData;

use super::geometry::{Entry, Geometry};

/// How a view finds an element.
///
/// # Safety
///
/// For an array whose elements of type `T` lie at the parts of `geometry` behind `mine`, `locate` must give
/// the address of the element with this index, derived from `mine`.
pub unsafe trait Addressing<'x, const D: usize>: Copy {
    /// Whether the elements are one range; `None`: known when the program runs.
    const ONE_RANGE: Option<bool>;

    /// For the array that lies behind `mine`, the start of a place.
    fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self;

    /// The address of an element.
    ///
    /// # Safety
    ///
    /// `shape` must be that of the geometry, and each index smaller than the length of its dimension.
    unsafe fn locate<T>(self, shape: &[usize; D], index: [usize; D]) -> *mut T;
}

/// The elements are one range.
#[derive(Clone, Copy, Debug)]
pub struct OneRange<'x, const D: usize> {
    start: *mut u8,
    _geometry: PhantomData<&'x Geometry<D>>,
}

// SAFETY: the only part holds the elements in row-major order, so that the element with this index is the
// one whose number is computed here.
unsafe impl<'x, const D: usize> Addressing<'x, D> for OneRange<'x, D> {
    const ONE_RANGE: Option<bool> = Some(true);

    #[inline(always)]
    fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
        Self { start: mine.wrapping_add(geometry.offset()), _geometry: PhantomData }
    }

    #[inline(always)]
    unsafe fn locate<T>(self, shape: &[usize; D], index: [usize; D]) -> *mut T {
        let mut number = index[0];
        for d in 1..D {
            number = number.wrapping_mul(shape[d]).wrapping_add(index[d]);
        }
        self.start.cast::<T>().wrapping_add(number)
    }
}

/// The elements are in a piece per chunk. See [`geometry`](super::geometry) for the table.
#[derive(Clone, Copy, Debug)]
pub struct Chunked<'x, const D: usize> {
    mine: *mut u8,
    entries: &'x [Entry<D>],
    shift: u32,
    axis: usize,
}

// SAFETY: the table was made from the parts: the side of the entry that belongs to the index has the
// biased start of its chunk, and the chunk's own distances.
unsafe impl<'x, const D: usize> Addressing<'x, D> for Chunked<'x, D> {
    const ONE_RANGE: Option<bool> = Some(false);

    #[inline(always)]
    fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
        let (entries, shift) = geometry.table();
        Self { mine, entries, shift, axis: geometry.chunking().axis() }
    }

    #[inline(always)]
    unsafe fn locate<T>(self, _: &[usize; D], index: [usize; D]) -> *mut T {
        // Chosen among registers: an index that is not constant would need the array in memory.
        let mut along = index[0];
        for (d, &index) in index.iter().enumerate().skip(1) {
            along = if self.axis == d { index } else { along };
        }
        // SAFETY: the index along the axis is smaller than the axis (caller), and the table has an entry
        // for each of those.
        let entry = unsafe { self.entries.get_unchecked(along >> self.shift) };
        let side = &entry.sides[usize::from(along >= entry.boundary)];
        let mut number = index[D - 1];
        for d in 0..D - 1 {
            number = number.wrapping_add(index[d].wrapping_mul(side[d + 1]));
        }
        self.mine.wrapping_add(side[0]).cast::<T>().wrapping_add(number)
    }
}

/// One or the other, known when the program runs.
#[derive(Clone, Copy, Debug)]
pub enum Either<'x, const D: usize> {
    /// The elements are one range.
    One(OneRange<'x, D>),
    /// The elements are in a piece per chunk.
    Several(Chunked<'x, D>),
}

// SAFETY: each of the two is right for the arrays that it is used for.
unsafe impl<'x, const D: usize> Addressing<'x, D> for Either<'x, D> {
    const ONE_RANGE: Option<bool> = None;

    #[inline(always)]
    fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
        if geometry.kind().is_one_range() {
            Self::One(OneRange::new(mine, geometry))
        } else {
            Self::Several(Chunked::new(mine, geometry))
        }
    }

    #[inline(always)]
    unsafe fn locate<T>(self, shape: &[usize; D], index: [usize; D]) -> *mut T {
        match self {
            // SAFETY: the caller's promise.
            Self::One(one) => unsafe { one.locate(shape, index) },
            // SAFETY: the caller's promise.
            Self::Several(several) => unsafe { several.locate(shape, index) },
        }
    }
}
