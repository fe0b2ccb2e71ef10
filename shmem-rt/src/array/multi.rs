//! One range for each chunk, from a pool on the chunk's node.
//!
//! Source: "NUMA-Aware Array Storage" (Chapel), "Multi-ddata".

use shmem_core::array::{Part, StorageKind};
use shmem_core::heap::{Allocation, MIN_ALIGN};

use super::make::{Maker, Memory};
use crate::error::Result;

impl<const D: usize> Maker<'_, D> {
    pub(super) fn multi(&self) -> Result<Memory> {
        let mut blocks: Vec<Allocation> = Vec::with_capacity(self.chunking.chunks());
        let mut ready = Ok(());
        for chunk in 0..self.chunking.chunks() {
            let bytes = self.chunking.elements(chunk) * self.element;
            match self.take_from_pool(self.homes.class(chunk), bytes, self.align.max(MIN_ALIGN)) {
                Ok((block, populated)) => {
                    blocks.push(block);
                    if !populated && ready.is_ok() {
                        ready = self.make_pages(chunk, &block);
                    }
                }
                Err(error) => {
                    self.undo(&blocks.iter().map(|block| block.id).collect::<Vec<_>>());
                    return Err(error);
                }
            }
        }
        let parts: Vec<_> = blocks.iter().enumerate().map(|(chunk, block)| self.part(chunk, block)).collect();
        let ids: Vec<_> = blocks.iter().map(|block| block.id).collect();
        let made = ready.map(|()| {
            (self.fill)(&parts, false);
            Vec::new()
        });
        self.collective.agree(self.purpose, made).inspect_err(|_| self.undo(&ids))?;
        Ok(Memory { kind: StorageKind::Multi, parts, ids })
    }

    fn part(&self, chunk: usize, block: &Allocation) -> Part {
        Part { segment: block.segment, offset: block.offset, elements: self.chunking.elements(chunk) }
    }

    /// Makes the pages of a chunk, some of which may be those of others, too.
    fn make_pages(&self, chunk: usize, block: &Allocation) -> Result<()> {
        let (job, page) = (self.job, self.job.base_page());
        let start = block.offset / page * page;
        let end = (block.offset + block.bytes).next_multiple_of(page);
        job.arena.populate(job.slot, start..end)?;
        self.placing.verify(job, start, &[(0..end - start, chunk)])
    }
}
