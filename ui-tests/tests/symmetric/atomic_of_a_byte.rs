use shmem::prelude::*;

#[symmetric]
static COUNT: Atomic<u8>;

#[shmem::main]
fn main(world: &mut World) {
    let _ = COUNT.on(world.me());
}
