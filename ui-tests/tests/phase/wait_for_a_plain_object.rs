use shmem::prelude::*;

#[symmetric]
static READY: u64;

#[shmem::main]
fn main(world: &mut World) {
    READY.wait_until(world, eq(1));
}
