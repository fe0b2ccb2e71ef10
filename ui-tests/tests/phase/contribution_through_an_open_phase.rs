use shmem::prelude::*;
use shmem::{Contribution, HaloToken};

#[symmetric]
static GRID: [u64; 4];

#[shmem::main]
fn main(world: &mut World) {
    world.local_with_halos(&GRID, |_, phase| {
        Contribution::change(&GRID, phase.__endpoint(), |items: &mut [[u64; 4]]| items[0] = [7; 4]);
    });
}
