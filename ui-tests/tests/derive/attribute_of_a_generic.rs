use shmem::Symmetric;

// Neither the derive nor anything behind it could tell that there is padding then.
#[derive(Clone, Copy, Symmetric)]
#[changes::words((C) => (C, align(16)))]
#[repr(C)]
struct Row<T, const N: usize> {
    head: T,
    rest: [T; N],
}

fn main() {}
