use shmem::prelude::*;

#[symmetric]
static ROW: [f64; 4];

fn send(world: &World, pe: Pe) {
    world.scope(|s| Rma::p(s, ROW.on(pe).index(0), 1.0));
}

fn main() {}
