//! The allocations of a job, as recorded by one PE.
//!
//! Allocations are numbered in lockstep: the job's n-th allocation has number n and the same offset on every PE. Dropping a handle
//! only queues its number ([`Released`]). In a later collective, each PE turns its queue into a bitmap over the live allocations,
//! which are equal on all PEs. The bitmaps are combined by AND, and every PE frees the allocations that remain set, in order of
//! their numbers. So PEs may drop handles in different orders, and their allocators still get equal calls.
//!
//! The bitmap has a word for each group of 64 consecutive numbers with a live handle. It grows with the number of live handles, not
//! with the job's age. PEs can exchange a long bitmap in parts.

use core::fmt;
use core::panic::Location;
use std::collections::BTreeMap;
use std::sync::Arc;

use shmem_grammar::show_size;

use super::allocator::room_of;
use super::{Allocator, HeapError, Usage};
use crate::loom_atomics::Mutex;
use crate::planted_fault::mutant;

/// The owner of an allocation, who decides when it is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A typed handle. The allocation is freed when all PEs have dropped the handle, or by a collective call with its number.
    Handle,
    /// The program, which frees the allocation by a collective call with its address.
    Address,
    /// A name in the directory of named objects, until the name is removed.
    Name,
}

/// An allocation; equal on every PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Number of the allocation, from 1. Numbers are never reused.
    pub id: u64,
    /// Index of the segment that contains the allocation.
    pub segment: u32,
    /// Bytes from the start of a PE's slot to the allocation.
    pub offset: usize,
    /// Requested bytes.
    pub bytes: usize,
    /// Requested alignment.
    pub align: usize,
    /// The owner of the allocation.
    pub owner: Owner,
    /// The object of the program, if it was [described](Ledger::describe).
    pub made: Option<Made>,
}

/// The object of the program to which an allocation belongs, for error texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// The sort of object (`array`), or the name of its variable.
    pub what: &'static str,
    /// The source line that allocated the object.
    pub place: &'static Location<'static>,
    /// Number of the first allocation of the same object.
    pub first: u64,
    /// Whether the object is an array in chunks. The allocation may then contain bytes outside the object.
    pub is_array: bool,
}

/// Writes `array #3 (src/main.rs:12)`: sort, number and source line of the object.
impl fmt::Display for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.made {
            None => write!(f, "heap object #{}", self.id),
            Some(Made { what, place, first, .. }) => {
                write!(f, "{what} #{first} ({}:{})", place.file(), place.line())
            }
        }
    }
}

/// The result of [`Ledger::reclaim`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reclaimed {
    /// The freed allocations, in order of their numbers.
    pub freed: Vec<Allocation>,
    /// The first allocation number of the bitmap's next part; 0 if there is no further part.
    pub next: u64,
}

/// Two bitmaps for 64 consecutive allocation numbers.
#[derive(Clone, Copy, Debug, Default)]
struct IdGroup {
    /// Bits of the allocations that a handle owns.
    live: u64,
    /// Bits of the allocations whose handle this PE has dropped.
    pending: u64,
}

/// The allocations of a job, as recorded by one PE.
#[derive(Debug, Default)]
pub struct Ledger {
    heaps: BTreeMap<u32, Allocator>,
    live: BTreeMap<u64, Allocation>,
    by_offset: BTreeMap<usize, u64>,
    groups: BTreeMap<u64, IdGroup>,
    /// Number of this PE's handles to each object that has, or had, a name; by allocation number.
    handles: BTreeMap<u64, usize>,
    /// Number of the last allocation; 0 before the first.
    last: u64,
    released: Arc<Released>,
}

impl Ledger {
    /// Returns a ledger without heaps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the heap of a segment. Panics if the segment has a heap already.
    pub fn add_heap(&mut self, segment: u32, heap: Allocator) {
        let before = self.heaps.insert(segment, heap);
        assert!(before.is_none(), "segment {segment} has a heap already");
    }

    /// Removes the heap of a segment, and all allocations on the heap. Handles that outlive the heap free nothing.
    pub fn remove_heap(&mut self, segment: u32) -> Option<Allocator> {
        let heap = self.heaps.remove(&segment)?;
        let gone: Vec<u64> = self.live.values().filter(|a| a.segment == segment).map(|a| a.id).collect();
        for id in gone {
            self.forget(id);
        }
        Some(heap)
    }

    /// Returns the queue of dropped handles.
    pub fn released(&self) -> &Arc<Released> {
        &self.released
    }

    /// Reserves memory on the heap of `segment`, under the next number. An allocation of 0 bytes gets the smallest block, so
    /// that empty objects need no special case. Fails, without using up the number, if the alignment is no power of two or more
    /// than [`MAX_ALIGN`](super::MAX_ALIGN), or no hole is large enough. Panics if the segment has no heap.
    pub fn allocate(
        &mut self,
        segment: u32,
        bytes: usize,
        align: usize,
        owner: Owner,
    ) -> Result<Allocation, HeapError> {
        let offset = self.heap(segment).allocate(bytes.max(1), align)?;
        Ok(self.enter(segment, offset, bytes, align, owner))
    }

    /// Reserves the memory of an object to which an earlier job gave a name, at its old offset, under the next number. Fails,
    /// without using up the number, if the offset is not aligned or the range is not free. Panics if the segment has no heap.
    pub fn restore(
        &mut self,
        segment: u32,
        offset: usize,
        bytes: usize,
        align: usize,
    ) -> Result<Allocation, HeapError> {
        self.heap(segment).allocate_at(offset, bytes.max(1), align)?;
        Ok(self.enter(segment, offset, bytes, align, Owner::Name))
    }

    fn heap(&mut self, segment: u32) -> &mut Allocator {
        self.heaps.get_mut(&segment).unwrap_or_else(|| panic!("segment {segment} has no heap"))
    }

    fn enter(&mut self, segment: u32, offset: usize, bytes: usize, align: usize, owner: Owner) -> Allocation {
        self.last += 1;
        let id = self.last;
        let allocation = Allocation { id, segment, offset, bytes, align, owner, made: None };
        self.live.insert(id, allocation);
        self.by_offset.insert(offset, id);
        if owner == Owner::Handle {
            self.groups.entry(id / 64).or_default().live |= 1 << (id % 64);
        }
        allocation
    }

    /// Records `made` as the object to which the allocations `ids` belong.
    pub fn describe(&mut self, ids: &[u64], made: Made) {
        for id in ids {
            if let Some(allocation) = self.live.get_mut(id) {
                allocation.made = Some(made);
            }
        }
    }

    /// Counts one more handle of this PE to a named object. `id` is the allocation's number.
    pub fn open(&mut self, id: u64) {
        *self.handles.entry(id).or_default() += 1;
    }

    /// Removes an allocation's name. Every PE calls this. From then on handles own the allocation: it is reclaimed when all handles
    /// of all PEs are dropped. Panics if there is no named allocation with this number.
    pub fn unname(&mut self, id: u64) {
        self.drain();
        let allocation = self.live.get_mut(&id).filter(|allocation| allocation.owner == Owner::Name);
        allocation.unwrap_or_else(|| panic!("allocation #{id} has no name")).owner = Owner::Handle;
        let bit = 1 << (id % 64);
        let group = self.groups.entry(id / 64).or_default();
        group.live |= bit;
        if !self.handles.contains_key(&id) {
            group.pending |= bit;
        }
    }

    /// Frees an allocation by its number, immediately. Every PE calls this. Fails if no allocation has the number, or if the
    /// allocation has a name. In the second case the handle is released all the same.
    pub fn free(&mut self, id: u64) -> Result<Allocation, HeapError> {
        let gone = || HeapError::Block(format!("there is no allocation #{id}: it was freed before"));
        let allocation = *self.live.get(&id).ok_or_else(gone)?;
        if allocation.owner == Owner::Name {
            self.released.push(id);
            return Err(HeapError::named("free", id));
        }
        self.heap(allocation.segment).free(allocation.offset, allocation.bytes);
        self.forget(id);
        Ok(allocation)
    }

    /// Frees an allocation by its offset. Every PE calls this. Fails if none starts there, or if a handle or a name owns it.
    pub fn free_at(&mut self, offset: usize) -> Result<Allocation, HeapError> {
        let id = self.owned_by_address("free", offset)?;
        self.free(id)
    }

    /// Resizes an allocation, given by its offset, inside its partition. The allocation keeps its number. If the offset
    /// changes, every PE copies the contents. Fails, without a change, if no allocation starts at the offset, if a handle or a
    /// name owns the allocation, if `bytes` is 0, or if no hole is large enough.
    pub fn reallocate_at(&mut self, offset: usize, bytes: usize) -> Result<Allocation, HeapError> {
        let id = self.owned_by_address("realloc", offset)?;
        if bytes == 0 {
            return Err(HeapError::Block("a block on a symmetric heap has at least one byte".to_owned()));
        }
        let mut allocation = self.live[&id];
        let Allocation { segment, bytes: old, align, .. } = allocation;
        allocation.offset = self.heap(segment).reallocate(offset, old, bytes, align)?;
        allocation.bytes = bytes;
        self.by_offset.remove(&offset);
        self.by_offset.insert(allocation.offset, id);
        self.live.insert(id, allocation);
        Ok(allocation)
    }

    /// Returns the number of words of the bitmap of live handles, equal on every PE.
    pub fn words(&self) -> usize {
        self.groups.len()
    }

    /// Returns the bitmap of the handles that this PE has dropped: at most `words` words, from the word of allocation
    /// `first_id` on. All PEs call this with equal arguments.
    pub fn pending_bitmap(&mut self, first_id: u64, words: usize) -> Vec<u64> {
        self.drain();
        self.groups.range(first_id / 64..).take(words).map(|(_, group)| group.pending).collect()
    }

    /// Frees the allocations that all PEs have dropped: `agreed` is the AND of all PEs' bitmaps from `first_id` on. Fails, and
    /// frees nothing, if this PE has not dropped all of them. Panics if `agreed` is longer than this PE's bitmap.
    pub fn reclaim(&mut self, first_id: u64, agreed: &[u64]) -> Result<Reclaimed, HeapError> {
        let mut groups = self.groups.range(first_id / 64..);
        let mut ids = Vec::new();
        for &word in agreed {
            let Some((number, group)) = groups.next() else {
                panic!("the agreed bitmap is longer than the list of live allocations")
            };
            let id_of = |bits: u64| number * 64 + u64::from(bits.trailing_zeros());
            let unasked = word & !group.pending;
            if unasked != 0 {
                let id = id_of(unasked);
                return Err(HeapError::Block(format!(
                    "allocation #{id} was to be reclaimed, but this PE has not dropped its handle"
                )));
            }
            let mut rest = word;
            while rest != 0 {
                ids.push(id_of(rest));
                rest &= rest - 1;
            }
        }
        let next = groups.next().map_or(0, |(number, _)| number * 64);
        let freed = ids.into_iter().map(|id| self.free(id)).collect::<Result<_, _>>()?;
        Ok(Reclaimed { freed, next })
    }

    /// Returns an allocation by its number.
    pub fn get(&self, id: u64) -> Option<&Allocation> {
        self.live.get(&id)
    }

    /// Returns the allocation that contains the byte at `offset`.
    pub fn find(&self, offset: usize) -> Option<&Allocation> {
        let (_, id) = self.by_offset.range(..=offset).next_back()?;
        self.live.get(id).filter(|a| offset - a.offset < a.bytes)
    }

    /// Returns the allocation that starts at `offset`, even if the allocation is empty.
    pub fn starting_at(&self, offset: usize) -> Option<&Allocation> {
        self.live.get(self.by_offset.get(&offset)?)
    }

    /// Returns the live allocations, in order of their numbers.
    pub fn allocations(&self) -> impl Iterator<Item = &Allocation> {
        self.live.values()
    }

    /// Returns the use of a segment's heap.
    pub fn usage(&self, segment: u32) -> Option<Usage> {
        self.heaps.get(&segment).map(Allocator::usage)
    }

    fn owned_by_address(&self, operation: &'static str, offset: usize) -> Result<u64, HeapError> {
        match self.starting_at(offset) {
            Some(&Allocation { id, owner: Owner::Address, .. }) => Ok(id),
            Some(&Allocation { id, owner: Owner::Name, .. }) => Err(HeapError::named(operation, id)),
            Some(&Allocation { id, .. }) => Err(HeapError::Block(format!(
                "`{operation}` of offset {offset:#x}: allocation #{id} belongs to a `SymBox`; drop the box, or give it to its own `free`"
            ))),
            None => Err(self.not_a_block(operation, offset)),
        }
    }

    /// Returns the error that says why no block starts at `offset`.
    fn not_a_block(&self, operation: &'static str, offset: usize) -> HeapError {
        let refused = |why: String| HeapError::Block(format!("`{operation}` of offset {offset:#x}{why}"));
        let Some(heap) = self.heaps.values().find(|one| one.heap.contains(&offset)) else {
            let show =
                |one: &Allocator| format!("{:#x}..{:#x} (`{}`)", one.heap.start, one.heap.end, one.name);
            let heaps = self.heaps.values().map(show).collect::<Vec<_>>().join(", ");
            return refused(format!(": that is on no symmetric heap; heaps are {heaps}"));
        };
        let name = heap.name;
        let before = self.by_offset.range(..offset).next_back().and_then(|(_, id)| self.live.get(id));
        match before.map(|block| (offset - block.offset, block)) {
            Some((inside, block)) if room_of(block.bytes).is_some_and(|room| inside < room) => {
                refused(format!(
                    " in partition `{name}`: that is {} inside a block of {} at offset {:#x}; give the address that the allocation returned",
                    show_size(inside as u64),
                    show_size(block.bytes as u64),
                    block.offset
                ))
            }
            _ => refused(format!(
                " in partition `{name}`: that memory is free; it was freed before or never allocated"
            )),
        }
    }

    fn drain(&mut self) {
        for id in self.released.take() {
            if let Some(handles) = self.handles.get_mut(&id) {
                *handles -= 1;
                if *handles > 0 {
                    continue;
                }
                self.handles.remove(&id);
            }
            // An allocation that was removed with its heap, or has a name, is not set in `live`.
            if let Some(group) = self.groups.get_mut(&(id / 64)) {
                group.pending |= group.live & (1 << (id % 64));
            }
        }
    }

    fn forget(&mut self, id: u64) {
        let Some(allocation) = self.live.remove(&id) else { return };
        self.by_offset.remove(&allocation.offset);
        let number = id / 64;
        if let Some(group) = self.groups.get_mut(&number) {
            let others = !(1 << (id % 64));
            group.live &= others;
            group.pending &= others;
            if group.live == 0 {
                self.groups.remove(&number);
            }
        }
    }
}

#[cfg(test)]
mod tests;

/// The queue of numbers of allocations whose handles threads of this PE have dropped. The [`Ledger`](super::Ledger) empties it.
#[derive(Debug, Default)]
pub struct Released(Mutex<Vec<u64>>);

impl Released {
    /// Appends the number of an allocation.
    pub fn push(&self, id: u64) {
        self.0.lock().push(id);
    }

    /// Removes and returns all queued numbers.
    pub fn take(&self) -> Vec<u64> {
        if mutant("released-two-steps") {
            let copy = self.0.lock().clone();
            self.0.lock().clear();
            return copy;
        }
        core::mem::take(&mut *self.0.lock())
    }
}
