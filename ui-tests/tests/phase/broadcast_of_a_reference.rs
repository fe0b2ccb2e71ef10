use shmem::prelude::*;

fn of_the_first(world: &World, values: &Vec<u64>) -> Result<()> {
    world.broadcast(values, world.pe(0)?);
    Ok(())
}

fn main() {}
