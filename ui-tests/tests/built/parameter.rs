//! A region that a parameter makes too long is refused where code is made for that parameter.

use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 64];

fn transfer<const N: usize>(world: &World, src: &[f64; N]) {
    strided!(world, GRID@(world.me())[0..N] = src[..]); //~
}

#[shmem::main]
fn main(world: &mut World) {
    transfer(world, &[0.0; 64]);
    transfer(world, &[0.0; 65]);
}
