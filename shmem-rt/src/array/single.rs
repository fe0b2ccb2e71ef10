//! One range in the heap of a partition.
//!
//! The block has its pages for itself, so they can be placed without touching what others have; when it
//! is freed they are the heap's again, from which other arrays take them as they are, and other objects not
//! (`misplaced`). Nothing is registered: the heap is.
//!
//! Source: "NUMA-Aware Array Storage" (Chapel), "Single-ddata".

use shmem_core::array::{Part, StorageKind};
use shmem_core::heap::Owner;
use shmem_core::memory::{Placement, Request};

use super::bindings::{by_chunk, slide};
use super::make::{Maker, Memory};
use crate::error::Result;
use crate::segments;
use crate::state::later::End;

impl<const D: usize> Maker<'_, D> {
    pub(super) fn single(&self) -> Result<Memory> {
        let kind = StorageKind::Single;
        let (job, page, segment) = (self.job, self.job.site.base_page(), self.segment);
        if !self.too_small {
            self.refuse_huge_pages(kind)?;
        }
        let by_pages = self.homes.most() > 1 && !self.too_small && !self.huge;
        let slide = if by_pages { slide(self.chunking, self.element, page) } else { 0 };
        let room = (slide + self.bytes()).next_multiple_of(page);
        let block = job.memory.ledger.lock().allocate(segment, room, self.align.max(page), Owner::Handle);
        let block = block.map_err(|error| self.agreed.explain(error, segment))?;
        let range = block.offset..block.offset + room;
        let part = Part { segment, offset: block.offset + slide, elements: self.chunking.len() };

        let bound = if by_pages { by_chunk(self.chunking, self.element, slide, page) } else { Vec::new() };
        self.agree_on_room(|| self.placing.missing(job, [(block.offset, bound.clone())]))
            .inspect_err(|_| self.undo(&[block.id]))?;
        if by_pages && !self.placing.nodes.is_empty() {
            job.memory.later.lock().misplaced.leave_out(&range);
        } else {
            segments::renew_pages(job, &range, || self.grant.populated);
        }
        let made = if by_pages && !self.placing.nodes.is_empty() {
            // What the partition had at the start it has still.
            let request = Request::partition(self.spec, job.site.topology());
            let placement = request.map_or_else(|_| Placement::system(), |request| request.placement);
            let end = End::Pages { range, nodes: placement.nodes, spread: placement.spread };
            job.memory.later.lock().ends.insert(block.id, end);
            // SAFETY: the block was allocated just now, and holds whole pages.
            unsafe { self.placing.place(job, block.offset, &bound) }
        } else if !self.grant.populated {
            job.memory.arena.populate(job.site.slot, range).map_err(|error| self.placing.unmade(error))
        } else {
            Ok(())
        };
        let made = made.map(|()| {
            (self.fill)(&[part], false);
            Vec::new()
        });
        self.agreed.settle(made).inspect_err(|_| self.undo(&[block.id]))?;
        Ok(Memory { kind, parts: vec![part], ids: vec![block.id] })
    }
}
