use shmem::prelude::*;

#[derive(Symmetric)]
#[repr(C)]
struct Queue {
    head: u64,
    tail: Atomic<u64>,
}

fn main() {}
