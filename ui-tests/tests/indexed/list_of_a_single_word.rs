use shmem::prelude::*;

#[symmetric]
static COUNT: Atomic<u64>;

#[shmem::main]
fn main(world: &mut World) {
    world.add_each(COUNT.on(world.me()).at(&[0_u32]), 1);
}
