use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) {
    let mut mine = vec![0.0; 4];
    world.put(&mut mine, &[1.0; 4]);
}
