use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let row = world.alloc([0.0; 4])?;
    GRID[0] = 1.0;
    let half: f64 = row[1] / 2.0;
    GRID.here(world).index(2).store(half);
    Ok(())
}
