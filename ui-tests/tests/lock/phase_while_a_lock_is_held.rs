use shmem::prelude::*;
use shmem::Lock;

#[symmetric]
static LOCK: Lock;
#[symmetric]
static GRID: [f64; 8];

fn relax(world: &mut World) {
    let guard = world.lock(&LOCK);
    world.local(&GRID, |grid| grid.fill(0.0));
    drop(guard);
}

fn main() {}
