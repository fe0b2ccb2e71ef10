//! A program may call itself `shmem`: traits and checks are those of the library.
#![forbid(unsafe_code)]

extern crate self as shmem;
extern crate shmem as real;

pub mod __private {
    pub use real::__private::*;

    pub trait PlainData {}
    impl<T> PlainData for T {}

    pub const fn require_no_padding(_: &str, _: usize, _: &[usize]) {}
}

type Text = &'static str;

#[derive(Clone, Copy, real::Symmetric)]
#[repr(C)]
struct Holder {
    text: Text, //~
}

fn main() {}
