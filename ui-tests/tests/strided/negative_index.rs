use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

fn transfer(world: &World, pe: Pe, src: &[f64]) {
    strided!(world, GRID@pe[-1..8] = src[..]);
}

fn main() {}
