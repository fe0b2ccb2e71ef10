use shmem::prelude::*;

#[symmetric]
static A: [u64; 4];

#[shmem::main]
fn main(world: &mut World) {
    world.put(A.on(1), &[1; 4]);
}
