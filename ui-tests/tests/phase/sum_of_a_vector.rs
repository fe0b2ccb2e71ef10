use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) {
    let mut values = vec![1.0; 4];
    world.sum(&mut values);
}
