use shmem::prelude::*;

#[symmetric]
static A: [u64; 4];

#[shmem::main]
fn main(world: &mut World) {
    let mut into = vec![1.0; 3];
    world.get(&mut into, A.on(world.me()).index(..3));
}
