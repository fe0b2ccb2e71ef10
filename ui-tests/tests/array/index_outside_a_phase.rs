use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> shmem::Result<()> {
    let field = world.array([100, 80]).zeroed::<f64>()?;
    println!("{}", field[[3, 4]]);
    Ok(())
}
