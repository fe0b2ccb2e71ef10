use shmem::prelude::*;
use shmem::thread::{NoStore, Private};

#[symmetric]
static TABLE: [f64; 100];

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let (_, east) = world.ring_neighbours();
    let context = world.create_ctx::<NoStore<Private>>()?;
    context.bind(world).scatter(TABLE.on(east).at(&[1_u32, 5]), &[1.0, 2.0]);
    Ok(())
}
