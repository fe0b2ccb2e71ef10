use shmem::prelude::*;

#[symmetric]
static FIELD: [[f64; 64]; 32];

fn transfer(world: &World, pe: Pe, src: &[f64]) {
    for i in 0..32 {
        strided!(world, FIELD@pe[i, ..] = src[..]);
    }
}

fn main() {}
