use shmem::prelude::*;
use shmem::thread::{Multiple, Serialized};

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World<Multiple>) -> Result<()> {
    let (world, me) = (&*world, world.me());
    let context = world.create_ctx::<Serialized>()?;
    let (here, there) = (context.bind(world), context.bind(world));
    std::thread::scope(|scope| {
        scope.spawn(move || there.p(GRID.on(me).index(0), 2.0));
        here.p(GRID.on(me).index(1), 2.0);
    });
    Ok(())
}
