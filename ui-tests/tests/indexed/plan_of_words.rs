use shmem::prelude::*;

#[symmetric]
static COUNTS: [Atomic<u64>; 100];

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    world.plan(COUNTS.over(world.team(), Block).at(&[1_u32, 5]))?;
    Ok(())
}
