use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let names = world.alloc([String::new()])?;
    Ok(())
}
