use shmem::prelude::*;
use shmem::thread::{Multiple, Private};

#[shmem::main]
fn main(world: &mut World<Multiple>) -> Result<()> {
    let domain = world.domains::<Private>(1)?.remove(0);
    let context = domain.create_ctx::<Multiple>()?;
    drop(context);
    Ok(())
}
