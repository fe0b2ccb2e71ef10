use shmem::symmetric;

#[symmetric]
static GRID: Grid = 3;

fn main() {}
