//! What `#[symmetric] let` does: an allocation on the world that the function was given.

use std::panic::Location;

use shmem_core::object::SymBox;
use shmem_core::partition::{Declaration, show_size};
use shmem_launch::say::say;

use crate::caller::at;
use crate::error::Result;
use crate::initial::Initial;
use crate::thread::ThreadLevel;
use crate::world::World;

/// What `#[symmetric] let` becomes. The partition is a value, so that the expansion names its type
/// once, and a wrong one is one error.
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
    let (heap, location) = (world.heap_of(partition)?, Location::caller());
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
