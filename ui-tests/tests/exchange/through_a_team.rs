use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let mut exchange = world.exchange::<u64>(ExchangeOptions::default())?;
    let (_, east) = world.ring_neighbours();
    exchange.run(world.team(), [(east, 1)], |_from, _number| ());
    Ok(())
}
