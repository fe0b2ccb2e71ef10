use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) {
    let mut kept: Option<&mut [f64; 4]> = None;
    world.local(&GRID, |grid| kept = Some(grid));
    world.barrier_all();
    kept.unwrap()[0] = 1.0;
}
