use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

fn transfer(pe: Pe, src: &[f64]) {
    strided!(src, GRID@pe[..] = src[..]);
}

fn main() {}
