use shmem::prelude::*;

#[symmetric]
static CUBE: [[[f64; 4]; 16]; 16];
#[symmetric]
static ROW: [f64; 31];

fn transfer(world: &World, pe: Pe) {
    strided!(world, ROW[..] = CUBE@pe[1..9, 3, 0..4]);
}

fn main() {}
