//! What is no plain data, with a library that checks nothing.
#![forbid(unsafe_code)]

use shmem::__private::{Pod, SymmetricData, Zeroable};

type Address = &'static u64;

#[derive(Clone, Copy, shmem::Symmetric)]
#[repr(C)]
struct Field {
    number: Address,
}

// Padding is never initialised.
#[derive(Clone, Copy, shmem::Symmetric)]
#[repr(C)]
struct Padded {
    first: u8,
    second: u64,
}

// These bytes keep their addresses, and safe code can read them.
#[derive(shmem::Symmetric)]
#[repr(C)]
#[shmem(words)]
struct FieldAmongWords {
    address: Address,
}

#[derive(shmem::Symmetric)]
#[repr(C)]
#[shmem(words)]
struct PaddedWords {
    first: u8,
    second: u64,
}

fn plain<T: Pod>(_: T) {}

fn symmetric<T: SymmetricData>(_: T) {}

fn main() {
    println!("{}", Field::zeroed().number);
    plain(Padded { first: 1, second: 2 });
    symmetric(FieldAmongWords { address: &0 });
    symmetric(PaddedWords { first: 1, second: 2 });
}
