//! A field that is an address.
#![forbid(unsafe_code)]

use shmem::__private::Zeroable;

type Number = &'static u64;

#[derive(Clone, Copy, shmem::Symmetric)]
#[repr(C)]
struct Holder {
    number: Number,
}

fn main() {
    println!("{}", Holder::zeroed().number);
}
