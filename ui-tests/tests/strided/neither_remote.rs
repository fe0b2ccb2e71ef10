use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

fn transfer(world: &World, src: &[f64]) {
    strided!(world, GRID[..] = src[..]);
}

fn main() {}
