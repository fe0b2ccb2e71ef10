use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

fn transfer(world: &World, row: &[f64]) {
    strided!(world, GRID@world.me()[..] = row[..]);
}

fn main() {}
