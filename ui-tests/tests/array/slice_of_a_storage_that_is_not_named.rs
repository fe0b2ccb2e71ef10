use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> shmem::Result<()> {
    let field = world.array([100, 80]).zeroed::<f64>()?;
    world.local(&field, |mut field| field.row_mut(3).fill(1.0));
    Ok(())
}
