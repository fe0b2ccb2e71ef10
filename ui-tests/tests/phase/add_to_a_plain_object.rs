use shmem::prelude::*;

#[symmetric]
static HITS: u64;

#[shmem::main]
fn main(world: &mut World) {
    world.add(HITS.on(world.me()), 1);
}
