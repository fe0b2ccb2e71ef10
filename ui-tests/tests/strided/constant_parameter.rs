use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

fn transfer<const N: usize>(world: &World, pe: Pe, src: &[f64; N]) {
    strided!(world, GRID@pe[0..N] = src[..]);
}

fn main() {}
