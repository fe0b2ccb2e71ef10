use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

fn fetch(world: &World, row: &mut [f64]) {
    world.get(row, GRID.on(world.me()));
}

fn main() {}
