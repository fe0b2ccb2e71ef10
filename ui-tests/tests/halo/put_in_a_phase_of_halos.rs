use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let me = world.me();
    world.local_with_halos(&GRID, |grid, phase| phase.put(GRID.on(me), grid));
    Ok(())
}
