use shmem::symmetric;

#[symmetric]
static GRID: [f64];

#[symmetric]
static TITLE: str;

fn main() {}
