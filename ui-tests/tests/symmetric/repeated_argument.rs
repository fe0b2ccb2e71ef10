use shmem::symmetric;

#[symmetric(pgsize = "2M", pgsize = "4M")]
static A: [f64; 4];

fn main() {}
