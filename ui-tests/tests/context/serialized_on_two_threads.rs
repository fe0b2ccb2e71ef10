use shmem::prelude::*;
use shmem::thread::{Multiple, Serialized};

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World<Multiple>) -> Result<()> {
    let (world, me) = (&*world, world.me());
    let context = world.create_ctx::<Serialized>()?;
    std::thread::scope(|scope| {
        scope.spawn(|| context.bind(world).p(GRID.on(me).index(0), 2.0));
        context.bind(world).p(GRID.on(me).index(1), 2.0);
    });
    Ok(())
}
