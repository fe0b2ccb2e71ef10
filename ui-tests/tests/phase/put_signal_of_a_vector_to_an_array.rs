use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];
#[symmetric]
static ARRIVED: Signal;

#[shmem::main]
fn main(world: &mut World) {
    let (row, me) = (vec![1.0; 4], world.me());
    world.put_signal(GRID.on(me), &row, ARRIVED.on(me), SignalOp::Add(1));
}
