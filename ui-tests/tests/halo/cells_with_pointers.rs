use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let halo = world.halo::<String>(&[Edge::BORDER])?;
    println!("{halo:?}");
    Ok(())
}
