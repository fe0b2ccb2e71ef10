use shmem::Symmetric;

#[derive(Clone, Copy, Symmetric)]
#[changes::words((C) => (C, align(16)))]
#[repr(C)]
struct Count {
    count: u64,
}

fn main() {}
