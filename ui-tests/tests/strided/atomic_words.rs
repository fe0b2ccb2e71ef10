use shmem::prelude::*;

#[symmetric]
static HITS: [Atomic<u64>; 8];

fn transfer(world: &World, pe: Pe) {
    strided!(world, HITS@pe[..] = HITS[..]);
}

fn main() {}
