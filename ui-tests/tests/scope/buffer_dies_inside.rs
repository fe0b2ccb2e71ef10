use shmem::prelude::*;

#[symmetric]
static ROW: [f64; 4];

fn send(world: &World, pe: Pe) {
    world.scope(|s| {
        let row = [1.0; 4];
        s.put(ROW.on(pe), &row);
    });
}

fn main() {}
