use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let (west, east) = world.ring_neighbours();
    let mut halo = world.halo(&[Edge::new(west, 1, 1), Edge::new(east, 0, 1)])?;
    let mut flight = halo.begin(world);
    world.local(&GRID, |grid| {
        flight.send(0, &grid[..1]);
        flight.send(1, &grid[3..]);
    });
    Ok(())
}
