//! An address, which safe code can read, in a struct that nothing moves.
#![forbid(unsafe_code)]

type Address = &'static u64;

#[derive(shmem::Symmetric)]
#[repr(C)]
#[shmem(words)]
struct Holder {
    address: Address,
}

fn symmetric<T: shmem::__private::SymmetricData>(_: T) {}

fn main() {
    symmetric(Holder { address: &0 });
}
