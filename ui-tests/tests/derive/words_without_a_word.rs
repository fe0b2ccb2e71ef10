use shmem::prelude::*;

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Queue {
    head: u64,
    tail: Atomic<u64>,
}

fn main() {}
