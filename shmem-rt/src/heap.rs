//! Symmetric heaps: collective allocation, one heap per partition.
//!
//! All PEs make the same calls in the same order. They [compare](crate::collective::Agreed) the arguments of each call. The
//! allocator is deterministic, so all PEs find the same offset, or the same error, without an exchange. Dropping a [`SymBox`] is
//! local. Its memory is reused after the next collective allocation that finds the box dropped on all PEs.

use std::panic::Location;

use shmem_core::context::Initiator;
use shmem_core::heap::{Allocation, MIN_ALIGN, Owner, Usage};
use shmem_core::object::{SymAddr, SymBox};
use shmem_core::partition::{Declaration, Partition, PartitionError, Table, default, show_size};
use shmem_core::shared;
use shmem_core::symmetric_data::{Contents, MemoryHints};
use shmem_core::text::Text;
use shmem_launch::diagnostics::say;

use crate::caller::at;
use crate::error::Result;
use crate::group::CallSignature;
use crate::initial_contents::Initial;
use crate::thread::ThreadLevel;
use crate::world::World;

/// The heap of one partition. From [`World::heap`] and [`World::partition`].
pub struct Heap<'w, L: ThreadLevel> {
    pub(crate) world: &'w World<L>,
    pub(crate) segment: u32,
    id: u32,
    name: Text<32>,
    pub(crate) page_bytes: u64,
}

impl<L: ThreadLevel> World<L> {
    /// The heap of the partition type `P`. The default heap has the type `shmem::partition::default`.
    ///
    /// # Errors
    ///
    /// If the job has no such partition.
    #[track_caller]
    pub fn heap<P: Partition>(&self) -> Result<Heap<'_, L>> {
        self.heap_at(|table| table.position_of_name(P::DECLARATION.name.as_str()))
    }

    #[track_caller]
    fn heap_at(&self, at: impl FnOnce(&Table) -> Result<usize, PartitionError>) -> Result<Heap<'_, L>> {
        let partitions = self.job().memory.partitions.read();
        let index = at(partitions.table())?;
        let spec = &partitions.table().specs()[index];
        let (segment, page_bytes) =
            (partitions.segments()[index], partitions.granted(index, self.my_pe()).pgsize);
        Ok(Heap { world: self, segment, id: spec.id, name: spec.name, page_bytes })
    }

    /// The heap of the partition with this ID. Needed for partitions that come from the environment or are made at run time.
    ///
    /// # Errors
    ///
    /// If the job has no such partition. The error text lists the existing partitions.
    ///
    /// Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), `shmem_partition_malloc`.
    #[track_caller]
    pub fn partition(&self, id: u32) -> Result<Heap<'_, L>> {
        self.heap_at(|table| table.position_of(id))
    }

    /// Allocates an object on the default heap. Collective.
    ///
    /// # Errors
    ///
    /// If the heap has too little free memory. The error is the same on every PE.
    #[track_caller]
    pub fn alloc<I: Initial>(&self, initial: I) -> Result<SymBox<I::Contents>> {
        self.heap::<default>()?.alloc(initial)
    }

    /// Allocates an object on the heap of a partition. Collective.
    ///
    /// # Errors
    ///
    /// If the heap has too little free memory. The error is the same on every PE.
    #[track_caller]
    pub fn alloc_in<P: Partition, I: Initial>(&self, initial: I) -> Result<SymBox<I::Contents>> {
        self.heap::<P>()?.alloc(initial)
    }

    /// Allocates bytes on the default heap, aligned to a cache line. Collective.
    ///
    /// # Errors
    ///
    /// If the heap has too little free memory.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_malloc`.
    #[track_caller]
    pub fn malloc(&self, bytes: usize) -> Result<SymAddr> {
        self.heap::<default>()?.malloc(bytes)
    }

    /// Resizes a block in its partition. Contents are kept up to the smaller size. Collective.
    ///
    /// # Errors
    ///
    /// If the address is not that of a block from `malloc`, `align`, `calloc` or `realloc`, or free memory is short. The block is
    /// unchanged.
    ///
    /// # Panics
    ///
    /// If the address is not symmetric.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_realloc`.
    #[track_caller]
    pub fn realloc(&self, address: SymAddr, bytes: usize) -> Result<SymAddr> {
        let offset = self.offset_of("realloc", address);
        let arguments = [offset as u64, bytes as u64];
        let subject = || format!("{} for the block at offset {offset:#x}", show_size(bytes as u64));
        let signature = CallSignature::of_memory("realloc", &arguments, &subject);
        let agreed = self.team().agree_on(self.endpoint(), &signature);
        let before = self.job().memory.ledger.lock().find(offset).map_or(0, |found| found.bytes);
        let allocation = self.job().memory.ledger.lock().reallocate_at(offset, bytes)?;
        let to = self.endpoint().mine(allocation.offset);
        if allocation.offset != offset {
            let from = self.endpoint().mine(offset);
            // SAFETY: both blocks are in this PE's heap and large enough. `copy` allows that another PE writes meanwhile.
            unsafe { shared::copy(to, from, before.min(bytes)) };
        }
        agreed.again();
        Ok(SymAddr::assume(to))
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

    /// Used, free and peak bytes of this PE's heap. They are the same on every PE.
    pub fn usage(&self) -> Usage {
        let usage = self.world.job().memory.ledger.lock().usage(self.segment);
        usage.unwrap_or_else(|| unreachable!("every partition has a heap"))
    }

    /// Allocates an object. Collective.
    ///
    /// # Errors
    ///
    /// If the heap has too little free memory. The error is the same on every PE.
    #[track_caller]
    pub fn alloc<I: Initial>(&self, initial: I) -> Result<SymBox<I::Contents>> {
        self.alloc_as("object", initial)
    }

    /// As [`alloc`](Self::alloc), but diagnostics call the object `what`.
    #[track_caller]
    pub(crate) fn alloc_as<I: Initial>(&self, what: &'static str, initial: I) -> Result<SymBox<I::Contents>> {
        let len = initial.items();
        let item = size_of::<<I::Contents as Contents>::Item>();
        let align = align_of::<<I::Contents as Contents>::Item>().max(MIN_ALIGN);
        let bytes = len.saturating_mul(item);
        let wish = Wish { what, item, align, owner: Owner::Handle, ..Wish::new("alloc", bytes) };
        let made = self.allocate(wish, |to| {
            // SAFETY: `to` is a new block of this PE with `len` aligned items.
            unsafe { initial.write(to.cast()) };
        })?;
        let released = std::sync::Arc::clone(&self.world.job().memory.released);
        // SAFETY: this PE's ledger has just reserved `bytes` bytes for `len` items with this alignment, under the id `made.id`. The
        // ledgers of all other PEs have done the same, because a ledger depends only on the agreed calls so far, and all PEs have
        // made the same ones, with the same arguments (guarantee 1 of `Agreed`). If another PE's items have another type of equal
        // size, any bytes are a valid value of both types. All PEs have initialised their items, because `allocate` has returned
        // from `again`. Only the drop of this box queues the id for release.
        Ok(unsafe { SymBox::__new(made.id, made.segment, made.offset, len, released) })
    }

    /// Allocates bytes, aligned to a cache line. Collective.
    ///
    /// # Errors
    ///
    /// If the heap has too little free memory.
    ///
    /// Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), `shmem_partition_malloc`.
    #[track_caller]
    pub fn malloc(&self, bytes: usize) -> Result<SymAddr> {
        self.block(Wish::new("malloc", bytes), |_| ())
    }

    /// Allocates aligned bytes. Collective.
    ///
    /// # Errors
    ///
    /// If the alignment is not a power of two or more than 2 MiB, or the heap has too little free memory.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_align`; "Symmetric Memory Partitions in OpenSHMEM" (2017), `shmem_partition_align`.
    #[track_caller]
    pub fn align(&self, alignment: usize, bytes: usize) -> Result<SymAddr> {
        self.block(Wish { align: alignment, ..Wish::new("align", bytes) }, |_| ())
    }

    /// Allocates `count * bytes` zeroed bytes, aligned to a cache line. Collective.
    ///
    /// # Errors
    ///
    /// If the heap has too little free memory.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_calloc`.
    #[track_caller]
    pub fn calloc(&self, count: usize, bytes: usize) -> Result<SymAddr> {
        let bytes = count.saturating_mul(bytes);
        self.block(Wish::new("calloc", bytes), |to| {
            // SAFETY: `to` is a new block of this PE with `bytes` bytes.
            unsafe { shared::zero(to, bytes) };
        })
    }

    /// As [`malloc`](Self::malloc), with hints about the use. The hints have no effect, because memory of every
    /// partition is placed and registered for all uses.
    ///
    /// # Errors
    ///
    /// If the heap has too little free memory.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_malloc_with_hints`.
    #[track_caller]
    pub fn malloc_with_hints(&self, bytes: usize, hints: MemoryHints) -> Result<SymAddr> {
        self.block(Wish { hints, ..Wish::new("malloc_with_hints", bytes) }, |_| ())
    }

    #[track_caller]
    fn block(&self, wish: Wish, initialise: impl FnOnce(*mut u8)) -> Result<SymAddr> {
        let made = self.allocate(wish, initialise)?;
        Ok(SymAddr::assume(self.world.endpoint().mine(made.offset)))
    }

    #[track_caller]
    fn allocate(&self, wish: Wish, initialise: impl FnOnce(*mut u8)) -> Result<Allocation> {
        let Self { world, segment, .. } = *self;
        let Wish { operation, what, bytes, item, align, owner, hints } = wish;
        let arguments = [u64::from(segment), bytes as u64, item as u64, align as u64, hints.bits()];
        let subject = || {
            let mut told =
                if hints == MemoryHints::NONE { String::new() } else { format!(", hints {hints}") };
            if item > 1 && item != bytes {
                told += &format!(", {item} for each item");
            }
            format!("{} in partition `{}`{told}", show_size(bytes as u64), self.name())
        };
        let signature = CallSignature::of_memory(operation, &arguments, &subject);
        let agreed = world.team().agree_on(world.endpoint(), &signature);
        world.reclaim_for(&agreed);
        let made = world.job().memory.ledger.lock().allocate(segment, bytes, align, owner)?;
        world.job().describe(&[made.id], what, false, Location::caller());
        initialise(world.endpoint().mine(made.offset));
        agreed.again();
        Ok(made)
    }
}

/// Allocates the object of a `#[symmetric] let`. The partition is a value, not a type, so that rustc reports a wrong one once.
///
/// # Errors
///
/// As [`World::alloc_in`].
#[track_caller]
pub fn alloc_in<L: ThreadLevel, I: Initial>(
    world: &World<L>,
    name: &'static str,
    partition: &Declaration,
    initial: I,
    pgsize: u64,
) -> Result<SymBox<I::Contents>> {
    let heap = world.heap_at(|table| table.position_of_name(partition.name.as_str()))?;
    let location = Location::caller();
    if pgsize > heap.page_bytes && world.job().first_time_at(location, "") {
        say(&format!(
            "shmem: warning: PE {}: {} asks for pages of {asked}, but partition `{}` has pages of {}; \
             ask for them with SHMEM_SYMMETRIC_PARTITION{}=SIZE=..:PGSIZE={asked}",
            world.me(),
            at(location),
            heap.name(),
            show_size(heap.page_bytes),
            heap.id(),
            asked = show_size(pgsize),
        ));
    }
    heap.alloc_as(name, initial)
}

struct Wish {
    operation: &'static str,
    /// Name of the object in diagnostics: `object`, `block`, or the name of the variable.
    what: &'static str,
    bytes: usize,
    /// Bytes of each item. All PEs compare this size, because atomics of different widths at one address have no defined result.
    item: usize,
    align: usize,
    owner: Owner,
    hints: MemoryHints,
}

impl Wish {
    /// Returns the request for bytes on a cache line, which the program frees by their address.
    fn new(operation: &'static str, bytes: usize) -> Self {
        let (what, owner, hints) = ("block", Owner::Address, MemoryHints::NONE);
        Self { operation, what, bytes, item: 1, align: MIN_ALIGN, owner, hints }
    }
}
