use shmem::prelude::*;
use shmem::thread::{NoStore, Private};

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let (_, east) = world.ring_neighbours();
    let context = world.create_ctx::<NoStore<Private>>()?;
    context.bind(world).put(GRID.on(east), &[1.0; 4]);
    Ok(())
}
