//! Symmetric heaps: collective allocation, one heap per partition.
//!
//! Every call here is collective: all PEs make it in the same order with the same arguments, which
//! the barrier inside checks. The allocator is deterministic, so all PEs come to the same offset, or
//! to the same error, without exchanging anything. Dropping a [`SymBox`] is the exception: it is
//! local, and the memory is used again after the next collective here that finds it dropped by all.

use std::ops::Range;
use std::panic::Location;

use shmem_core::context::Initiator;
use shmem_core::data::{Contents, MemoryHints, SymmetricData};
use shmem_core::heap::{Grown, MIN_ALIGN, Owner, Usage};
use shmem_core::object::{SymAddr, SymBox};
use shmem_core::observe::Family;
use shmem_core::partition::{Declaration, Partition, default, show_size};
use shmem_core::text::Text;

use crate::collective::{Operation, Purpose};
use crate::error::Result;
use crate::initial::Initial;
use crate::partitions::Partitions;
use crate::thread::ThreadLevel;
use crate::world::World;

/// The heap of one partition. From [`World::heap`] and [`World::partition`].
pub struct Heap<'w, L: ThreadLevel> {
    pub(crate) world: &'w World<L>,
    pub(crate) segment: u32,
    id: u32,
    name: Text<32>,
    /// Bytes of the pages that the calling PE was given.
    page_bytes: u64,
}

impl<L: ThreadLevel> World<L> {
    /// The heap of a partition that the program names.
    ///
    /// # Errors
    ///
    /// If the job has no such partition.
    pub fn heap<P: Partition>(&self) -> Result<Heap<'_, L>> {
        self.heap_of(&P::DECLARATION)
    }

    pub(crate) fn heap_of(&self, partition: &Declaration) -> Result<Heap<'_, L>> {
        let partitions = self.job().partitions();
        let index = partitions.table().position_of_name(partition.name.as_str())?;
        Ok(self.heap_at(&partitions, index))
    }

    /// The heap of the partition at a place in the table.
    fn heap_at(&self, partitions: &Partitions, index: usize) -> Heap<'_, L> {
        let spec = &partitions.table().specs()[index];
        let page_bytes = partitions.grants()[self.my_pe()][index].pgsize;
        Heap { world: self, segment: partitions.segments()[index], id: spec.id, name: spec.name, page_bytes }
    }

    /// The heap of the partition with an ID: for those that exist in the environment only, or were made
    /// at run time.
    ///
    /// # Errors
    ///
    /// If the job has no such partition; lists those it has.
    ///
    /// Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), `shmem_partition_malloc`.
    pub fn partition(&self, id: u32) -> Result<Heap<'_, L>> {
        let partitions = self.job().partitions();
        let index = partitions.table().position_of(id)?;
        Ok(self.heap_at(&partitions, index))
    }

    /// Allocates an object on the default heap. Collective.
    ///
    /// # Errors
    ///
    /// If the heap has no room: the same error on every PE.
    #[track_caller]
    pub fn alloc<I: Initial>(&self, initial: I) -> Result<SymBox<I::Contents>> {
        self.heap::<default>()?.alloc(initial)
    }

    /// Allocates an object on the heap of a partition. Collective.
    ///
    /// # Errors
    ///
    /// If the heap has no room: the same error on every PE.
    #[track_caller]
    pub fn alloc_in<P: Partition, I: Initial>(&self, initial: I) -> Result<SymBox<I::Contents>> {
        self.heap::<P>()?.alloc(initial)
    }

    /// Allocates bytes on the default heap, on a cache line. Collective.
    ///
    /// # Errors
    ///
    /// If the heap has no room.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_malloc`.
    #[track_caller]
    pub fn malloc(&self, bytes: usize) -> Result<SymAddr> {
        self.heap::<default>()?.malloc(bytes)
    }

    /// Allocates aligned bytes on the default heap. Collective.
    ///
    /// # Errors
    ///
    /// If the alignment is not a power of two or more than 2 MiB, or the heap has no room.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_align`.
    #[track_caller]
    pub fn align(&self, alignment: usize, bytes: usize) -> Result<SymAddr> {
        self.heap::<default>()?.align(alignment, bytes)
    }

    /// Allocates zeroed bytes on the default heap. Collective.
    ///
    /// # Errors
    ///
    /// If the heap has no room.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_calloc`.
    #[track_caller]
    pub fn calloc(&self, count: usize, bytes: usize) -> Result<SymAddr> {
        self.heap::<default>()?.calloc(count, bytes)
    }

    /// Allocates bytes on the default heap, and says how they will be used. Collective; see
    /// [`Heap::malloc_with_hints`].
    ///
    /// # Errors
    ///
    /// If the heap has no room.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_malloc_with_hints`.
    #[track_caller]
    pub fn malloc_with_hints(&self, bytes: usize, hints: MemoryHints) -> Result<SymAddr> {
        self.heap::<default>()?.malloc_with_hints(bytes, hints)
    }

    /// How the block that holds an address will be used, as far as its allocation said so; `None`: it
    /// lies in no block of a heap.
    ///
    /// # Panics
    ///
    /// If the address is no symmetric one at all.
    #[track_caller]
    pub fn hints(&self, address: SymAddr) -> Option<MemoryHints> {
        let offset = self.offset_of("hints", address);
        self.job().ledger().find(offset).map(|allocation| allocation.hints)
    }

    /// Resizes a block in its partition, whichever that is; contents are kept up to the smaller
    /// size, hints as well. Collective.
    ///
    /// # Errors
    ///
    /// If the address is not that of a block from `malloc`, `align` or `calloc`, or there is no room:
    /// then the block is untouched.
    ///
    /// # Panics
    ///
    /// If the address is no symmetric one at all.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_realloc`.
    #[track_caller]
    pub fn realloc(&self, address: SymAddr, bytes: usize) -> Result<SymAddr> {
        let location = Location::caller();
        let offset = self.offset_of("realloc", address);
        let arguments = [offset as u64, bytes as u64];
        let subject = || format!("{} for the block at offset {offset:#x}", show_size(bytes as u64));
        let purpose = Purpose {
            operation: Operation::named(Family::Memory, "realloc"),
            opens: false,
            arguments: &arguments,
            subject: &subject,
            location: Some(location),
        };
        self.job().quiet_all();
        let collective = self.team().enter(self.endpoint());
        collective.meet(&purpose);
        let before = self.job().ledger().find(offset).map_or(0, |a| a.bytes);
        let (allocation, grown) = self.job().ledger().reallocate_at(offset, bytes)?;
        let to = self.endpoint().mine(allocation.offset);
        self.renew_pages(allocation.segment, allocation.offset..allocation.offset + bytes);
        if grown != Grown::InPlace {
            let from = self.endpoint().mine(offset);
            // SAFETY: both blocks lie in this PE's heap and hold that many bytes; nobody else uses
            // either: all PEs are between the two meetings of this call.
            unsafe { core::ptr::copy(from, to, before.min(bytes)) };
        }
        collective.meet(&purpose);
        Ok(SymAddr::assume(to))
    }

    /// Sees to it that pages of a new block of a heap lie where the heap's partition wants them.
    fn renew_pages(&self, segment: u32, block: Range<usize>) {
        self.job().renew_pages(&block, || {
            let partitions = self.job().partitions();
            let at = partitions.segments().iter().position(|index| *index == segment);
            at.is_some_and(|at| partitions.grants()[self.my_pe()][at].populated)
        });
    }

    /// Where an address lies in the calling PE's place.
    ///
    /// An address outside it is another one on each PE: as the argument of a collective it would
    /// look like a disagreement between them.
    #[track_caller]
    pub(crate) fn offset_of(&self, operation: &'static str, address: SymAddr) -> usize {
        let (segments, address) = (self.endpoint().segments(), address.as_ptr() as usize);
        let offset = address.wrapping_sub(self.endpoint().mine(0) as usize);
        assert!(segments.find(offset, 1).is_some(), "{}", segments.miss(operation, address, offset, 1));
        offset
    }
}

impl<L: ThreadLevel> Heap<'_, L> {
    /// The partition's ID.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The partition's name.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Bytes of the pages that the calling PE was given for it.
    pub(crate) fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    pub(crate) fn world(&self) -> &World<L> {
        self.world
    }

    /// Index of its segment.
    pub(crate) fn segment(&self) -> u32 {
        self.segment
    }

    /// Bytes used, free and used at most, on this PE's heap; the same on every PE.
    pub fn usage(&self) -> Usage {
        let usage = self.world.job().ledger().usage(self.segment);
        usage.unwrap_or_else(|| unreachable!("every partition has a heap"))
    }

    /// Allocates an object. Collective.
    ///
    /// # Errors
    ///
    /// If the heap has no room: the same error on every PE.
    #[track_caller]
    pub fn alloc<I: Initial>(&self, initial: I) -> Result<SymBox<I::Contents>> {
        let location = Location::caller();
        let len = initial.items();
        let item = size_of::<<I::Contents as Contents>::Item>();
        let align = align_of::<<I::Contents as Contents>::Item>().max(MIN_ALIGN);
        let bytes = len.saturating_mul(item);
        let hints = <<I::Contents as Contents>::Item as SymmetricData>::HINTS;
        let wish = Wish { operation: "alloc", bytes, align, owner: Owner::Handle, hints };
        let made = self.allocate(wish, location, |to| {
            // SAFETY: `to` is a fresh block of `len` aligned items of this PE.
            unsafe { initial.write(to.cast()) };
        })?;
        let released = std::sync::Arc::clone(&self.world.job().released);
        // SAFETY: the ledger has just reserved `len` items under this number on every PE, and
        // `allocate` has initialised them on all; the number is queued by the box alone.
        Ok(unsafe { SymBox::__new(made.id, made.segment, made.offset, len, released) })
    }

    /// Allocates bytes, on a cache line. Collective.
    ///
    /// # Errors
    ///
    /// If the heap has no room.
    ///
    /// Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), `shmem_partition_malloc`.
    #[track_caller]
    pub fn malloc(&self, bytes: usize) -> Result<SymAddr> {
        let location = Location::caller();
        self.block(Wish::new("malloc", bytes), location, |_| ())
    }

    /// Allocates aligned bytes. Collective.
    ///
    /// # Errors
    ///
    /// If the alignment is not a power of two or more than 2 MiB, or the heap has no room.
    ///
    /// Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), `shmem_partition_align`.
    #[track_caller]
    pub fn align(&self, alignment: usize, bytes: usize) -> Result<SymAddr> {
        let location = Location::caller();
        self.block(Wish { align: alignment, ..Wish::new("align", bytes) }, location, |_| ())
    }

    /// Allocates zeroed bytes, on a cache line. Collective.
    ///
    /// # Errors
    ///
    /// If the heap has no room.
    #[track_caller]
    pub fn calloc(&self, count: usize, bytes: usize) -> Result<SymAddr> {
        let location = Location::caller();
        let bytes = count.saturating_mul(bytes);
        self.block(Wish::new("calloc", bytes), location, |to| {
            // SAFETY: a fresh block of `bytes` bytes of this PE.
            unsafe { to.write_bytes(0, bytes) };
        })
    }

    /// Allocates bytes on a cache line, and says how they will be used. Collective. The hints change
    /// nothing that a program can see: a transport may place and register the block by them, and shared
    /// memory needs none. [`alloc`](Self::alloc) takes them from the type of the object.
    ///
    /// # Errors
    ///
    /// If the heap has no room.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_malloc_with_hints`.
    #[track_caller]
    pub fn malloc_with_hints(&self, bytes: usize, hints: MemoryHints) -> Result<SymAddr> {
        let location = Location::caller();
        self.block(Wish { hints, ..Wish::new("malloc_with_hints", bytes) }, location, |_| ())
    }

    /// A block that the program gives back by its address.
    fn block(
        &self,
        wish: Wish,
        location: &'static Location<'static>,
        initialise: impl FnOnce(*mut u8),
    ) -> Result<SymAddr> {
        let made = self.allocate(wish, location, initialise)?;
        Ok(SymAddr::assume(self.world.endpoint().mine(made.offset)))
    }

    fn allocate(
        &self,
        wish: Wish,
        location: &'static Location<'static>,
        initialise: impl FnOnce(*mut u8),
    ) -> Result<shmem_core::heap::Allocation> {
        let Self { world, segment, .. } = *self;
        let Wish { operation, bytes, align, owner, hints } = wish;
        let arguments = [u64::from(segment), bytes as u64, align as u64, hints.bits()];
        let subject = || {
            let told = if hints == MemoryHints::NONE { String::new() } else { format!(", hints {hints}") };
            format!("{} in partition `{}`{told}", show_size(bytes as u64), self.name())
        };
        let purpose = Purpose {
            operation: Operation::named(Family::Memory, operation),
            opens: false,
            arguments: &arguments,
            subject: &subject,
            location: Some(location),
        };
        let collective = world.team().enter(world.endpoint());
        world.reclaim_for(&collective, &purpose);
        let made = world.job().ledger().allocate(segment, bytes, align, owner)?;
        world.job().ledger().hint(made.id, hints);
        world.renew_pages(segment, made.offset..made.offset + bytes);
        initialise(world.endpoint().mine(made.offset));
        collective.meet(&purpose);
        Ok(made)
    }
}

/// What is asked of a heap.
struct Wish {
    operation: &'static str,
    bytes: usize,
    align: usize,
    owner: Owner,
    hints: MemoryHints,
}

impl Wish {
    /// Bytes on a cache line, given back by their address.
    fn new(operation: &'static str, bytes: usize) -> Self {
        Self { operation, bytes, align: MIN_ALIGN, owner: Owner::Address, hints: MemoryHints::NONE }
    }
}
