use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> shmem::Result<()> {
    let a = world.array([1000]).zeroed::<f64>()?;
    let view = world.local(&a, |a| a);
    drop(view);
    Ok(())
}
