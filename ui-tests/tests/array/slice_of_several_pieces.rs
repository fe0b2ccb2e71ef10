use shmem::array::Multi;
use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> shmem::Result<()> {
    let a = world.array([1000]).storage(Multi).zeroed::<f64>()?;
    world.local(&a, |mut a| a.as_mut_slice().fill(1.0));
    Ok(())
}
