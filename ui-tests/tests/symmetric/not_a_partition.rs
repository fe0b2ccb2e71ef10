use shmem::symmetric;

#[symmetric(partition = "String", pgsize = "2M")]
static A: [f64; 4];

struct Generic<T>(T);

#[symmetric(partition = Generic)]
static B: [f64; 4];

fn main() {}
