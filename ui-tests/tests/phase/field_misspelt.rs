use shmem::prelude::*;

#[derive(Symmetric)]
#[repr(C)]
#[shmem(words)]
struct Queue {
    head: Atomic<u64>,
}

#[symmetric]
static QUEUE: Queue;

#[shmem::main]
fn main(world: &mut World) {
    world.inc(QUEUE.on(world.me()).field(|queue| &queue.haed));
}
