use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    world.exchange::<&str>(ExchangeOptions::default())?;
    Ok(())
}
