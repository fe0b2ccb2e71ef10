use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) {
    let values = vec![1.0; 4];
    let _all = world.collect(&values);
}
