//! With the library inside: what is linked to it has the library from here.

use shmem::prelude::*;

#[symmetric]
pub static HERE: u64 = 7;

/// Shows that statics of this file have their memory.
pub fn load(world: &World) -> u64 {
    HERE.here(world).load()
}
