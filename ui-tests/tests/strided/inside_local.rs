use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];
#[symmetric]
static FIELD: [[f64; 64]; 32];

fn transfer(world: &mut World, pe: Pe) {
    world.local(&FIELD, |field| strided!(world, GRID@pe[0..64] = (field[0])[..]));
}

fn main() {}
