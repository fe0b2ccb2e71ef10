use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) {
    let mine = 1.5;
    let _sum = world.sum(&mine);
}
