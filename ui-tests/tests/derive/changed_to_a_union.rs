use shmem::Symmetric;

#[derive(Clone, Copy, Symmetric)]
#[changes::words(struct => union)]
#[repr(C)]
struct Count {
    count: u64,
}

fn main() {}
