use shmem::symmetric;

mod fast {}

#[symmetric(partition = "fast")]
static A: [f64; 4];

fn main() {}
