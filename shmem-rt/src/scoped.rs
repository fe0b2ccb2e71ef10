//! What `#[symmetric] let` does: an allocation on the world that the function was given.

use std::panic::Location;

use shmem_core::object::SymBox;
use shmem_core::partition::{Declaration, show_size};
use shmem_launch::say::say;

use crate::error::Result;
use crate::initial::Initial;
use crate::thread::ThreadLevel;
use crate::world::World;

/// A world of any thread level: what `#[symmetric] let` allocates through.
pub trait AnyWorld: sealed::Sealed {
    #[doc(hidden)]
    #[track_caller]
    fn __alloc_in<I: Initial>(
        &self,
        name: &'static str,
        partition: &Declaration,
        initial: I,
        pgsize: u64,
    ) -> Result<SymBox<I::Contents>>;
}

impl<L: ThreadLevel> AnyWorld for World<L> {
    #[track_caller]
    fn __alloc_in<I: Initial>(
        &self,
        name: &'static str,
        partition: &Declaration,
        initial: I,
        pgsize: u64,
    ) -> Result<SymBox<I::Contents>> {
        let heap = self.heap_of(partition)?;
        let granted = heap.page_bytes();
        if pgsize > granted && self.job().first_time_at(Location::caller(), "") {
            let (id, name, location) = (heap.id(), heap.name(), Location::caller());
            say(&format!(
                "shmem: warning: PE {}: {}:{} asks for pages of {}, but partition `{name}` has pages of {}; \
                 ask for them with SHMEM_SYMMETRIC_PARTITION{id}=SIZE=..:PGSIZE={}",
                self.me(),
                location.file(),
                location.line(),
                show_size(pgsize),
                show_size(granted),
                show_size(pgsize),
            ));
        }
        heap.alloc_as(name, initial)
    }
}

/// What `#[symmetric] let` becomes. The partition is a value, so that the expansion names its type
/// once, and a wrong one is one error.
///
/// # Errors
///
/// As [`World::alloc_in`].
#[track_caller]
pub fn alloc_in<I: Initial>(
    world: &impl AnyWorld,
    name: &'static str,
    partition: &Declaration,
    initial: I,
    pgsize: u64,
) -> Result<SymBox<I::Contents>> {
    world.__alloc_in(name, partition, initial, pgsize)
}

mod sealed {
    pub trait Sealed {}
    impl<L: crate::thread::ThreadLevel> Sealed for crate::World<L> {}
}
