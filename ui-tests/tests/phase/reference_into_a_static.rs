use std::sync::Mutex;

use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];
static STOLEN: Mutex<Option<&'static mut [f64; 4]>> = Mutex::new(None);

#[shmem::main]
fn main(world: &mut World) {
    world.local(&GRID, |grid| *STOLEN.lock().unwrap() = Some(grid));
}
