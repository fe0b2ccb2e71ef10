use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

fn transfer(world: &World, pes: &[Pe], row: &[f64]) {
    strided!(world, GRID@pes[0][..] = row[..]);
}

fn main() {}
