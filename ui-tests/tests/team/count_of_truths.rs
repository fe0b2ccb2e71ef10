use shmem::prelude::*;

fn count(world: &World, mine: bool) -> bool {
    world.sum(mine)
}

fn main() {}
