use shmem::prelude::*;
use shmem::thread::{NoStore, Private};

#[symmetric]
static COUNT: Atomic<u64>;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let (_, east) = world.ring_neighbours();
    let context = world.create_ctx::<NoStore<Private>>()?;
    let ctx = context.bind(world);
    assert_eq!(ctx.fetch(COUNT.on(east)), 0);
    ctx.add(COUNT.on(east), 1);
    Ok(())
}
