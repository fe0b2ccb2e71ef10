use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) {
    world.frozen(&GRID, |grid| grid[0] = 1.0);
}
