use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let number = world.alloc(3.0)?;
    Ok(())
}
