use shmem::symmetric;

mod parts {
    shmem::partitions! { slow { size = 1M } }
}

#[symmetric(partition = "parts::slow")]
static A: [f64; 4];

fn main() {}
