use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let halo = world.alloc([0.0; 8])?;
    world.free(halo)?;
    println!("{}", halo.len());
    Ok(())
}
