use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

fn transfer(world: &World, pe: Pe, src: &str) {
    strided!(world, GRID@pe[..] = src[..]);
}

fn main() {}
