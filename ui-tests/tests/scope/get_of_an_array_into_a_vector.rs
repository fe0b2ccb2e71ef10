use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

#[shmem::main]
fn main(world: &mut World) {
    let mut row = vec![1.0; 4];
    world.scope(|scope| scope.get(&mut row, GRID.on(world.me())));
}
