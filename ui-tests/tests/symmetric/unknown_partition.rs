use shmem::partition::fast;
use shmem::{partitions, symmetric};

partitions! { slower {} }

#[symmetric(partition = "fastt")]
static A: [f64; 4];

#[symmetric(partition = slowr, pgsize = "2M")]
static B: [f64; 4];

#[symmetric(partition = "fast")]
static C: [f64; 4];

fn main() {}
