use shmem::symmetric;

#[symmetric(partion = "fast")]
static A: [f64; 4];

#[symmetric(colour = 3, pagesize = "2M")]
static B: [f64; 4];

fn main() {}
