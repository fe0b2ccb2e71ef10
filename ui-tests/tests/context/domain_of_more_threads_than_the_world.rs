use shmem::prelude::*;
use shmem::thread::Serialized;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let domains = world.domains::<Serialized>(2)?;
    drop(domains);
    Ok(())
}
