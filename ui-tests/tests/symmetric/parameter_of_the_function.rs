use shmem::prelude::*;

fn sum<T: Copy>(world: &World, value: T) {
    #[symmetric]
    static CELLS: [T; 4];

    let _ = (world, value);
}

fn main() {}
