use shmem::prelude::*;

#[symmetric]
static COUNTS: [Atomic<u64>; 100];

#[shmem::main]
fn main(world: &mut World) {
    world.add_each(COUNTS.on(world.me()).at(&[1, 5]), 1);
}
