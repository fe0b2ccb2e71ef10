use shmem::symmetric;

#[symmetric(partition = "String", pgsize = "2M")]
static A: [f64; 4];

#[symmetric(partition = Vec)]
static B: [f64; 4];

fn main() {}
