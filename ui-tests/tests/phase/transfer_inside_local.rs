use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) {
    let me = world.me();
    world.local(&GRID, |grid| {
        strided!(world, GRID@me[..] = grid[..]);
    });
}
