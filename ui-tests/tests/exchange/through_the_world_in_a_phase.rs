use shmem::prelude::*;

#[symmetric]
static CELLS: [f64; 100];

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let mut exchange = world.exchange::<[u32; 2]>(ExchangeOptions::default())?;
    let (_, east) = world.ring_neighbours();
    world.local_with_exchanges(&CELLS, |cells, _phase| {
        exchange.run(world, [(east, [1, 2])], |_from, [place, charge]| cells[place as usize] += f64::from(charge));
    });
    Ok(())
}
