use shmem::Symmetric;

// A `bool` where the struct is, and a `u8` wherever else it is asked for.
#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Flags {
    ready: changes::each_time!((u8) (bool)),
}

fn main() {}
