use shmem::prelude::*;

#[symmetric]
static ROW: [f64; 4];

fn receive(world: &World) {
    ROW.here(world).wait_until_any(eq(1.0));
}

fn main() {}
