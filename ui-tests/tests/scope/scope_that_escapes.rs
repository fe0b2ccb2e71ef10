use shmem::prelude::*;

#[symmetric]
static ROW: [f64; 4];

fn keep(world: &World, pe: Pe) {
    let row = [1.0; 4];
    let kept = world.scope(|s| s);
    kept.put(ROW.on(pe), &row);
}

fn main() {}
