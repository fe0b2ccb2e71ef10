use shmem::prelude::*;

#[symmetric]
static FIELD: [[f64; 64]; 32];

fn transfer(world: &World, pe: Pe, column: &[f64]) {
    strided!(world, FIELD@pe[.., 64] = column[..]);
}

fn main() {}
