use shmem::prelude::*;

#[symmetric]
static ROW: [f64; 4];

fn receive(world: &World, pe: Pe) {
    let mut row = [0.0; 4];
    world.scope(|s| {
        s.get(&mut row, ROW.on(pe));
        s.get(&mut row, ROW.on(pe));
    });
}

fn main() {}
