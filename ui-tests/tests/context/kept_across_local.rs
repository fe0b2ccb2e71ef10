use shmem::prelude::*;
use shmem::thread::{InTurn, Serialized};

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World<Serialized>) -> Result<()> {
    let mut domain = world.domains::<Serialized>(1)?.remove(0);
    let context = domain.create_ctx::<InTurn>()?;
    let turn = domain.turn(world);
    world.local(&GRID, |grid| grid[0] = 1.0);
    turn.bind(&context).quiet();
    Ok(())
}
