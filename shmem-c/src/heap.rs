//! Symmetric heaps: `shmem_malloc` and related routines, their old names, and routines for partitions.
//!
//! An allocation of 0 bytes returns `NULL`, without a barrier. If memory is exhausted, the result is `NULL` on all PEs, and each PE
//! warns once, with the setting to change. Pending operations are completed before memory is freed.
//!
//! If PEs ask for different sizes, all get the largest size, because programs from before OpenSHMEM 1.2 expect this. In checked
//! mode, different sizes are an error. Alignments are rounded up to powers of two.

use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::AtomicBool;

use shmem::{Error, ErrorKind, MemoryHints, SymAddr};
use shmem_core::context::untyped;
use shmem_core::heap::{HeapError, MAX_ALIGN};
use shmem_core::partition::{round_size, show_size};
use shmem_launch::env::CheckChoice;

use crate::context;
use crate::errors::{refuse, warn_once};
use crate::symmetric;
use crate::table::routines;
use crate::world::{self, CWorld};

routines! {
    once {
        plain "malloc" "" (size: usize) -> *mut c_void [] = malloc, DEFAULT;
        plain "calloc" "" (count: usize, size: usize) -> *mut c_void [] = calloc, DEFAULT;
        plain "align" "" (alignment: usize, size: usize) -> *mut c_void [] = align, DEFAULT;
        plain "realloc" "" (ptr: *mut c_void, size: usize) -> *mut c_void [] = realloc;
        plain "free" "" (ptr: *mut c_void) [] = free;
        plain "malloc_with_hints" "" (size: usize, hints: c_long) -> *mut c_void [] = malloc_with_hints;
        named "shmalloc" "" (size: usize) -> *mut c_void [] = malloc, DEFAULT;
        named "shmemalign" "" (alignment: usize, size: usize) -> *mut c_void [] = align, DEFAULT;
        named "shrealloc" "" (ptr: *mut c_void, size: usize) -> *mut c_void [] = realloc;
        named "shfree" "" (ptr: *mut c_void) [] = free;
        extra "partition_malloc" "" (size: usize, partition: c_int) -> *mut c_void [] = malloc;
        extra "partition_calloc" "" (count: usize, size: usize, partition: c_int) -> *mut c_void [] = calloc;
        extra "partition_align" "" (alignment: usize, size: usize, partition: c_int) -> *mut c_void [] = align;
        extra "kind_malloc" "" (size: usize, partition: c_int) -> *mut c_void [] = malloc;
        extra "kind_align" "" (alignment: usize, size: usize, partition: c_int) -> *mut c_void [] = align;
        plain "partition_malloc" "" (size: usize, partition: c_int) -> *mut c_void [] = malloc;
        plain "partition_align" "" (alignment: usize, size: usize, partition: c_int) -> *mut c_void [] = align;
        plain "kind_malloc" "" (size: usize, partition: c_int) -> *mut c_void [] = malloc;
        plain "kind_align" "" (alignment: usize, size: usize, partition: c_int) -> *mut c_void [] = align;
    }
}

const DEFAULT: c_int = 1;

/// Allocates a block. Returns `NULL` for 0 bytes, or if memory is exhausted.
fn block(
    routine: &str,
    bytes: usize,
    allocate: impl FnOnce(&'static CWorld, usize) -> shmem::Result<SymAddr>,
) -> *mut c_void {
    let world = world::current(routine);
    if bytes == 0 {
        return std::ptr::null_mut();
    }
    match allocate(world, largest(world, bytes)) {
        Ok(address) => address.as_ptr().cast(),
        Err(error) => failed(routine, &error),
    }
}

/// Warns once per process why an allocation failed. Returns `NULL`.
fn failed(routine: &str, error: &Error) -> *mut c_void {
    static TOLD: AtomicBool = AtomicBool::new(false);
    let why = match error.kind() {
        ErrorKind::Heap(error) => in_words_of_c(error),
        _ => error.to_string(),
    };
    warn_once(&TOLD, routine, &why);
    std::ptr::null_mut()
}

fn in_words_of_c(error: &HeapError) -> String {
    let (exact, round) =
        (|bytes: &usize| show_size(*bytes as u64), |bytes: &usize| round_size(*bytes as u64));
    match error {
        HeapError::Exhausted { partition, bytes, size, free, largest_free, .. } => {
            let heap = match partition {
                1 => "the heap".to_owned(),
                partition => format!("that of partition {partition}"),
            };
            let remedy =
                error.setting().map_or("no heap has as many".to_owned(), |setting| format!("set {setting}"));
            format!(
                "no room for {}: {heap} has {}, of which {} are free, {} of them in one piece; {remedy}",
                exact(bytes),
                round(size),
                round(free),
                round(largest_free)
            )
        }
        HeapError::Alignment { align } => {
            format!("no alignment to {}: the largest is {}", exact(align), exact(&MAX_ALIGN))
        }
        error => error.to_string(),
    }
}

/// Returns the largest size that any PE asks for. In checked mode, which compares sizes, returns this PE's size.
fn largest(world: &CWorld, bytes: usize) -> usize {
    if shmem::c_interface::job::settings(world).check != CheckChoice::Off {
        return bytes;
    }
    world.max(bytes)
}

fn malloc(routine: &'static str, size: usize, partition: c_int) -> *mut c_void {
    block(routine, size, |world, size| heap(routine, world, partition).malloc(size))
}

fn calloc(routine: &'static str, count: usize, size: usize, partition: c_int) -> *mut c_void {
    block(routine, count.saturating_mul(size), |world, size| heap(routine, world, partition).calloc(size, 1))
}

fn align(routine: &'static str, alignment: usize, size: usize, partition: c_int) -> *mut c_void {
    let alignment = alignment.checked_next_power_of_two().unwrap_or(usize::MAX);
    block(routine, size, |world, size| heap(routine, world, partition).align(alignment, size))
}

/// Returns the heap of a partition. Refuses a number that names no partition.
fn heap<'w>(routine: &str, world: &'w CWorld, partition: c_int) -> shmem::Heap<'w, shmem::thread::Multiple> {
    let id = u32::try_from(partition).unwrap_or(u32::MAX);
    world
        .partition(id)
        .unwrap_or_else(|error| refuse(routine, "partition", format_args!("is {partition}: {error}")))
}

/// Frees all symmetric allocations of the program.
///
/// # Safety
///
/// Every PE must call this between the same two collectives, and no PE may use the allocations afterwards.
pub(crate) unsafe fn free_all(world: &CWorld) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { shmem::c_interface::job::free_all(world) };
}

fn malloc_with_hints(routine: &'static str, size: usize, hints: c_long) -> *mut c_void {
    let mut all = MemoryHints::NONE;
    for hint in [MemoryHints::ATOMICS_REMOTE, MemoryHints::SIGNAL_REMOTE] {
        if hints as u64 & hint.bits() != 0 {
            all = all | hint;
        }
    }
    block(routine, size, |world, size| heap(routine, world, DEFAULT).malloc_with_hints(size, all))
}

fn realloc(routine: &'static str, ptr: *mut c_void, size: usize) -> *mut c_void {
    if ptr.is_null() {
        return malloc(routine, size, DEFAULT);
    }
    if size == 0 {
        free(routine, ptr);
        return std::ptr::null_mut();
    }
    let world = world::current(routine);
    let size = largest(world, size);
    let address = symmetric::address(ptr, 1, routine, "ptr");
    untyped::quiet(context::default_endpoint(routine));
    match world.realloc(address, size) {
        Ok(moved) => moved.as_ptr().cast(),
        Err(error) => failed(routine, &error),
    }
}

fn free(routine: &'static str, ptr: *mut c_void) {
    let world = world::current(routine);
    if ptr.is_null() {
        return;
    }
    let address = symmetric::address(ptr, 1, routine, "ptr");
    untyped::quiet(context::default_endpoint(routine));
    if let Err(error) = world.free(address) {
        refuse(routine, "ptr", format_args!("is {ptr:p}: {error}"));
    }
}
