use shmem::prelude::*;

#[symmetric]
static COUNTS: [Atomic<u64>; 100];

#[shmem::main]
fn main(world: &mut World) {
    let mut found = Vec::new();
    world.gather(&mut found, COUNTS.on(world.me()).at(&[1_u32, 5]));
}
