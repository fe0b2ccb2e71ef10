//! Room of all PEs, for calls that are given such.

use shmem::thread::ThreadLevel;
use shmem::{SymBox, World, zeroed};

/// An object of each kind, with place for what calls give, or for less: then these give a slice.
pub(crate) struct Room {
    pub(crate) bytes: SymBox<[u8]>,
    pub(crate) words: SymBox<[u32]>,
    pub(crate) numbers: SymBox<[u64]>,
    pub(crate) pairs: SymBox<[u128]>,
    pub(crate) singles: SymBox<[f32]>,
    pub(crate) doubles: SymBox<[f64]>,
}

impl Room {
    /// Allocates them, on all PEs, with so many bytes each.
    pub(crate) fn new<L: ThreadLevel>(world: &World<L>, bytes: usize) -> Self {
        Self {
            bytes: world.alloc(zeroed(bytes)).unwrap(),
            words: world.alloc(zeroed(bytes / 4)).unwrap(),
            numbers: world.alloc(zeroed(bytes / 8)).unwrap(),
            pairs: world.alloc(zeroed(bytes / 16)).unwrap(),
            singles: world.alloc(zeroed(bytes / 4)).unwrap(),
            doubles: world.alloc(zeroed(bytes / 8)).unwrap(),
        }
    }
}
