use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) {
    // A hidden one could be entered again as one that addresses find.
    world.endpoint().segments().remove(128);
}
