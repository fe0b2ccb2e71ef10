//! Pools: later segments, each bound to one node, from which chunks are taken.
//!
//! A pool is made when the first chunk needs it, and stays: placed and registered once for all arrays. Its
//! heap is one of the ledger's, so chunks come and go as other objects do. Pages are made when a chunk
//! first takes them.

use shmem_core::heap::{Allocation, Allocator, HeapError, Owner, statics};
use shmem_core::memory::Request;
use shmem_core::partition::Traits;
use shmem_core::text::Text;

use super::make::Maker;
use crate::error::Result;
use crate::segments::{self, Wanted};
use crate::state::later::Pool;

/// Bytes of a pool, unless a chunk needs more or there is little room.
const POOL_BYTES: usize = 64 << 20;

/// What pools are multiples of.
const STEP: usize = 2 << 20;

impl<const D: usize> Maker<'_, D> {
    /// Takes a block of the pools of a class of chunks, and says whether its pages exist. Makes a pool if
    /// there is no room.
    pub(super) fn take_from_pool(
        &self,
        class: usize,
        bytes: usize,
        align: usize,
    ) -> Result<(Allocation, bool)> {
        let traits = Traits { size: None, ..self.spec.traits };
        let fitting: Vec<_> = {
            let later = self.job.memory.later.lock();
            let fitting = later.pools.0.iter().filter(|pool| pool.traits == traits && pool.class == class);
            fitting.map(|pool| (pool.segment, pool.populated)).collect()
        };
        for (segment, populated) in fitting {
            match self.job.memory.ledger.lock().allocate(segment, bytes, align, Owner::Handle) {
                Err(HeapError::Exhausted { .. }) => {}
                found => return Ok((found?, populated)),
            }
        }
        let (segment, populated) = self.new_pool(traits, class, bytes, align)?;
        Ok((self.job.memory.ledger.lock().allocate(segment, bytes, align, Owner::Handle)?, populated))
    }

    fn new_pool(&self, traits: Traits, class: usize, bytes: usize, align: usize) -> Result<(u32, bool)> {
        let page = traits.pgsize.unwrap_or(0) as usize;
        let needed = (bytes.saturating_add(align)).checked_next_multiple_of(STEP.max(page)).unwrap_or(bytes);
        // All nodes need one, and arrays of other storages some room.
        let share = self.job.memory.later.lock().largest_free() / (4 * self.homes.most()) / STEP * STEP;
        let bytes = if page == 0 { needed.max(POOL_BYTES.min(share)) } else { needed };
        let node = self.homes.of_class(class).and(self.node_of_class(class));
        let request = self.request(bytes, node);
        let name = Text::head(&format!("pool {class}"));
        // What the chunk takes must be there; the rest of the pool is only addresses.
        let first = Request { bytes: needed, populate: true, ..request.clone() };
        let wanted =
            Wanted { request, partition: self.spec.id, name, taken: vec![first], hidden: true, given: None };
        let mut populated = false;
        let made = segments::make(self.job, self.agreed, Ok(wanted), |own| {
            self.placing.compare(self.job, own.grant, self.grant);
            populated = own.grant.populated;
            Ok(Vec::new())
        })?;
        let (start, end) = (made.offset, made.offset + bytes);
        // Pools of different nodes do not start in the same sets of the caches, where there is room.
        let spare = bytes - needed;
        let colour = (statics::colour(made.index, bytes as u64) as usize).min(spare);
        let heap = Allocator::new(self.spec.id, name, start + colour..end);
        self.job.memory.ledger.lock().add_heap(made.index, heap);
        self.job.memory.later.lock().pools.0.push(Pool { traits, class, segment: made.index, populated });
        Ok((made.index, populated))
    }

    /// Drops all pools but the first `keep`, in which nothing is any more, on every PE: those that were made
    /// for an array that came to nothing.
    pub(super) fn drop_pools(&self, keep: usize) {
        let dropped = self.job.memory.later.lock().pools.0.split_off(keep);
        for Pool { segment, .. } in dropped {
            self.job.memory.ledger.lock().remove_heap(segment);
            // SAFETY: nothing is in the pool on any PE (caller): it was made in this call for an array that all PEs
            // know was not made, so there is no handle of anything in it, and no transfer to it was started.
            unsafe { segments::remove(self.job, segment) };
        }
    }

    /// The node from which the memory of a class comes on this PE.
    fn node_of_class(&self, class: usize) -> Option<u32> {
        (0..self.chunking.chunks())
            .find(|chunk| self.homes.class(*chunk) == class)
            .and_then(|chunk| self.placing.nodes.get(chunk).copied())
    }
}
