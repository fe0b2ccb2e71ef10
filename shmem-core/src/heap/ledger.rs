//! The allocations of a job, as one PE keeps them.
//!
//! Allocations are numbered in lockstep: the job's n-th allocation is number n on every PE, at one offset. Dropping a handle only
//! queues its number ([`Released`]). In a later collective, each PE turns its queue into a bitmap over the live allocations, which
//! are equal on all PEs. The bitmaps are joined by AND, and every PE frees the result's allocations in order of their numbers. So
//! PEs may drop handles in different orders, and all allocators still see equal calls.
//!
//! The bitmap has a word for each group of 64 consecutive numbers with a live handle. It grows with the number of live handles,
//! not with the job's age. PEs can agree on a part of it.

use core::fmt;
use core::panic::Location;
use std::collections::BTreeMap;
use std::sync::Arc;

use shmem_grammar::show_size;

use super::allocator::room_of;
use super::{Allocator, HeapError, Usage};
use crate::loom_atomics::Mutex;
use crate::planted_fault::mutant;

/// The owner of an allocation, which frees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A typed handle: dropped at any time, or freed collectively, by number.
    Handle,
    /// The program: freed collectively, by address.
    Address,
    /// A name in the heap's directory, until the name is removed.
    Name,
}

/// An allocation: equal on every PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Its number, from 1; never reused.
    pub id: u64,
    /// Index of the segment.
    pub segment: u32,
    /// Bytes from the start of a PE's slot.
    pub offset: usize,
    /// Requested bytes.
    pub bytes: usize,
    /// Requested alignment.
    pub align: usize,
    /// Its owner.
    pub owner: Owner,
    /// The object of the program, if it is known.
    pub made: Option<Made>,
}

/// The object of a program to which an allocation belongs, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// Sort of object, or its variable's name.
    pub what: &'static str,
    /// The call.
    pub place: &'static Location<'static>,
    /// Number of the first allocation of the same object.
    pub first: u64,
    /// Whether it is an array in chunks: the allocation may then have bytes outside the object.
    pub is_array: bool,
}

/// `array #3 (src/main.rs:12)`.
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

/// Allocations that were reclaimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reclaimed {
    /// The freed allocations, in order of their numbers.
    pub freed: Vec<Allocation>,
    /// First number of the bitmap's next part; 0 if this part is the last.
    pub next: u64,
}

/// 64 consecutive numbers.
#[derive(Clone, Copy, Debug, Default)]
struct IdGroup {
    /// Allocations that a handle owns.
    live: u64,
    /// Allocations dropped by this PE.
    pending: u64,
}

/// The allocations of a job, as one PE keeps them.
#[derive(Debug, Default)]
pub struct Ledger {
    heaps: BTreeMap<u32, Allocator>,
    live: BTreeMap<u64, Allocation>,
    by_offset: BTreeMap<usize, u64>,
    groups: BTreeMap<u64, IdGroup>,
    /// Number of handles of this PE to each object that has, or had, a name.
    handles: BTreeMap<u64, usize>,
    /// The number of the last allocation; 0: none.
    last: u64,
    released: Arc<Released>,
}

impl Ledger {
    /// A ledger without heaps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the heap of a segment. Panics if the segment has a heap already.
    pub fn add_heap(&mut self, segment: u32, heap: Allocator) {
        let before = self.heaps.insert(segment, heap);
        assert!(before.is_none(), "segment {segment} has a heap already");
    }

    /// Removes the heap of a segment and all allocations on it. Handles that outlive the heap free nothing.
    pub fn remove_heap(&mut self, segment: u32) -> Option<Allocator> {
        let heap = self.heaps.remove(&segment)?;
        let gone: Vec<u64> = self.live.values().filter(|a| a.segment == segment).map(|a| a.id).collect();
        for id in gone {
            self.forget(id);
        }
        Some(heap)
    }

    /// The queue for dropped handles.
    pub fn released(&self) -> &Arc<Released> {
        &self.released
    }

    /// Reserves memory on the heap of `segment`, under the next number. An allocation of no bytes gets
    /// the smallest block, so that empty objects need no special case.
    /// Fails if the alignment is no power of two or more than [`MAX_ALIGN`](super::MAX_ALIGN), or there is no room; the
    /// number is not used up. Panics if the segment has no heap.
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

    /// Reserves a named object of an earlier job, at its old offset, under the next number.
    /// Fails if the offset is not aligned or the range not free; the number is not used up.
    /// Panics if the segment has no heap.
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

    /// Records the object of some allocations.
    pub fn describe(&mut self, ids: &[u64], made: Made) {
        for id in ids {
            if let Some(allocation) = self.live.get_mut(id) {
                allocation.made = Some(made);
            }
        }
    }

    /// Counts a handle of this PE to an object with a name.
    pub fn open(&mut self, id: u64) {
        *self.handles.entry(id).or_default() += 1;
    }

    /// Removes an allocation's name; every PE calls this. From then on handles own the allocation: it is reclaimed when
    /// every PE has dropped all its handles. Panics if there is no such named allocation.
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

    /// Frees an allocation by its number, at once, on every PE.
    /// Fails if there is none, or it has a name: then only the handle is released.
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

    /// Frees an allocation by its offset; every PE calls this. Fails if none starts there, or a handle owns it.
    pub fn free_at(&mut self, offset: usize) -> Result<Allocation, HeapError> {
        let id = self.owned_by_address("free", offset)?;
        self.free(id)
    }

    /// Resizes an allocation by its offset, inside its partition. Its number stays. If the
    /// offset changes, every PE copies its bytes.
    /// Fails if no allocation starts there, a handle owns it, `bytes` is 0, or there is no room;
    /// nothing changes.
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

    /// Number of words of the bitmap, equal on every PE.
    pub fn words(&self) -> usize {
        self.groups.len()
    }

    /// The bitmap of handles that this PE has dropped: up to `words` words, from `first_id` on. Equal calls on all PEs.
    pub fn pending_bitmap(&mut self, first_id: u64, words: usize) -> Vec<u64> {
        self.drain();
        self.groups.range(first_id / 64..).take(words).map(|(_, group)| group.pending).collect()
    }

    /// Frees the allocations that all PEs have dropped: `agreed` is the AND of all bitmaps from `first_id` on.
    /// Fails if `agreed` has an allocation that this PE has not dropped, and frees nothing.
    /// Panics if `agreed` is longer than this PE's bitmap.
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

    /// An allocation by its number.
    pub fn get(&self, id: u64) -> Option<&Allocation> {
        self.live.get(&id)
    }

    /// The allocation with the byte at `offset`.
    pub fn find(&self, offset: usize) -> Option<&Allocation> {
        let (_, id) = self.by_offset.range(..=offset).next_back()?;
        self.live.get(id).filter(|a| offset - a.offset < a.bytes)
    }

    /// The allocation that starts at `offset`, even if empty.
    pub fn starting_at(&self, offset: usize) -> Option<&Allocation> {
        self.live.get(self.by_offset.get(&offset)?)
    }

    /// The allocations, in order of their numbers.
    pub fn allocations(&self) -> impl Iterator<Item = &Allocation> {
        self.live.values()
    }

    /// The use of a segment's heap.
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
            // Skip allocations removed with their heap, and named ones.
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

/// Numbers of allocations that this PE no longer uses: pushed by `Drop` of a handle, in any thread; taken by the
/// [`Ledger`](super::Ledger).
#[derive(Debug, Default)]
pub struct Released(Mutex<Vec<u64>>);

impl Released {
    /// Queues an allocation.
    pub fn push(&self, id: u64) {
        self.0.lock().push(id);
    }

    /// Takes out all that is queued.
    pub fn take(&self) -> Vec<u64> {
        if mutant("released-two-steps") {
            let copy = self.0.lock().clone();
            self.0.lock().clear();
            return copy;
        }
        core::mem::take(&mut *self.0.lock())
    }
}
