//! A module may be called as a tool of rustc: what stands behind a generic struct's derive is a name of rustc's own.
use shmem::prelude::*;

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
#[rustfmt::skip]
struct Row<const N: usize> {
    first: u64,
    others: [u64; N],
}

fn main() {}
