use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    drop(world.alloc([false; 4])?);
    Ok(())
}
