use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let pe = world.me();
    let src = [0.0; 64];
    strided!(world, GRID@pe[0..65] = src[..]);
    Ok(())
}
