use shmem::prelude::*;

#[derive(Symmetric)]
#[repr(C)]
#[shmem(words)]
struct Queue {
    head: Atomic<u64>,
    kind: u32,
}

fn main() {}
