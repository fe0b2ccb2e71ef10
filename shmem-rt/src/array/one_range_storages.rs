//! Storages of one range: in the heap of a partition, or in a segment.
//!
//! An array in the heap consists of whole pages, which are placed by chunk. They are registered already, with the heap.
//! When the array is freed, new pages on the nodes of the partition replace them.
//!
//! The pages of a segment are placed by chunk, or block by block on the nodes in turn. Pages are bound to nodes before they are
//! populated, and populated before the segment is registered. Freeing the array removes the segment on every PE.
//!
//! Source: "NUMA-Aware Array Storage" (Chapel), "Single-ddata", "Single-ddata with Separate Arrays" and "Single-ddata with
//! Cyclic Localization".

use shmem_core::array::{ArrayError, ArrayRange, StorageKind};
use shmem_core::heap::{MIN_ALIGN, Owner};
use shmem_core::memory::{Placement, Request};
use shmem_core::partition::{Pages, show_size};
use shmem_core::text::Text;

use super::construction::{Maker, Memory};
use super::page_owners::{by_chunk, cyclic, natural_block, slide};
use crate::dynamic_segments::{self, Wanted};
use crate::error::Result;
use crate::state::dynamic_memory::End;

impl<const D: usize> Maker<'_, D> {
    pub(super) fn single(&self) -> Result<Memory> {
        let kind = StorageKind::Single;
        let (job, page, segment) = (self.job, self.job.site.base_page(), self.segment);
        if !self.too_small {
            self.refuse_huge_pages(kind)?;
        }
        let by_pages = self.homes.most > 1 && !self.too_small && !self.huge;
        let slide = if by_pages { slide(self.chunking, self.element, page) } else { 0 };
        let room = (slide + self.bytes()).next_multiple_of(page);
        let block = job.memory.ledger.lock().allocate(segment, room, self.align.max(page), Owner::Handle);
        let block = block?;
        let range = block.offset..block.offset + room;
        let part = ArrayRange { segment, offset: block.offset + slide, elements: self.chunking.len() };

        let bound = if by_pages { by_chunk(self.chunking, self.element, slide, page) } else { Vec::new() };
        self.agree_on_room(|| self.missing([(block.offset, bound.clone())]))
            .inspect_err(|_| self.undo(&[block.id]))?;
        let made = if by_pages && !self.nodes.is_empty() {
            // The placement of the partition, which the pages get back when the block is freed.
            let request = Request::partition(self.spec, job.site.topology());
            let placement = request.map_or_else(|_| Placement::system(), |request| request.placement);
            let Placement { nodes, spread, .. } = placement;
            let end = End::Pages { range, nodes, spread, populated: self.grant.populated };
            job.memory.dynamic.lock().ends.insert(block.id, end);
            // SAFETY: the block was allocated just now, so there is no reference to its pages. It consists of whole pages.
            unsafe { self.place(block.offset, &bound) }
        } else if !self.grant.populated {
            job.memory.arena.populate(job.site.slot, range).map_err(|error| self.unmade(error))
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

    pub(super) fn separate(&self, kind: StorageKind) -> Result<Memory> {
        self.refuse_huge_pages(kind)?;
        let (job, page, bytes) = (self.job, self.job.site.base_page(), self.bytes());
        let (chunking, element, chunks) = (self.chunking, self.element, self.chunking.chunks());
        let in_turn = match kind {
            StorageKind::Cyclic { block } => Some(block).filter(|&block| block > 0),
            _ => None,
        };
        if in_turn.is_some_and(|block| !block.is_multiple_of(page)) {
            let reason = format!("pages have {} here", show_size(page as u64));
            return Err(ArrayError::block(&kind.to_string(), &reason).into());
        }
        let slide = if in_turn.is_none() && self.split() { slide(chunking, element, page) } else { 0 };
        // `block: 0` asks for the default block: a run of a chunk, rounded to pages.
        let kind = match kind {
            StorageKind::Cyclic { block: 0 } => {
                StorageKind::Cyclic { block: natural_block(chunking, element, page) }
            }
            kind => kind,
        };
        // The ranges are computed only after a check that memory suffices, because a huge array has very many ranges.
        let bound = || match in_turn {
            Some(block) => cyclic(bytes, block, chunks, page),
            None => by_chunk(chunking, element, slide, page),
        };
        let room = (slide + bytes).next_multiple_of(page);
        let request = match self.split() {
            true => self.request_split(room),
            false => self.request(room, self.nodes.first().copied()),
        };
        let name = Text::head("array");
        // `dynamic_segments::make` checks the memory that it populates; memory that is populated later is checked here.
        let base = (!request.populate).then(|| self.demand(None, room));
        let enough = base.iter().try_for_each(|base| dynamic_segments::check(job, base));
        let wanted = enough.map_err(Into::into).map(|()| {
            let taken = if request.populate { Vec::new() } else { self.taken(bound) };
            Wanted { taken, ..Wanted::new(request, self.spec.id, name) }
        });
        let part =
            |segment, offset: usize| ArrayRange { segment, offset: offset + slide, elements: chunking.len() };
        let made = dynamic_segments::make(job, self.agreed, wanted, |offset, grant| {
            self.compare(grant);
            // Huge pages are not placed by chunk: they are populated already, on the only node.
            if grant.pages == Pages::Base {
                // SAFETY: the segment is new, and no reference or handle to it exists on any PE.
                unsafe { self.place(offset, &bound()) }?;
            }
            // The segment has no index yet. `fill` does not use the index, so 0 stands for it.
            (self.fill)(&[part(0, offset)], true);
            Ok(Vec::new())
        })?;

        let block = dynamic_segments::enter_whole(job, &made, (self.spec.id, name), room, MIN_ALIGN)?;
        Ok(Memory { kind, parts: vec![part(made.index, block.offset)], ids: vec![block.id] })
    }
}
