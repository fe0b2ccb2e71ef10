use shmem::prelude::*;

#[symmetric]
static SUMS: [Atomic<f64>; 100];

#[shmem::main]
fn main(world: &mut World) {
    world.xor_each(SUMS.on(world.me()).at(&[1_u32, 5]), 1.0);
}
