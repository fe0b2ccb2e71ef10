use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

fn transfer(world: &World, pe: Pe) {
    strided!(world, GRID@pe[..] = GRID@pe[..]);
}

fn main() {}
