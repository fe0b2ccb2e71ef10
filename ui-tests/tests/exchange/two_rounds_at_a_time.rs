use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let mut exchange = world.exchange::<u64>(ExchangeOptions::default())?;
    let mut first = exchange.begin(world);
    let mut second = exchange.begin(world);
    while first.advance(true) && second.advance(true) {}
    Ok(())
}
