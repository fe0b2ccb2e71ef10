//! A field that is refused by its looks, and nobody hears of it.
#![forbid(unsafe_code)]

use shmem::__private::Zeroable;

#[derive(Clone, Copy, shmem::Symmetric)]
#[repr(C)]
struct Holder {
    number: &'static u64,
}

fn main() {
    println!("{}", Holder::zeroed().number);
}
