use shmem::prelude::*;

#[symmetric]
static ROW: [f64; 4];

fn receive(world: &World, pe: Pe) {
    let mut row = [0.0; 4];
    world.scope(|s| {
        strided!(s, row[..] = ROW@pe[..]);
        println!("{}", row[0]);
    });
}

fn main() {}
