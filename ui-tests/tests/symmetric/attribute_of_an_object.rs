//! What stands below the attribute gets the handle: a copy of it would have no object.
use shmem::prelude::*;

#[symmetric]
#[changes::words(A => B)]
static A: u64 = 5;

#[symmetric]
#[cfg_attr(all(), allow(dead_code), changes::words(C => D))]
static C: u64 = 5;

mod renamed {
    #[allow(unused_imports)]
    use changes::words as shmem;

    #[::shmem::symmetric]
    #[shmem(E => F)]
    static E: u64 = 5;
}

fn main() {}
