use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) {
    let rows = vec![vec![0.0; 4]; 3];
    world.local(&rows[1..], |_| ());
}
