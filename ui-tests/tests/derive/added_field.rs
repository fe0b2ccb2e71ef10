use shmem::Symmetric;

#[derive(Clone, Copy, Symmetric)]
#[changes::words(count: u64 => count: u64, ready: bool)]
#[repr(C)]
struct Flags {
    count: u64,
}

fn main() {}
