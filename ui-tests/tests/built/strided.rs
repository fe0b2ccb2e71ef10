//! What a constant cannot name, such as a heap object, is refused by the same functions as in `misuse/strided.rs`.

use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 64];

fn local(world: &World, pe: Pe) {
    let src = [0.0; 60];
    strided!(world, GRID@pe[0..64] = src[..]); //~
}

fn heap(world: &World, pe: Pe) -> Result<()> {
    let grid = world.alloc(shmem::value([0.0; 1024]))?;
    let src = [0.0; 64];
    strided!(world, grid@pe[8..1032; 16] = src[..]); //~
    Ok(())
}

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let pe = world.me();
    local(world, pe);
    heap(world, pe)
}
