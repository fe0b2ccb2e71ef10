//! Writes the first elements of a new array.

use shmem_core::array::{ArrayRange, Chunking, StorageKind};
use shmem_core::shared;

/// A function that writes contiguous elements, given the row-major number of the first element.
pub(super) type Written<'f, T> = dyn Fn(Slots<T>, usize) + 'f;

/// Contiguous elements to write: a pointer and a count, not a reference, because other PEs could reach the elements by address.
pub(super) struct Slots<T> {
    start: *mut T,
    count: usize,
}

impl<T> Slots<T> {
    pub(super) fn write_each(self, mut next: impl FnMut() -> T) {
        for i in 0..self.count {
            // SAFETY: the function `write` made `self` of `count` slots that are aligned and writable, and `i` is below `count`.
            unsafe { shared::write(self.start.wrapping_add(i), next()) };
        }
    }
}

/// Writes the elements of a new array on the calling PE, before any handle exists. Without `contents`, the elements are zero bytes.
///
/// # Safety
///
/// `mine` must be the start of the calling PE's slot. Each part must be mapped there, aligned, large enough, and unused.
pub(super) unsafe fn write<T, const D: usize>(
    mine: *mut u8,
    chunking: &Chunking<D>,
    kind: StorageKind,
    parts: &[ArrayRange],
    contents: Option<&Written<'_, T>>,
) {
    for chunk in 0..chunking.chunks() {
        for (number, run) in chunking.runs(chunk).enumerate() {
            let (part, first) = match kind {
                StorageKind::Multi => (parts[chunk], number * run.len()),
                _ => (parts[0], run.start),
            };
            let to = mine.wrapping_add(part.offset).cast::<T>().wrapping_add(first);
            match contents {
                // SAFETY: the run is inside the part, which is mapped and otherwise unused (caller).
                None => unsafe { shared::zero(to.cast(), run.len() * size_of::<T>()) },
                Some(write) => write(Slots { start: to, count: run.len() }, run.start),
            }
        }
    }
}

/// Returns the [`Written`] function that writes `element(index)` to each element.
pub(super) fn from_indices<T, const D: usize>(
    shape: [usize; D],
    element: impl Fn([usize; D]) -> T,
) -> impl Fn(Slots<T>, usize) {
    move |run, first| {
        let mut index = position(shape, first);
        run.write_each(|| {
            let value = element(index);
            for d in (0..D).rev() {
                index[d] += 1;
                if index[d] < shape[d] {
                    break;
                }
                index[d] = 0;
            }
            value
        });
    }
}

/// Returns the index of the element with a number in row-major order.
#[inline(always)]
pub(super) fn position<const D: usize>(shape: [usize; D], mut number: usize) -> [usize; D] {
    let mut index = [0; D];
    for d in (1..D).rev() {
        (index[d], number) = (number % shape[d], number / shape[d]);
    }
    index[0] = number;
    index
}
