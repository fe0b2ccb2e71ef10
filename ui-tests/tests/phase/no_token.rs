use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 4];

fn main() {
    GRID.here(&()).load();
}
