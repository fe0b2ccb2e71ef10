//! A parameter that is an address.
#![forbid(unsafe_code)]

use shmem::__private::Zeroable;

#[derive(Clone, Copy, shmem::Symmetric)]
#[repr(C)]
struct Pair<T: Copy + 'static> {
    first: T,
    second: [T; 2],
}

fn main() {
    println!("{}", Pair::<&'static u64>::zeroed().first);
}
