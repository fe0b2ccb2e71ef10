use shmem::prelude::*;

#[symmetric]
static ROW: [f64; 4];

fn send(world: &mut World, pe: Pe) {
    let pending = world.put_owned(ROW.on(pe).index(..), vec![1.0; 4]);
    world.local(&ROW, |row| row[0] = 2.0);
    pending.wait();
}

fn main() {}
