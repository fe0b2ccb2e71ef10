use shmem::Symmetric;

#[derive(Clone, Copy, Symmetric)]
#[changes::words(ready: u8 => ready: bool)]
#[repr(C)]
struct Flags {
    count: u64,
    ready: u8,
    pad: [u8; 7],
}

fn main() {}
