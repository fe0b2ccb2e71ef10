use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> shmem::Result<()> {
    let a = world.array([10]).zeroed::<String>()?;
    drop(a);
    Ok(())
}
