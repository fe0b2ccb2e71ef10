use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> shmem::Result<()> {
    let a = world.array([10, 20]).zeroed::<f64>()?;
    world.p(a.on(world.me()).index([3]), 1.0);
    Ok(())
}
