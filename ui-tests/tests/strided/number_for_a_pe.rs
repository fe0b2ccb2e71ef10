use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

fn transfer(world: &World) {
    strided!(world, GRID@(0)[..] = GRID[..]);
}

fn main() {}
