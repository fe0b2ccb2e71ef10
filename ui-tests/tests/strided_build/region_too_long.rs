use shmem::prelude::*;


#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let pe = world.me();
    let grid = world.alloc(shmem::value([0.0; 1024]))?;
    let src = [0.0; 64];
    strided!(world, grid@pe[8..1032; 16] = src[..]);
    Ok(())
}
