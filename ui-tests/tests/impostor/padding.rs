//! Padding, which is never initialised.
#![forbid(unsafe_code)]

#[derive(Clone, Copy, shmem::Symmetric)]
#[repr(C)]
struct Padded {
    first: u8,
    second: u64,
}

fn plain<T: shmem::__private::Pod>(_: T) {}

fn main() {
    plain(Padded { first: 1, second: 2 });
}
