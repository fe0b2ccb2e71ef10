//! Padding, which is never initialised, in a struct that nothing moves.
#![forbid(unsafe_code)]

#[derive(shmem::Symmetric)]
#[repr(C)]
#[shmem(words)]
struct Padded {
    first: u8,
    second: u64,
}

fn symmetric<T: shmem::__private::SymmetricData>(_: T) {}

fn main() {
    symmetric(Padded { first: 1, second: 2 });
}
