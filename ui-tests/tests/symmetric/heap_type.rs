use shmem::symmetric;

#[symmetric]
static NAMES: String;

#[symmetric]
static TABLE: [Vec<f64>; 4];

#[symmetric]
static READY: bool;

fn main() {}
