//! Who says where the library is answers for what is there: that is unsafe code.
#![forbid(unsafe_code)]

use shmem::prelude::*;

#[derive(Clone, Copy, Symmetric)]
#[shmem(unsafe(crate = ::shmem))]
#[repr(C)]
struct Pair {
    first: u64,
    second: u64,
}

#[symmetric(unsafe(partition = "fast"))]
static A: u64;

fn main() {}
