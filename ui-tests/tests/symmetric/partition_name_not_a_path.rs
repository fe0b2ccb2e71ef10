use shmem::symmetric;

#[symmetric(partition = "fast tier")]
static A: [f64; 4];

#[symmetric(partition = "")]
static B: [f64; 4];

#[symmetric(partition = 2)]
static C: [f64; 4];

fn main() {}
