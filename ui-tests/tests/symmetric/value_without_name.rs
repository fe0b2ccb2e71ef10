use shmem::symmetric;

#[symmetric("fast")]
static A: [f64; 4];

#[symmetric(partition)]
static B: [f64; 4];

#[symmetric(partition = )]
static C: [f64; 4];

#[symmetric(partition = "fast" pgsize = "2M")]
static D: [f64; 4];

fn main() {}
