use shmem::prelude::*;
use shmem::thread::{InTurn, Serialized};

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World<Serialized>) -> Result<()> {
    let me = world.me();
    let mut domain = world.domains::<Serialized>(1)?.remove(0);
    let context = domain.create_ctx::<InTurn>()?;
    let turn = domain.turn(world);
    std::thread::scope(|scope| {
        scope.spawn(move || turn.bind(&context).p(GRID.on(me).index(0), 1.0));
        world.p(GRID.on(me).index(1), 2.0);
    });
    Ok(())
}
