use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

fn transfer(world: &World, pe: Pe, row: &[f64]) {
    strided!(world, GRID[..]@pe = row[..]);
}

fn main() {}
