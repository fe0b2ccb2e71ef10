use shmem::prelude::*;

#[symmetric]
static HITS: Atomic<u64>;

#[shmem::main]
fn main(world: &mut World) {
    world.sum(&HITS);
}
