use shmem::prelude::*;
use shmem::thread::{InTurn, Multiple, Serialized};

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World<Multiple>) -> Result<()> {
    let (world, me) = (&*world, world.me());
    let mut domain = world.domains::<Serialized>(1)?.remove(0);
    let (a, b) = (domain.create_ctx::<InTurn>()?, domain.create_ctx::<InTurn>()?);
    let (first, second) = (domain.turn(world), domain.turn(world));
    first.bind(&a).p(GRID.on(me).index(0), 1.0);
    second.bind(&b).p(GRID.on(me).index(1), 2.0);
    Ok(())
}
