//! Addresses of elements by index.

use core::marker::PhantomData;

use super::geometry::{Bucket, Geometry, Steps};

/// Computes the address of an element from its index.
///
/// # Safety
///
/// For an array of shape `shape`, whose elements of type `T` are in the ranges of `geometry` in the PE's slot that starts at
/// `mine`, the functions must return the address of the element with the index, derived from `mine`, or `None` if there is no such
/// element.
pub unsafe trait Addressing<'x, const D: usize>: Copy {
    /// Whether the elements are one contiguous range; `None` if that is known at run time only.
    const ONE_RANGE: Option<bool>;

    /// Returns the addressing for the copy of the array in the PE's slot that starts at `mine`.
    fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self;

    /// Returns the address of the element with an index.
    fn locate<T>(&self, shape: &[usize; D], index: [usize; D]) -> Option<*mut T>;

    /// Does the same as [`locate`](Self::locate), and caches the element's chunk with some of the chunk's indices: the next call
    /// for one of these needs no table.
    fn locate_cached<T>(&mut self, shape: &[usize; D], index: [usize; D]) -> Option<*mut T>;
}

/// Addressing of elements that are one contiguous range.
#[derive(Clone, Copy, Debug)]
pub struct OneRange<'x, const D: usize> {
    start: *mut u8,
    _geometry: PhantomData<&'x Geometry<D>>,
}

// SAFETY: the array's only part has the elements in row-major order, and `locate` computes the element's number in this order.
unsafe impl<'x, const D: usize> Addressing<'x, D> for OneRange<'x, D> {
    const ONE_RANGE: Option<bool> = Some(true);

    #[inline(always)]
    fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
        Self { start: mine.wrapping_add(geometry.offset()), _geometry: PhantomData }
    }

    #[inline(always)]
    fn locate<T>(&self, shape: &[usize; D], index: [usize; D]) -> Option<*mut T> {
        let mut number = 0_usize;
        for (index, &length) in index.into_iter().zip(shape) {
            if index >= length {
                return None;
            }
            number = number.wrapping_mul(length).wrapping_add(index);
        }
        Some(self.start.cast::<T>().wrapping_add(number))
    }

    #[inline(always)]
    fn locate_cached<T>(&mut self, shape: &[usize; D], index: [usize; D]) -> Option<*mut T> {
        self.locate(shape, index)
    }
}

/// Addressing of elements in one contiguous range per chunk. [`geometry`](super::geometry) explains the table `entries`.
#[derive(Clone, Copy, Debug)]
pub struct Chunked<'x, const D: usize> {
    mine: *mut u8,
    entries: &'x [Bucket<D>],
    shift: u32,
    axis: usize,
    length: usize,
    cached: CachedChunk<D>,
}

/// The cached part of a chunk: `count` indices along the axis from `first` on.
#[derive(Clone, Copy, Debug)]
struct CachedChunk<const D: usize> {
    first: usize,
    count: usize,
    /// Address that the element with index 0 in every dimension would have by the chunk's strides.
    origin: *mut u8,
    steps: Steps<D>,
}

impl<const D: usize> Chunked<'_, D> {
    /// Returns the component of `index` along the axis, or `None` if another component is out of range.
    #[inline(always)]
    fn along(&self, shape: &[usize; D], index: [usize; D]) -> Option<usize> {
        // Comparisons select the component, so that the index stays in registers. `index[self.axis]` needs an array in memory.
        let mut along = index[0];
        for d in 1..D {
            let (on_axis, other) = if self.axis == d { (index[d], along) } else { (along, index[d]) };
            if other >= if self.axis == d { shape[0] } else { shape[d] } {
                return None;
            }
            along = on_axis;
        }
        Some(along)
    }

    #[inline(always)]
    fn entry(&self, along: usize) -> Option<&Bucket<D>> {
        if along >= self.length {
            return None;
        }
        // SAFETY: the table has a bucket for each index along the axis below `length`, and `along` was compared with `length`.
        Some(unsafe { self.entries.get_unchecked(along >> self.shift) })
    }
}

// SAFETY: `entries` was made from the array's parts. For each index, its entry has the biased start and the strides of the index's
// chunk. `cached` has the start and strides of one chunk, and a range of indices that are all in this chunk.
unsafe impl<'x, const D: usize> Addressing<'x, D> for Chunked<'x, D> {
    const ONE_RANGE: Option<bool> = Some(false);

    #[inline(always)]
    fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
        let Geometry { entries, shift, chunking, .. } = geometry;
        let cached = CachedChunk { first: 0, count: 0, origin: mine, steps: [0; D] };
        let axis = chunking.axis();
        Self { mine, entries, shift: *shift, axis, length: chunking.shape()[axis], cached }
    }

    #[inline(always)]
    fn locate<T>(&self, shape: &[usize; D], index: [usize; D]) -> Option<*mut T> {
        let along = self.along(shape, index)?;
        let entry = self.entry(along)?;
        let steps = &entry.steps[usize::from(along >= entry.boundary)];
        Some(element(self.mine.wrapping_add(steps[0]), steps, index))
    }

    #[inline(always)]
    fn locate_cached<T>(&mut self, shape: &[usize; D], index: [usize; D]) -> Option<*mut T> {
        let along = self.along(shape, index)?;
        if along.wrapping_sub(self.cached.first) >= self.cached.count {
            // `find` has the fields as arguments by value, not `self`, so that the view stays in registers.
            self.cached = find(self.mine, self.entries, self.shift, self.length, along)?;
        }
        Some(element(self.cached.origin, &self.cached.steps, index))
    }
}

/// Returns what to cache of the chunk with index `along` of the axis: its start, its strides, and those of its indices that are in
/// the same bucket as `along`.
#[cold]
#[inline(never)]
fn find<const D: usize>(
    mine: *mut u8,
    entries: &[Bucket<D>],
    shift: u32,
    length: usize,
    along: usize,
) -> Option<CachedChunk<D>> {
    if along >= length {
        return None;
    }
    let bucket = along >> shift;
    let entry = &entries[bucket];
    let second = along >= entry.boundary;
    let first = if second { entry.boundary } else { bucket << shift };
    // The second chunk is at least as long as a bucket, so it does not end inside the bucket.
    let end = if second { (bucket + 1) << shift } else { entry.boundary };
    let steps = entry.steps[usize::from(second)];
    Some(CachedChunk { first, count: end - first, origin: mine.wrapping_add(steps[0]), steps })
}

/// Returns the address of an element, computed from the address of index 0 and the strides.
#[inline(always)]
fn element<T, const D: usize>(origin: *mut u8, steps: &Steps<D>, index: [usize; D]) -> *mut T {
    let mut number = index[D - 1];
    for d in 0..D - 1 {
        number = number.wrapping_add(index[d].wrapping_mul(steps[d + 1]));
    }
    origin.cast::<T>().wrapping_add(number)
}

/// One of the two addressings, chosen at run time.
#[derive(Clone, Copy, Debug)]
pub enum Either<'x, const D: usize> {
    /// Addressing of an array that is one contiguous range.
    One(OneRange<'x, D>),
    /// Addressing of an array with a contiguous range per chunk.
    Several(Chunked<'x, D>),
}

// SAFETY: `new` chooses the addressing that fits the array's storage, and both addressings fulfil the contract.
unsafe impl<'x, const D: usize> Addressing<'x, D> for Either<'x, D> {
    const ONE_RANGE: Option<bool> = None;

    #[inline(always)]
    fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
        if geometry.kind.is_one_range() {
            Self::One(OneRange::new(mine, geometry))
        } else {
            Self::Several(Chunked::new(mine, geometry))
        }
    }

    #[inline(always)]
    fn locate<T>(&self, shape: &[usize; D], index: [usize; D]) -> Option<*mut T> {
        match self {
            Self::One(one) => one.locate(shape, index),
            Self::Several(several) => several.locate(shape, index),
        }
    }

    #[inline(always)]
    fn locate_cached<T>(&mut self, shape: &[usize; D], index: [usize; D]) -> Option<*mut T> {
        match self {
            Self::One(one) => one.locate_cached(shape, index),
            Self::Several(several) => several.locate_cached(shape, index),
        }
    }
}
