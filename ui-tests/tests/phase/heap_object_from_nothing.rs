use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let names = world.alloc([String::new()])?;
    let number = world.alloc(3.0)?;
    Ok(())
}
