use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

fn transfer(world: &World, pe: Pe) {
    let into = [0.0; 1024];
    strided!(world, into[..] = GRID@pe[..]);
}

fn main() {}
