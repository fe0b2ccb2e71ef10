//! One range for each chunk, from a pool on the chunk's node.
//!
//! Source: "NUMA-Aware Array Storage" (Chapel), "Multi-ddata".

use core::ops::Range;

use shmem_core::array::{Part, StorageKind};
use shmem_core::heap::{Allocation, MIN_ALIGN};

use super::make::{Maker, Memory};
use crate::error::Result;

impl<const D: usize> Maker<'_, D> {
    pub(super) fn multi(&self) -> Result<Memory> {
        let pools = self.job.memory.later.lock().pools.count();
        let mut blocks = Vec::with_capacity(self.chunking.chunks());
        let made = self.fill_blocks(&mut blocks);
        let ids: Vec<_> = blocks.iter().map(|block| block.id).collect();
        let parts = made.inspect_err(|_| {
            self.undo(&ids);
            self.drop_pools(pools);
        })?;
        Ok(Memory { kind: StorageKind::Multi, parts, ids })
    }

    /// Takes a block for each chunk and writes its elements.
    fn fill_blocks(&self, blocks: &mut Vec<Allocation>) -> Result<Vec<Part>> {
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
        self.agree_on_room(|| self.placing.missing(self.job, pages))?;
        let made = bare.iter().try_for_each(|(chunk, block)| self.make_pages(*chunk, block)).map(|()| {
            (self.fill)(&parts, false);
            Vec::new()
        });
        self.agreed.settle(made)?;
        Ok(parts)
    }

    fn part(&self, chunk: usize, block: &Allocation) -> Part {
        Part { segment: block.segment, offset: block.offset, elements: self.chunking.elements(chunk) }
    }

    /// The pages of a chunk, some of which may be those of others, too.
    fn pages_of(&self, block: &Allocation) -> Range<usize> {
        let page = self.job.site.base_page();
        block.offset / page * page..(block.offset + block.bytes).next_multiple_of(page)
    }

    fn make_pages(&self, chunk: usize, block: &Allocation) -> Result<()> {
        let (job, pages) = (self.job, self.pages_of(block));
        job.memory
            .arena
            .populate(job.site.slot, pages.clone())
            .map_err(|error| self.placing.unmade(error))?;
        self.placing.verify(job, pages.start, &[(0..pages.len(), chunk)])
    }
}
