//! Addresses of elements by index.

use core::marker::PhantomData;

use super::geometry::{Bucket, Geometry, Steps};

/// How a view finds an element by its index.
///
/// # Safety
///
/// For an array of this `shape` with elements of type `T` at the parts of `geometry` from `mine` on, the functions must
/// return the address of the element with an index, derived from `mine`, or `None` if there is no such element.
pub unsafe trait Addressing<'x, const D: usize>: Copy {
    /// Whether the elements are one range; `None` if that is known at run time only.
    const ONE_RANGE: Option<bool>;

    /// Finds elements in the slot that starts at `mine`.
    fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self;

    /// The address of an element.
    fn locate<T>(&self, shape: &[usize; D], index: [usize; D]) -> Option<*mut T>;

    /// As [`locate`](Self::locate); caches the chunk of the element for the next call.
    fn locate_near<T>(&mut self, shape: &[usize; D], index: [usize; D]) -> Option<*mut T>;
}

/// Elements in one range.
#[derive(Clone, Copy, Debug)]
pub struct OneRange<'x, const D: usize> {
    start: *mut u8,
    _geometry: PhantomData<&'x Geometry<D>>,
}

// SAFETY: the only part holds the elements in row-major order, and the number computed here is that of the index in this order.
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
    fn locate_near<T>(&mut self, shape: &[usize; D], index: [usize; D]) -> Option<*mut T> {
        self.locate(shape, index)
    }
}

/// Elements in one range per chunk; [`geometry`](super::geometry) explains the table.
#[derive(Clone, Copy, Debug)]
pub struct Chunked<'x, const D: usize> {
    mine: *mut u8,
    entries: &'x [Bucket<D>],
    shift: u32,
    axis: usize,
    length: usize,
    near: Near<D>,
}

/// The cached chunk: a range of indices along the axis.
#[derive(Clone, Copy, Debug)]
struct Near<const D: usize> {
    first: usize,
    count: usize,
    /// Address that index 0 would have.
    origin: *mut u8,
    steps: Steps<D>,
}

impl<const D: usize> Chunked<'_, D> {
    /// The index along the axis of chunks, if the other indices are in range.
    #[inline(always)]
    fn along(&self, shape: &[usize; D], index: [usize; D]) -> Option<usize> {
        // Selected by comparisons, so that the index stays in registers: a variable subscript would need an array in memory.
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
        // SAFETY: the table has an entry for each index along the axis.
        Some(unsafe { self.entries.get_unchecked(along >> self.shift) })
    }
}

// SAFETY: the table was made from the parts. The steps that an entry has for an index are the biased start and the strides of the
// chunk of the index. `near` holds steps, and the range of indices for which they are valid.
unsafe impl<'x, const D: usize> Addressing<'x, D> for Chunked<'x, D> {
    const ONE_RANGE: Option<bool> = Some(false);

    #[inline(always)]
    fn new(mine: *mut u8, geometry: &'x Geometry<D>) -> Self {
        let Geometry { entries, shift, chunking, .. } = geometry;
        let near = Near { first: 0, count: 0, origin: mine, steps: [0; D] };
        let axis = chunking.axis();
        Self { mine, entries, shift: *shift, axis, length: chunking.shape()[axis], near }
    }

    #[inline(always)]
    fn locate<T>(&self, shape: &[usize; D], index: [usize; D]) -> Option<*mut T> {
        let along = self.along(shape, index)?;
        let entry = self.entry(along)?;
        let steps = &entry.steps[usize::from(along >= entry.boundary)];
        Some(element(self.mine.wrapping_add(steps[0]), steps, index))
    }

    #[inline(always)]
    fn locate_near<T>(&mut self, shape: &[usize; D], index: [usize; D]) -> Option<*mut T> {
        let along = self.along(shape, index)?;
        if along.wrapping_sub(self.near.first) >= self.near.count {
            // Passed by value, so that the view stays in registers.
            self.near = find(self.mine, self.entries, self.shift, self.length, along)?;
        }
        Some(element(self.near.origin, &self.near.steps, index))
    }
}

/// Finds the chunk of an index along the axis. Never inlined, so that loops keep their view in registers.
#[cold]
#[inline(never)]
fn find<const D: usize>(
    mine: *mut u8,
    entries: &[Bucket<D>],
    shift: u32,
    length: usize,
    along: usize,
) -> Option<Near<D>> {
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
    Some(Near { first, count: end - first, origin: mine.wrapping_add(steps[0]), steps })
}

/// The address of an element, from that of index 0 and the strides.
#[inline(always)]
fn element<T, const D: usize>(origin: *mut u8, steps: &Steps<D>, index: [usize; D]) -> *mut T {
    let mut number = index[D - 1];
    for d in 0..D - 1 {
        number = number.wrapping_add(index[d].wrapping_mul(steps[d + 1]));
    }
    origin.cast::<T>().wrapping_add(number)
}

/// Either addressing, chosen at run time.
#[derive(Clone, Copy, Debug)]
pub enum Either<'x, const D: usize> {
    /// The elements are one range.
    One(OneRange<'x, D>),
    /// The elements are in a piece per chunk.
    Several(Chunked<'x, D>),
}

// SAFETY: each of the two finds the elements of the arrays for which `new` chooses it.
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
    fn locate_near<T>(&mut self, shape: &[usize; D], index: [usize; D]) -> Option<*mut T> {
        match self {
            Self::One(one) => one.locate_near(shape, index),
            Self::Several(several) => several.locate_near(shape, index),
        }
    }
}
