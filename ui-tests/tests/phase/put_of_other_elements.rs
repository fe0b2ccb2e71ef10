use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) {
    world.put(GRID.on(world.me()), &[0.0f32; 4]);
}
