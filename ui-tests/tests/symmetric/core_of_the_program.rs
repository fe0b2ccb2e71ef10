//! A program may call itself `core`: what stands inside `unsafe` is the library's and rustc's own.
#![forbid(unsafe_code)]

extern crate self as core;

pub use std::{clone, cmp, default, file, fmt, line, marker, module_path, ops};

pub mod option {
    #[allow(non_snake_case)]
    pub mod Option {
        pub use std::mem::transmute as Some;
    }
}

#[allow(dead_code)]
mod shmem {
    pub use ::shmem::symmetric;
    pub type Signal = [u64; 1 << 20];
}

// Out here the program's, and inside the block of the expansion the library's.
#[shmem::symmetric]
static WORDS: shmem::Signal = ::shmem::Signal::new(7);

fn main() {}
