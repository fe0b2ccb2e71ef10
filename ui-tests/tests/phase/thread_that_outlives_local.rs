use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) {
    world.local(&GRID, |grid| {
        std::thread::spawn(move || grid[0] = 1.0);
    });
}
