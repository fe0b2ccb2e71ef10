use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) {
    world.put_owned(GRID.on(world.me()), vec![1.0; 4]).wait();
}
