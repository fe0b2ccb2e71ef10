//! The only error is ours: the type is there all the same.

use shmem::symmetric;

shmem::partitions! {
    pub bulk { size = 64Q, kind = FastMem, policy = Bind }
}

#[symmetric(partition = "bulk", pgsize = "2M")]
static GRID: [f64; 4];

fn main() {
    let _: &shmem::Symmetric<[f64; 4]> = &GRID;
}
