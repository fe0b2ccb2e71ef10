use shmem::prelude::*;

#[symmetric]
static COUNTS: [u64; 4];

#[shmem::main]
fn main(world: &mut World) {
    let mut found = [0; 4];
    world.fetch_all(&mut found, COUNTS.on(world.me()));
}
