//! Storage `multi`: one range for each chunk, from a pool on the chunk's node.
//!
//! Pools are dynamic segments (made after the start), each bound to one node. A pool is made when a chunk first needs
//! it, and stays placed and registered for all later arrays. The ledger, the record of all heap blocks, has a heap for
//! each pool. So chunks are allocated like other objects. A page is populated when the first chunk on it is allocated.
//!
//! Source: "NUMA-Aware Array Storage" (Chapel), "Multi-ddata".

use core::ops::Range;

use shmem_core::array::{ArrayRange, StorageKind};
use shmem_core::heap::{Allocation, Allocator, HeapError, MIN_ALIGN, Owner, statics};
use shmem_core::memory::Request;
use shmem_core::partition::Traits;
use shmem_core::text::Text;

use super::construction::{Maker, Memory};
use crate::dynamic_segments::{self, Wanted};
use crate::error::Result;
use crate::state::dynamic_memory::Pool;

/// Bytes of a pool: more if a chunk needs more, and fewer if few addresses are free. If the partition requests a page size, a pool
/// has only the bytes that its first chunk needs.
const POOL_BYTES: usize = 64 << 20;

/// Unit of pool sizes: a huge page.
const STEP: usize = 2 << 20;

impl<const D: usize> Maker<'_, D> {
    pub(super) fn multi(&self) -> Result<Memory> {
        let pools = self.job.memory.dynamic.lock().pools.len();
        let mut blocks = Vec::with_capacity(self.chunking.chunks());
        let made = self.fill_blocks(&mut blocks);
        let ids: Vec<_> = blocks.iter().map(|block| block.id).collect();
        let parts = made.inspect_err(|_| {
            self.undo(&ids);
            self.drop_pools(pools);
        })?;
        Ok(Memory { kind: StorageKind::Multi, parts, ids })
    }

    /// Allocates blocks for the chunks, and writes the first elements.
    fn fill_blocks(&self, blocks: &mut Vec<Allocation>) -> Result<Vec<ArrayRange>> {
        let mut bare = Vec::new();
        for chunk in 0..self.chunking.chunks() {
            let bytes = self.chunking.elements(chunk) * self.element;
            let class = self.homes.class(chunk);
            let (block, populated) = self.take_from_pool(class, bytes, self.align.max(MIN_ALIGN))?;
            blocks.push(block);
            if !populated {
                bare.push((chunk, block));
            }
        }
        let parts: Vec<_> = blocks.iter().enumerate().map(|(chunk, block)| self.part(chunk, block)).collect();
        let pages = bare.iter().map(|(chunk, block)| {
            let pages = self.pages_of(block);
            (pages.start, vec![(0..pages.len(), *chunk)])
        });
        self.agree_on_room(|| self.missing(pages))?;
        let made = bare.iter().try_for_each(|(chunk, block)| self.make_pages(*chunk, block)).map(|()| {
            (self.fill)(&parts, false);
            Vec::new()
        });
        self.agreed.settle(made)?;
        Ok(parts)
    }

    fn part(&self, chunk: usize, block: &Allocation) -> ArrayRange {
        ArrayRange { segment: block.segment, offset: block.offset, elements: self.chunking.elements(chunk) }
    }

    /// Returns the pages that contain a chunk. Other chunks may be on the first and the last page.
    fn pages_of(&self, block: &Allocation) -> Range<usize> {
        let page = self.job.site.base_page();
        block.offset / page * page..(block.offset + block.bytes).next_multiple_of(page)
    }

    fn make_pages(&self, chunk: usize, block: &Allocation) -> Result<()> {
        let (job, pages) = (self.job, self.pages_of(block));
        job.memory.arena.populate(job.site.slot, pages.clone()).map_err(|error| self.unmade(error))?;
        self.verify(pages.start, &[(0..pages.len(), chunk)])
    }

    /// Allocates a block in a pool of a class of chunks, or in a new pool. Also returns whether the block's pages are populated.
    fn take_from_pool(&self, class: usize, bytes: usize, align: usize) -> Result<(Allocation, bool)> {
        let traits = Traits { size: None, ..self.spec.traits };
        let fitting: Vec<_> = {
            let dynamic = self.job.memory.dynamic.lock();
            let fitting = dynamic.pools.iter().filter(|pool| pool.traits == traits && pool.class == class);
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
        // Unless a chunk needs more, a pool has at most a quarter of a node's share of the free addresses, so that other pools fit.
        let share = self.job.memory.dynamic.lock().range.largest_free() / (4 * self.homes.most) / STEP * STEP;
        let bytes = if page == 0 { needed.max(POOL_BYTES.min(share)) } else { needed };
        let node = self.homes.of_class(class).and(self.node_of_class(class));
        let request = self.request(bytes, node);
        let name = Text::head(&format!("pool {class}"));
        // The first request checks only the pages of the chunk. The rest of the pool is address space without pages.
        let first = Request { bytes: needed, populate: true, ..request.clone() };
        let wanted = Wanted { taken: vec![first], ..Wanted::new(request, self.spec.id, name) };
        let mut populated = false;
        let made = dynamic_segments::make(self.job, self.agreed, Ok(wanted), |_, grant| {
            self.compare(grant);
            populated = grant.populated;
            Ok(Vec::new())
        })?;
        let (start, end) = (made.offset, made.offset + bytes);
        // Pools of different nodes start in different cache sets, so that their blocks do not compete, if there are bytes to spare.
        let spare = bytes - needed;
        let colour = (statics::colour(made.index, bytes as u64) as usize).min(spare);
        let heap = Allocator::new(self.spec.id, name, start + colour..end, bytes);
        self.job.memory.ledger.lock().add_heap(made.index, heap);
        self.job.memory.dynamic.lock().pools.push(Pool { traits, class, segment: made.index, populated });
        Ok((made.index, populated))
    }

    /// Drops all pools except the first `keep`, on every PE. The dropped pools were made for an array that failed.
    fn drop_pools(&self, keep: usize) {
        let dropped = self.job.memory.dynamic.lock().pools.split_off(keep);
        for Pool { segment, .. } in dropped {
            self.job.memory.ledger.lock().remove_heap(segment);
            // SAFETY: on every PE the pool is empty, because it was made in this call, for an array that all PEs know
            // was not made. So there is no handle of an object in the pool, and no transfer to it was started.
            unsafe { dynamic_segments::remove(self.job, segment) };
        }
    }

    fn node_of_class(&self, class: usize) -> Option<u32> {
        (0..self.chunking.chunks())
            .find(|chunk| self.homes.class(*chunk) == class)
            .and_then(|chunk| self.nodes.get(chunk).copied())
    }
}
