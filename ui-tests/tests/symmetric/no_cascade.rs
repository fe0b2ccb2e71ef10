//! The only error is ours: the static is there all the same, with its type and its attributes.

use shmem::symmetric;

mod grid {
    #[shmem::symmetric(colour = "red")]
    pub static mut GRID: [f64; 4];
}

#[symmetric(pgsize = 3M)]
static TABLE: shmem::Symmetric<[u64; 2]>;

fn main() {
    let _: &shmem::Symmetric<[f64; 4]> = &grid::GRID;
    let _: &shmem::Symmetric<[u64; 2]> = &TABLE;
}
