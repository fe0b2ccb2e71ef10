use shmem::prelude::*;

#[symmetric]
static FIELD: [[f64; 64]; 32];

fn transfer(world: &World, pe: Pe, src: &[f64]) {
    strided!(world, FIELD@pe[0..3, 0, 0] = src[..]);
}

fn main() {}
