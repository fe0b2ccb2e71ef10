use shmem::prelude::*;
use shmem::thread::{NoStore, Private};

#[symmetric]
static GRID: [[f64; 4]; 4];

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let (_, east) = world.ring_neighbours();
    let context = world.create_ctx::<NoStore<Private>>()?;
    let (ctx, mut column) = (context.bind(world), [0.0; 4]);
    strided!(&ctx, column[..] = GRID@east[.., 1]);
    strided!(&ctx, GRID@east[.., 1] = column[..]);
    Ok(())
}
