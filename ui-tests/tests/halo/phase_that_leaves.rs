use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let mut halo = world.halo::<f64>(&[Edge::BORDER])?;
    let mut kept = None;
    world.local_with_halos(&GRID, |_, phase| kept = Some(halo.begin(phase)));
    drop(kept);
    Ok(())
}
