//! A program may call itself `core`: sizes, options and errors are asked of the library, or are rustc's own.
#![forbid(unsafe_code)]

extern crate self as core;

use ::shmem::prelude::*;

pub use std::{clone, cmp, default, file, fmt, line, marker, module_path, ops};

pub mod mem {
    pub const fn size_of<T>() -> usize {
        0
    }
    pub const fn align_of<T>() -> usize {
        1
    }
}

pub mod option {
    #[allow(non_snake_case)]
    pub mod Option {
        pub use std::mem::transmute as Some;
    }
}

#[macro_export]
macro_rules! compile_error {
    ($($message:tt)*) => {};
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Padded { //~
    small: u8,
    large: u64,
}

#[derive(Clone, Copy, Symmetric)]
enum Never { //~
    One = 1,
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Row {
    text: &'static str, //~
}

#[symmetric]
static mut COUNT: u64 = 1; //~

mod shmem {
    pub use ::shmem::symmetric;
    pub type Signal = [u64; 1 << 20];
}

// The name means the program's item here, and the library's inside the block of the expansion.
#[shmem::symmetric]
static WORDS: shmem::Signal = ::shmem::Signal::new(7); //~

fn main() {}
