use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

fn transfer(world: &World, pe: Pe, src: &[f64], n: usize) {
    strided!(world, GRID@pe[..2 * n] = src[..]);
}

fn main() {}
