use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let (west, east) = world.ring_neighbours();
    let mut halo = world.halo(&[Edge::new(west, 1, 1), Edge::new(east, 0, 1)])?;
    let mut flight = halo.begin(world);
    flight.send(0, &[1.0]);
    flight.send(1, &[2.0]);
    println!("{}", flight[0][0]);
    Ok(())
}
