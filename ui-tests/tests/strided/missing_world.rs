use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

fn transfer(pe: Pe, row: &[f64]) {
    strided!(GRID@pe[..] = row[..]);
}

fn main() {}
