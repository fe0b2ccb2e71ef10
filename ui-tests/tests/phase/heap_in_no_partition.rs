use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let _ = world.alloc_in::<String, _>([0.0; 4])?;
    Ok(())
}
