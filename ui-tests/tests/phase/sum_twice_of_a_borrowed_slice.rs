use shmem::prelude::*;

fn twice(world: &World, values: &mut [f64]) {
    world.sum(values);
    world.sum(values);
}

fn main() {}
