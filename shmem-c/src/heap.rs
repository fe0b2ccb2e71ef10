//! Symmetric heaps: `shmem_malloc` and its relatives, their old names, and those of partitions.
//!
//! Nothing is allocated for no bytes, and nobody is met: the result is `NULL`. Where there is no room, the result is `NULL` on
//! all PEs, which find that out alike. What pends when memory is given back is completed before.

use std::ffi::{c_int, c_long, c_void};

use shmem::{MemoryHints, SymAddr};
use shmem_core::context::untyped;

use crate::refusal::refuse;
use crate::symmetric;
use crate::table::routines;
use crate::world::{self, CWorld};

routines! {
    once {
        plain "malloc" "" (size: usize) -> *mut c_void [] = malloc;
        plain "calloc" "" (count: usize, size: usize) -> *mut c_void [] = calloc;
        plain "align" "" (alignment: usize, size: usize) -> *mut c_void [] = align;
        plain "realloc" "" (ptr: *mut c_void, size: usize) -> *mut c_void [] = realloc;
        plain "free" "" (ptr: *mut c_void) [] = free;
        plain "malloc_with_hints" "" (size: usize, hints: c_long) -> *mut c_void [] = malloc_with_hints;
        named "shmalloc" "" (size: usize) -> *mut c_void [] = malloc;
        named "shmemalign" "" (alignment: usize, size: usize) -> *mut c_void [] = align;
        named "shrealloc" "" (ptr: *mut c_void, size: usize) -> *mut c_void [] = realloc;
        named "shfree" "" (ptr: *mut c_void) [] = free;
        extra "partition_malloc" "" (size: usize, partition: c_int) -> *mut c_void [] = partition_malloc;
        extra "partition_calloc" "" (count: usize, size: usize, partition: c_int) -> *mut c_void [] = partition_calloc;
        extra "partition_align" "" (alignment: usize, size: usize, partition: c_int) -> *mut c_void [] = partition_align;
        extra "kind_malloc" "" (size: usize, partition: c_int) -> *mut c_void [] = partition_malloc;
        extra "kind_align" "" (alignment: usize, size: usize, partition: c_int) -> *mut c_void [] = partition_align;
        plain "partition_malloc" "" (size: usize, partition: c_int) -> *mut c_void [] = partition_malloc;
        plain "partition_align" "" (alignment: usize, size: usize, partition: c_int) -> *mut c_void [] = partition_align;
        plain "kind_malloc" "" (size: usize, partition: c_int) -> *mut c_void [] = partition_malloc;
        plain "kind_align" "" (alignment: usize, size: usize, partition: c_int) -> *mut c_void [] = partition_align;
    }
}

/// A block as C has it; of no bytes, or without room, `NULL`.
fn block(
    routine: &str,
    bytes: usize,
    allocate: impl FnOnce(&'static CWorld) -> shmem::Result<SymAddr>,
) -> *mut c_void {
    let world = world::current(routine);
    if bytes == 0 {
        return std::ptr::null_mut();
    }
    allocate(world).map_or(std::ptr::null_mut(), |address| address.as_ptr().cast())
}

fn malloc(routine: &'static str, size: usize) -> *mut c_void {
    block(routine, size, |world| world.malloc(size))
}

fn calloc(routine: &'static str, count: usize, size: usize) -> *mut c_void {
    block(routine, count.saturating_mul(size), |world| world.calloc(count, size))
}

fn align(routine: &'static str, alignment: usize, size: usize) -> *mut c_void {
    block(routine, size, |world| world.align(alignment, size))
}

fn malloc_with_hints(routine: &'static str, size: usize, hints: c_long) -> *mut c_void {
    let mut all = MemoryHints::NONE;
    for hint in [MemoryHints::ATOMICS_REMOTE, MemoryHints::SIGNAL_REMOTE] {
        if hints as u64 & hint.bits() != 0 {
            all = all | hint;
        }
    }
    block(routine, size, |world| world.malloc_with_hints(size, all))
}

fn realloc(routine: &'static str, ptr: *mut c_void, size: usize) -> *mut c_void {
    if ptr.is_null() {
        return malloc(routine, size);
    }
    if size == 0 {
        free(routine, ptr);
        return std::ptr::null_mut();
    }
    let world = world::current(routine);
    let address = symmetric::address(ptr, 1, routine, "ptr");
    untyped::quiet(world::default_stream().endpoint(routine));
    world.realloc(address, size).map_or(std::ptr::null_mut(), |address| address.as_ptr().cast())
}

fn free(routine: &'static str, ptr: *mut c_void) {
    let world = world::current(routine);
    if ptr.is_null() {
        return;
    }
    let address = symmetric::address(ptr, 1, routine, "ptr");
    untyped::quiet(world::default_stream().endpoint(routine));
    if let Err(error) = world.free(address) {
        refuse(routine, "ptr", format_args!("is {ptr:p}: {error}"));
    }
}

/// The heap of a partition; refused if there is none.
fn heap<'w>(routine: &str, world: &'w CWorld, partition: c_int) -> shmem::Heap<'w, shmem::thread::Multiple> {
    let id = u32::try_from(partition).unwrap_or(u32::MAX);
    world
        .partition(id)
        .unwrap_or_else(|error| refuse(routine, "partition", format_args!("is {partition}: {error}")))
}

fn partition_malloc(routine: &'static str, size: usize, partition: c_int) -> *mut c_void {
    block(routine, size, |world| heap(routine, world, partition).malloc(size))
}

fn partition_calloc(routine: &'static str, count: usize, size: usize, partition: c_int) -> *mut c_void {
    block(routine, count.saturating_mul(size), |world| heap(routine, world, partition).calloc(count, size))
}

fn partition_align(routine: &'static str, alignment: usize, size: usize, partition: c_int) -> *mut c_void {
    block(routine, size, |world| heap(routine, world, partition).align(alignment, size))
}
