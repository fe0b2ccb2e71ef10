use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];
#[symmetric]
static FIELD: [[f64; 64]; 32];

fn transfer(world: &World, pe: Pe) {
    strided!(world, GRID@pe[0..65] = FIELD[0, ..]);
}

fn main() {}
