use shmem::prelude::*;
use shmem::thread::Multiple;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let context = world.create_ctx::<Multiple>()?;
    drop(context);
    Ok(())
}
