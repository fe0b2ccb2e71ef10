use shmem::prelude::*;

#[symmetric]
static ROW: [f64; 4];
#[symmetric]
static ARRIVED: u64;

fn send(world: &World, pe: Pe, row: &[f64; 4]) {
    world.put_signal(ROW.on(pe), row, ARRIVED.on(pe), SignalOp::Set(1));
}

fn main() {}
