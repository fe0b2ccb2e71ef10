use shmem::prelude::*;

#[symmetric]
static ROW: [f64; 4];

fn send(world: &World, pe: Pe) {
    world.scope(|s| {
        let row = [1.0; 4];
        strided!(s, ROW@pe[..] = row[..]);
    });
}

fn main() {}
