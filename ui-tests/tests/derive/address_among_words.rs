use shmem::prelude::*;

#[derive(Symmetric)]
#[repr(C)]
#[shmem(words)]
struct Queue {
    head: Atomic<u64>,
    items: Box<u64>,
}

fn main() {}
