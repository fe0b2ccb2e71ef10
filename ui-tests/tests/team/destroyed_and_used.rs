use shmem::Team;
use shmem::prelude::*;

fn leave(world: &World, team: Team) -> Result<()> {
    team.destroy(world)?;
    team.barrier(world);
    Ok(())
}

fn main() {}
