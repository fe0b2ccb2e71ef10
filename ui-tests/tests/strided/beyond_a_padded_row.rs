use shmem::prelude::*;

#[symmetric]
static FIELD: padded![f64; 64; 1024];

fn exchange(world: &World, west: Pe) {
    strided!(world, FIELD@west[1..=62, 1024] = FIELD[1..=62, 1]);
}

fn main() {}
