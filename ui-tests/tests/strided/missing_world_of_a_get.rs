use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

fn transfer(pe: Pe, row: &mut [f64]) {
    strided!(row[..] = GRID@pe[..]);
}

fn main() {}
