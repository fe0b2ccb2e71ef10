use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

fn transfer(world: &World, pe: Pe, into: &[f64]) {
    strided!(world, into[..] = GRID@pe[..]);
}

fn main() {}
