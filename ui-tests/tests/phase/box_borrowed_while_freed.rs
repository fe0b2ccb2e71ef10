use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let halo = world.alloc([0.0; 8])?;
    let place = halo.on(world.me());
    drop(halo);
    world.put(place.index(0), &1.0);
    Ok(())
}
