use shmem::prelude::*;

#[symmetric]
static A: [u64; 4];

#[symmetric]
static B: [u64; 4];

#[shmem::main]
fn main(world: &mut World) {
    world.local(&A, |a| world.local(&B, |b| b[0] = a[0]));
}
