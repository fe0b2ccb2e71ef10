use shmem::prelude::*;

#[symmetric]
static COUNTS: [u64; 100];

#[shmem::main]
fn main(world: &mut World) {
    world.add_each(COUNTS.over(world.team(), Cyclic).at(&[1_u32, 5]), 1);
}
