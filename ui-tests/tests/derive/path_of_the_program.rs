//! Who says where the library is answers for what is there, in so many words.
#![forbid(unsafe_code)]

use shmem::prelude::*;

pub mod elsewhere {
    pub mod __private {
        pub use shmem::__private::*;

    }
}

#[derive(Clone, Copy, Symmetric)]
#[shmem(crate = crate::elsewhere)]
#[repr(C)]
struct Pair {
    first: u64,
    second: u64,
}

fn main() {}
