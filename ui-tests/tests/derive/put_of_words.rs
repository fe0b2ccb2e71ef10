use shmem::prelude::*;

#[derive(Symmetric)]
#[repr(C)]
#[shmem(words)]
struct Queue {
    head: Atomic<u64>,
    tail: u64,
}

#[symmetric]
static QUEUE: Queue;

#[shmem::main]
fn main(world: &mut World) {
    world.put(QUEUE.on(world.me()), &Queue { head: Atomic::new(0), tail: 0 });
}
