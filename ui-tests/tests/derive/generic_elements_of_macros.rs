//! A macro may give a type of another alignment each time it is called.
use shmem::Symmetric;

macro_rules! element {
    () => {
        u64
    };
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Row<const N: usize> {
    head: element!(),
    rest: [element!(); N],
}

fn main() {}
