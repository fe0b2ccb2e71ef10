use shmem::prelude::*;

#[symmetric]
static ROW: [f64; 4];

fn receive(world: &World, pe: Pe) {
    let mut row = [0.0; 4];
    world.scope(|s| {
        s.get(&mut row, ROW.on(pe));
        s.quiet();
        assert_eq!(row[0], 1.0);
    });
}

fn main() {}
