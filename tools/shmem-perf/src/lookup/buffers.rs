//! Buffers for measures of partitions.

use shmem::thread::ThreadLevel;
use shmem::{Result, World, zeroed};
use shmem_core::data::SymmetricData;
use shmem_core::object::{SymAddr, SymBox};

use super::REGION;

/// A buffer in each of `n` partitions, and `n` of them in one, at the same distances.
#[derive(Debug)]
pub struct Buffers<T: SymmetricData> {
    /// Each in a partition of its own.
    pub apart: Vec<SymBox<[T]>>,
    /// All in the last of these partitions.
    pub together: Vec<SymBox<[T]>>,
    between: Vec<SymAddr>,
}

impl<T: SymmetricData> Buffers<T> {
    /// Allocates buffers of `len` elements, in a job with the [`variables`](super::variables) for `n`. All PEs
    /// call it.
    ///
    /// # Errors
    ///
    /// If the last partition has no room.
    ///
    /// # Panics
    ///
    /// If the buffers cannot be laid at the same distances, because the heaps are not empty.
    pub fn allocate<L: ThreadLevel>(world: &World<L>, n: usize, len: usize) -> Result<Self> {
        let apart = (1..=n as u32)
            .map(|id| world.partition(id)?.alloc(zeroed::<T>(len)))
            .collect::<Result<Vec<_>>>()?;
        let heap = world.partition(n as u32)?;
        let room = (len * size_of::<T>()).next_multiple_of(shmem_core::heap::MIN_ALIGN);
        let first = apart[0].offset();
        let mut end = apart[n - 1].offset() + room;
        // The first one lies where the first one of the others does, as far as pages can tell.
        let start = end + (first.wrapping_sub(end) % REGION);
        let (mut together, mut between) = (Vec::new(), Vec::new());
        for other in &apart {
            let wanted = start + (other.offset() - first);
            if wanted > end {
                between.push(heap.malloc(wanted - end)?);
            }
            let buffer = heap.alloc(zeroed::<T>(len))?;
            assert_eq!(buffer.offset(), wanted, "the heap of the last partition was not empty");
            end = wanted + room;
            together.push(buffer);
        }
        Ok(Self { apart, together, between })
    }

    pub(super) fn exchange(&mut self) {
        self.apart.swap_with_slice(&mut self.together);
    }

    /// Frees them. All PEs call it.
    ///
    /// # Errors
    ///
    /// If the job has freed one of them already.
    pub fn free<L: ThreadLevel>(self, world: &World<L>) -> Result<()> {
        self.apart.into_iter().chain(self.together).try_for_each(|buffer| world.free(buffer))?;
        self.between.into_iter().try_for_each(|block| world.free(block))
    }
}

/// The calling PE's addresses of objects.
pub(super) fn addresses<L: ThreadLevel, T: SymmetricData>(
    world: &World<L>,
    boxes: &[SymBox<[T]>],
) -> Vec<SymAddr> {
    boxes.iter().map(|buffer| buffer.here(world).addr()).collect()
}
