use shmem::prelude::*;
use shmem::thread::Private;

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let context = world.create_ctx::<Private>()?;
    let ctx = context.bind(world);
    world.local(&GRID, |grid| grid[0] = 1.0);
    ctx.p(GRID.on(ctx.endpoint().me()).index(0), 2.0);
    Ok(())
}
