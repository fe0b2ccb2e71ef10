use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let (west, east) = world.ring_neighbours();
    let mut halo = world.halo(&[Edge::new(west, 1, 1), Edge::new(east, 0, 1)])?;
    let mut first = halo.begin(world);
    let mut second = halo.begin(world);
    for flight in [&mut first, &mut second] {
        flight.send(0, &[1.0]);
        flight.send(1, &[2.0]);
    }
    println!("{}", first.finish()[0][0] + second.finish()[0][0]);
    Ok(())
}
