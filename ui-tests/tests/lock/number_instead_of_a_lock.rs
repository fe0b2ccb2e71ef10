use shmem::prelude::*;

#[symmetric]
static LOCK: u64;

fn enter(world: &World) {
    drop(world.lock(&LOCK));
}

fn main() {}
