use shmem::prelude::*;

#[symmetric]
static ROW: [f64; 4];

fn send(world: &World, pe: Pe) {
    let mut row = [1.0; 4];
    world.scope(|s| {
        s.put(ROW.on(pe), &row);
        row[0] = 2.0;
    });
}

fn main() {}
