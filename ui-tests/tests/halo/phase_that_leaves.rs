use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let mut halo = world.halo::<f64>(&[Edge::BORDER])?;
    let ghosts = world.local_with_halos(&GRID, |_, phase| halo.begin(phase).finish());
    println!("{ghosts:?}");
    Ok(())
}
