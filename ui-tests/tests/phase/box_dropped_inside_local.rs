use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let scratch = world.alloc([0.0; 8])?;
    world.local(&scratch, |contents| {
        drop(scratch);
        contents[0] = 1.0;
    });
    Ok(())
}
