use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) {
    let grid: &'static mut [f64; 4] = world.local(&GRID, |grid| grid);
    grid[0] = 1.0;
}
