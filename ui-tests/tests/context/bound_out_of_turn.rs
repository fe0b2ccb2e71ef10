use shmem::prelude::*;
use shmem::thread::{InTurn, Serialized};

#[shmem::main]
fn main(world: &mut World<Serialized>) -> Result<()> {
    let domain = world.domains::<Serialized>(1)?.remove(0);
    let context = domain.create_ctx::<InTurn>()?;
    context.bind(world).quiet();
    Ok(())
}
