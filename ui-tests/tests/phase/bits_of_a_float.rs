use shmem::prelude::*;

#[symmetric]
static SUM: Atomic<f64>;

#[shmem::main]
fn main(world: &mut World) {
    world.and(SUM.on(world.me()), 1.0);
}
