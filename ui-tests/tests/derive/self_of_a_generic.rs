//! What `Self` says depends on the parameters.
#![forbid(unsafe_code)]

use shmem::Symmetric;

pub trait Pick {
    type Out: shmem::PlainData;
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Row<const N: usize> {
    first: <Self as Pick>::Out,
    others: [u64; N],
}

impl<const N: usize> Pick for Row<N> {
    type Out = u64;
}

// One type by one name.
#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Line<const N: usize> {
    first: <Self as Pick>::Out,
    others: [<Self as Pick>::Out; N],
}

impl<const N: usize> Pick for Line<N> {
    type Out = u64;
}

fn main() {}
