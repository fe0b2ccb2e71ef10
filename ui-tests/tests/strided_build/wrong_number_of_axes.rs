use shmem::prelude::*;


#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let pe = world.me();
    let field = world.alloc([[0.0; 64]; 32])?;
    let src = [0.0; 3];
    strided!(world, field@pe[0..3, 0, 0] = src[..]);
    Ok(())
}
