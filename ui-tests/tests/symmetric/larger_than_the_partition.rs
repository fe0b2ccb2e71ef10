use shmem::{partitions, symmetric};

partitions! { small { id = 9, size = "1M" } }

#[symmetric(partition = "small")]
static GRID: [f64; 1 << 18];

fn main() {}
