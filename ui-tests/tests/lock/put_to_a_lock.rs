use shmem::prelude::*;
use shmem::Lock;

#[symmetric]
static LOCK: Lock;

fn open(world: &World, pe: Pe) {
    world.put(LOCK.on(pe), &Lock::new());
}

fn main() {}
