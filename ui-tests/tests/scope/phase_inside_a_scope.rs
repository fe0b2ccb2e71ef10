use shmem::prelude::*;

#[symmetric]
static ROW: [f64; 4];

fn send(world: &mut World, pe: Pe) {
    let row = [1.0; 4];
    world.scope(|s| {
        s.put(ROW.on(pe), &row);
        world.local(&ROW, |row| row[0] = 2.0);
    });
}

fn main() {}
