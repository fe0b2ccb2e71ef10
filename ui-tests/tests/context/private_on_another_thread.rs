use shmem::prelude::*;
use shmem::thread::{Multiple, Private};

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World<Multiple>) -> Result<()> {
    let context = world.create_ctx::<Private>()?;
    let (ctx, me) = (context.bind(world), world.me());
    std::thread::scope(|scope| {
        scope.spawn(|| ctx.p(GRID.on(me).index(0), 2.0));
    });
    Ok(())
}
