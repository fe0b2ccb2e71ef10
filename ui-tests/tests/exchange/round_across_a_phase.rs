use shmem::prelude::*;

#[symmetric]
static CELLS: [f64; 100];

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let mut exchange = world.exchange::<u64>(ExchangeOptions::default())?;
    let mut round = exchange.begin(world);
    world.local(&CELLS, |cells| cells[0] = 1.0);
    while round.advance(true) {}
    Ok(())
}
