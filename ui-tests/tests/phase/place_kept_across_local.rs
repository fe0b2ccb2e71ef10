use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) {
    let mine = GRID.here(world);
    world.local(&GRID, |grid| grid[0] = 1.0);
    mine.index(0).store(2.0);
}
