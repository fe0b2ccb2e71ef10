use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) {
    world.local(&3.0, |_| ());
}
