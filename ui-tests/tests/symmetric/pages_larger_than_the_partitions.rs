use shmem::{partitions, symmetric};

partitions! { huge { id = 9, size = "256M", pgsize = "2M" } }

#[symmetric(partition = "huge", pgsize = "64M")]
static A: [f64; 4];

#[symmetric(partition = huge, pgsize = 2M)]
static B: [f64; 4];

fn main() {}
