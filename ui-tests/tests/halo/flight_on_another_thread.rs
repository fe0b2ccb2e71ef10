use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let mut halo = world.halo::<f64>(&[Edge::BORDER])?;
    let mut flight = halo.begin(world);
    std::thread::scope(|scope| {
        scope.spawn(|| flight.send(0, &[1.0]));
    });
    Ok(())
}
