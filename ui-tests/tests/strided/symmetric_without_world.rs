use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

fn transfer(row: &mut [f64]) {
    strided!(row[..] = GRID[8..16]);
}

fn main() {}
