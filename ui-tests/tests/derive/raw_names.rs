//! A name is the same with `r#`.
#![forbid(unsafe_code)]

use shmem::Symmetric;

#[allow(dead_code)]
type T = u64;

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Pair<T> {
    first: r#T,
    second: u64,
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C, r#align(32))]
struct Row<T> {
    value: T,
}

fn main() {}
